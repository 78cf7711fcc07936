"""The API of phrasings."""

from __future__ import annotations

from typing import cast

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.models import User
from hearth.accounts.permissions import IsLead
from hearth.accounts.roles import is_lead, is_researcher
from hearth.jobs.api import JobSerializer
from hearth.jobs.deleting import delete
from hearth.requests.files import receives_files
from hearth.shared.addresses import addresses
from hearth.shared.option_fields import serializer_of
from hearth.shared.options import as_params
from pooling.api.base import OfBenchmark
from pooling.api.metadata import MetadataView
from pooling.phrasings.models import PhrasingSet
from pooling.phrasings.selectors import phrasing_sets_of
from pooling.phrasings.services.expanding import ExpandOptions
from pooling.phrasings.services.fusing import FuseOptions
from pooling.phrasings.services.phrased_runs import PhrasedListsUpload
from pooling.phrasings.services.phrasings import PhrasingsUpload
from pooling.phrasings.services.vectors import TextVectorsUpload


class PhrasingSetSerializer(serializers.ModelSerializer[PhrasingSet]):
    class Meta:
        model = PhrasingSet
        fields = ["id", "name", "sha256", "n_phrasings", "created_at"]
        extra_kwargs = {
            "name": {"help_text": "The name of the file or of the expansion."},
            "sha256": {"help_text": "The SHA-256 of the content."},
            "n_phrasings": {"help_text": "The number of phrasings, without the captions."},
        }


PhrasingsUploadSerializer = serializer_of(PhrasingsUpload, "PhrasingsUpload")


@receives_files(is_lead)
class Phrasings(MetadataView, generics.ListAPIView[PhrasingSet]):
    """List the sets of phrasings of a benchmark, the oldest first."""

    serializer_class = PhrasingSetSerializer

    def get_queryset(self) -> QuerySet[PhrasingSet]:
        return phrasing_sets_of(self.benchmark)

    @extend_schema(request=PhrasingsUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload further texts of the captions.

        Only leads and admins may do this. A job checks the whole file and stores its phrasings as
        a set. If the file has an error, the job fails with the line and the reason, and nothing is
        stored. The same content is stored once.

        The `result` of the job has `phrasings`, `captions`, `sha256`, `created` (false if the
        content was already stored) and `notes`.
        """
        return self.enqueue_upload(
            request, PhrasingsUploadSerializer, "import_phrasings", "Phrasings"
        )


class PhrasingSetDetail(OfBenchmark):
    permission_classes = [IsLead]

    @extend_schema(responses={204: None})
    def delete(self, request: Request, key: str, pk: int) -> Response:
        """Delete a set of phrasings.

        Only leads and admins may do this. Phrasings for which a run has lists stay.
        """
        added = get_object_or_404(phrasing_sets_of(self.benchmark), pk=pk)
        delete(added, by=cast(User, request.user))
        return Response(status=status.HTTP_204_NO_CONTENT)


ExpandSerializer = serializer_of(ExpandOptions, "Expand")
FuseSerializer = serializer_of(FuseOptions, "Fuse")
PhrasedListsSerializer = serializer_of(PhrasedListsUpload, "PhrasedLists")
TextVectorsSerializer = serializer_of(TextVectorsUpload, "TextVectors")


class ExpandedPhrasings(OfBenchmark):
    permission_classes = [IsLead]

    @extend_schema(request=ExpandSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Make further texts of the captions.

        Only leads and admins may do this. A job stores the texts as phrasings. Its `result` is that
        of an import of phrasings.
        """
        return self.enqueue(
            request, "expand", "Expand captions", as_params(ExpandSerializer.read(request.data))
        )


class FusedRuns(OfBenchmark):
    @extend_schema(request=FuseSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Fuse several runs, or the phrasings of one run.

        A job fuses the lists and stores the new run with its provenance. The same fusion is stored
        once. The `result` of the job has `run` (the name), `queries`, `depth`, `sha256`, `created`
        and `warnings`.
        """
        return self.enqueue(
            request, "fuse_runs", "Fuse runs", as_params(FuseSerializer.read(request.data))
        )


@receives_files(is_researcher)
class PhrasedRuns(OfBenchmark):
    @extend_schema(request=PhrasedListsSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload the lists that a stored run has for one phrasing of the captions.

        A job checks the file and stores its lists. The `result` of the job has `run`, `phrasing`,
        `lists` and `sha256`.
        """
        return self.enqueue_upload(
            request, PhrasedListsSerializer, "import_phrased_lists", "Lists of a phrasing"
        )


@receives_files(is_lead)
class PhrasingEmbeddings(OfBenchmark):
    permission_classes = [IsLead]

    @extend_schema(request=TextVectorsSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload embeddings of the captions and of their phrasings.

        Only leads and admins may do this. Phrasings can then be selected by them. The `result` of
        the job has `rows`, `numbers` (of each row) and `sha256`.
        """
        return self.enqueue_upload(
            request, TextVectorsSerializer, "import_text_vectors", "Embeddings of phrasings"
        )


urlpatterns = addresses(
    "benchmarks/<str:key>/",
    [
        ("phrasings/", Phrasings, "api-phrasings"),
        ("phrasings/expanded/", ExpandedPhrasings, "api-expanded-phrasings"),
        ("phrasings/embeddings/", PhrasingEmbeddings, "api-phrasing-embeddings"),
        ("runs/fused/", FusedRuns, "api-fused-runs"),
        ("runs/phrasings/", PhrasedRuns, "api-phrased-runs"),
        ("phrasings/<int:pk>/", PhrasingSetDetail, "api-phrasing-set"),
    ],
)
