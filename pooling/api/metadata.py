"""The API of train splits and tags."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.permissions import IsLead, IsResearcher
from hearth.accounts.roles import is_lead
from hearth.jobs.api import JobSerializer
from hearth.requests.files import receives_files
from hearth.shared.option_fields import serializer_of
from pooling.api.base import OfBenchmark
from pooling.models import Tag, TrainSplit
from pooling.selectors.metadata import tags_of, train_splits_of
from pooling.services.metadata import TagsUpload, TrainCaptionsUpload


class TrainSplitSerializer(serializers.ModelSerializer[TrainSplit]):
    class Meta:
        model = TrainSplit
        fields = ["name", "sha256", "n_captions", "created_at"]
        extra_kwargs = {
            "name": {"help_text": "The name, unique in the benchmark."},
            "sha256": {"help_text": "The SHA-256 of the content of the file."},
            "n_captions": {"help_text": "The number of captions, with repetitions."},
        }


TrainCaptionsUploadSerializer = serializer_of(TrainCaptionsUpload, "TrainCaptionsUpload")


class TagSerializer(serializers.ModelSerializer[Tag]):
    class Meta:
        model = Tag
        fields = ["name", "sha256", "n_queries", "created_at"]
        extra_kwargs = {
            "sha256": {"help_text": "The SHA-256 of the numbers of the captions with the tag."},
            "n_queries": {"help_text": "The number of captions with the tag."},
        }


TagsUploadSerializer = serializer_of(TagsUpload, "TagsUpload")


# The base of views that researchers read and leads write.
class MetadataView(OfBenchmark):
    def get_permissions(self) -> list[BasePermission]:
        return [IsLead()] if self.request.method == "POST" else [IsResearcher()]


@receives_files(is_lead)
class TrainSplits(MetadataView, generics.ListAPIView[TrainSplit]):
    """List the train splits of a benchmark, by name."""

    serializer_class = TrainSplitSerializer

    def get_queryset(self) -> QuerySet[TrainSplit]:
        return train_splits_of(self.benchmark)

    @extend_schema(request=TrainCaptionsUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload the captions that systems were trained on.

        Only leads and admins may do this. A job checks the whole file and stores its captions as a
        train split. If the file has an error, the job fails with the line and the reason, and
        nothing is stored. The same content is stored once. If the name is in use for other content,
        the split is called `NAME@2`.

        The `result` of the job has `split` (the name), `captions`, `sha256`, `created` (false if
        the content was already stored) and `notes`.
        """
        return self.enqueue_upload(
            request, TrainCaptionsUploadSerializer, "import_train_captions", "Train captions"
        )


@receives_files(is_lead)
class Tags(MetadataView, generics.ListAPIView[Tag]):
    """List the tags of a benchmark, the most frequent first."""

    serializer_class = TagSerializer

    def get_queryset(self) -> QuerySet[Tag]:
        return tags_of(self.benchmark)

    @extend_schema(request=TagsUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload tags of captions or videos.

        Only leads and admins may do this. A job checks the whole file and then stores its tags. A
        tag replaces the stored tag of the same name. The tag of a video applies to all captions
        that have the video as an original positive. If the file has an error, the job fails with
        the line and the reason, and nothing is stored.

        The `result` of the job has `tags` (the number of tags in the file), `captions` (the number
        of captions with at least one of them) and `notes`.
        """
        return self.enqueue_upload(request, TagsUploadSerializer, "import_tags", "Tags")
