"""The API of paragraphs."""

from __future__ import annotations

from typing import Any, cast

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.models import User
from hearth.accounts.roles import is_researcher
from hearth.jobs.api import JobSerializer
from hearth.requests.files import receives_files
from hearth.shared.addresses import addresses
from hearth.shared.errors import NotFound
from hearth.shared.option_fields import serializer_of
from hearth.shared.options import as_params
from hearth.shared.uploads import stored_uploads
from pooling.api.base import OfBenchmark
from pooling.api.changing import DELETED, delete
from pooling.paragraphs.actions import AddParagraphs, FocusRun, ImportClips, ImportSimilarities
from pooling.paragraphs.models import ClipSet
from pooling.policies import check_can_import_benchmark, check_can_import_run

AddParagraphsSerializer = serializer_of(AddParagraphs, "AddParagraphs")
SimilaritiesSerializer = serializer_of(ImportSimilarities, "SimilaritiesUpload")
ClipsSerializer = serializer_of(ImportClips, "ClipsUpload")
FocusRunSerializer = serializer_of(FocusRun, "FocusRun")


class ClipSetSerializer(serializers.ModelSerializer[ClipSet]):
    class Meta:
        model = ClipSet
        fields = ["id", "name", "by_person", "n_clips", "n_videos", "sha256", "created_at"]


@receives_files(is_researcher)
class ParagraphsOf(OfBenchmark):
    @extend_schema(request=AddParagraphsSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Add a benchmark whose captions are paragraphs of the captions of this benchmark.

        The `result` of the job has `benchmark` (the key), `paragraphs`, `sentences`, `videos`,
        `original_positives`, `created` and `videos_with_files`.
        """
        wanted, files = AddParagraphsSerializer.read_with_files(request.data)
        check_can_import_benchmark(cast(User, request.user), wanted.paragraphs)
        with stored_uploads(files) as stored:
            params = {**as_params(wanted), **stored}
            return self.enqueue(request, "add_paragraphs", "Paragraphs", params)


@receives_files(is_researcher)
class SimilaritiesOfRun(OfBenchmark):
    @extend_schema(request=SimilaritiesSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload the similarities of sentences and clips, by the system of a run.

        The `result` of the job has `run`, `pairs`, `sha256` and `created`.
        """
        check_can_import_run(request.user, self.benchmark)
        return self.enqueue_upload(
            request, SimilaritiesSerializer, "import_similarities", "Similarities"
        )


@receives_files(is_researcher)
class ClipSets(OfBenchmark, generics.ListAPIView[Any]):
    """List the proposals of clips and the stamps of further people."""

    serializer_class = ClipSetSerializer

    def get_queryset(self) -> QuerySet[ClipSet]:
        return self.benchmark.clip_sets.order_by("name")

    @extend_schema(request=ClipsSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload proposals of clips, or the stamps of a further person.

        The `result` of the job has `name`, `by_person`, `clips`, `videos`, `unknown_videos`,
        `sha256` and `created`.
        """
        check_can_import_run(request.user, self.benchmark)
        return self.enqueue_upload(request, ClipsSerializer, "import_clips", "Clips")


class ClipSetDetail(OfBenchmark):
    @extend_schema(request=None, responses=DELETED)
    def delete(self, request: Request, key: str, pk: int) -> Response:
        """Delete proposals of clips, or the stamps of a further person.

        Researchers of the benchmark, leads and admins may do this.
        """
        found = ClipSet.objects.select_related("benchmark").filter(benchmark=self.benchmark, pk=pk)
        if not (clips := found.first()):
            raise NotFound("There are no such clips.")
        check_can_import_run(request.user, clips.benchmark)
        return delete(request, clips)


@receives_files(is_researcher)
class RunFocus(OfBenchmark):
    @extend_schema(request=FocusRunSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Re-rank the first videos of a run by the matching of sentences and clips.

        The result is a new run. The `result` of the job has the fields of an imported run.
        """
        check_can_import_run(request.user, self.benchmark)
        wanted, files = FocusRunSerializer.read_with_files(request.data)
        with stored_uploads(files) as stored:
            params = {**as_params(wanted), **stored}
            return self.enqueue(request, "focus_run", f"Focus {wanted.run}", params)


urlpatterns = addresses(
    "benchmarks/<str:key>/",
    [
        ("paragraphs/", ParagraphsOf, "api-paragraphs"),
        ("paragraphs/clips/", ClipSets, "api-clips"),
        ("paragraphs/clips/<int:pk>/", ClipSetDetail, "api-clip-set"),
        ("runs/similarities/", SimilaritiesOfRun, "api-similarities"),
        ("runs/focus/", RunFocus, "api-focus"),
    ],
)
