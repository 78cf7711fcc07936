"""The API of the files that are on their way to videos."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request

from hearth.accounts.permissions import IsLead
from hearth.accounts.roles import is_lead
from hearth.requests.files import receives_files
from pooling.api.base import OfBenchmark
from pooling.models import VideoUpload
from pooling.selectors.uploads import shown_uploads
from pooling.services.uploads import PART_BYTES_MAX
from pooling.views import tus


class VideoUploadSerializer(serializers.ModelSerializer[VideoUpload]):
    video_id = serializers.CharField(
        source="video.key", default=None, help_text="The id of the video; null for an archive."
    )

    class Meta:
        model = VideoUpload
        fields = ["id", "name", "video_id", "size", "offset", "state", "percent", "reason"]
        extra_kwargs = {
            "id": {"help_text": "The id of the file, for its tus address."},
            "name": {"help_text": "The name of the file, as it was sent."},
            "size": {"help_text": "The bytes of the whole file."},
            "offset": {"help_text": "The bytes that have arrived."},
            "percent": {
                "help_text": "The progress of the preparation in %, while the file is processed."
            },
            "reason": {
                "help_text": "Why the file was refused, or what an unpacked archive contains; "
                "otherwise empty."
            },
        }


class VideoUploads(OfBenchmark, generics.ListAPIView[VideoUpload]):
    """List the files that were added to the videos of a benchmark, for leads.

    Refused files come first. Then come files that are being processed, files that are being
    uploaded, and waiting files, in this order. A POST to this address begins an upload by the
    protocol tus 1.0 (https://tus.io/protocols/resumable-upload).
    """

    permission_classes = [IsLead]
    serializer_class = VideoUploadSerializer
    accepts_idempotency_key = False  # the same file continues the same upload

    def get_queryset(self) -> QuerySet[VideoUpload]:
        return shown_uploads(self.benchmark)

    @extend_schema(exclude=True)  # tus uses headers, which the schema cannot describe
    def post(self, request: Request, key: str) -> HttpResponseBase:
        sent, benchmark = request._request, self.benchmark
        return tus.answer(sent, benchmark, lambda: tus.begin(sent, benchmark, "api-video-upload"))

    @extend_schema(exclude=True)
    def options(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]
        return tus.answer(request._request, self.benchmark, HttpResponse)


@extend_schema(exclude=True)
@receives_files(is_lead, bytes_max=PART_BYTES_MAX, content_type=tus.PART)
class VideoUploadParts(OfBenchmark):
    """One upload by the tus protocol: its offset, its parts, and its removal."""

    permission_classes = [IsLead]

    def head(self, request: Request, key: str, pk: uuid.UUID) -> HttpResponseBase:
        return self._answer(request, pk)

    def patch(self, request: Request, key: str, pk: uuid.UUID) -> HttpResponseBase:
        return self._answer(request, pk)

    def delete(self, request: Request, key: str, pk: uuid.UUID) -> HttpResponseBase:
        return self._answer(request, pk)

    def options(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]
        return tus.answer(request._request, self.benchmark, HttpResponse)

    def _answer(self, request: Request, pk: uuid.UUID) -> HttpResponseBase:
        sent, benchmark = request._request, self.benchmark
        return tus.answer(sent, benchmark, lambda: tus.continue_upload(sent, benchmark, pk))
