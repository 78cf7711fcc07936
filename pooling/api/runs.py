"""The API of runs."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.roles import is_researcher
from hearth.jobs.api import JobSerializer
from hearth.requests.files import receives_files
from hearth.shared.option_fields import serializer_of
from hearth.shared.paging import NewestFirst
from pooling.api.base import OfBenchmark
from pooling.core.readers.runs import RUNS
from pooling.core.run_options import ImportRun
from pooling.models import Run
from pooling.services.changing_runs import RUN_FIELDS

METADATA = RUN_FIELDS[1:]


class RunSerializer(serializers.ModelSerializer[Run]):
    system = serializers.CharField(
        source="system.key", help_text="The key of the retrieval model that produced the run."
    )

    has_matrix = serializers.BooleanField(
        read_only=True, help_text="Whether the whole similarity matrix is kept."
    )

    class Meta:
        model = Run
        fields = [
            "id",
            "name",
            "system",
            "direction",
            "has_matrix",
            "sha256",
            "format",
            "depth",
            "n_queries",
            "warnings",
            "provenance",
            *METADATA,
            "created_at",
            "withdrawn_at",
            "withdrawal_reason",
        ]
        extra_kwargs = {
            "id": {"help_text": "The id of the run, for its address."},
            "paper": {"help_text": "The web address of the paper."},
            "code_url": {"help_text": "The web address of the code."},
            "contact": {"help_text": "Whom to ask about the run."},
            "training_data": {"help_text": "What the system was trained on."},
            "withdrawn_at": {"help_text": "When the run was withdrawn; null if it is not."},
            "name": {"help_text": "The name, unique in the benchmark."},
            "direction": {
                "help_text": "`text-to-video`: videos for each caption; `video-to-text`: captions "
                "for each video."
            },
            "sha256": {"help_text": "The SHA-256 of the content of the file."},
            "format": {"help_text": f"The format of the file: {', '.join(RUNS.names())}."},
            "depth": {"help_text": "The length of the longest ranked list."},
            "n_queries": {"help_text": "The number of captions (or videos) with a ranked list."},
            "warnings": {
                "help_text": "Problems of the file that did not prevent the import, one sentence "
                "each."
            },
            "provenance": {
                "help_text": "How a derived run was made: `method`, `parents` (each with `run` and "
                "`sha256`) and `options`; empty for an imported run."
            },
        }


RunUploadSerializer = serializer_of(ImportRun, "RunUpload")


@receives_files(is_researcher)
class Runs(OfBenchmark, generics.ListAPIView[Run]):
    """List the runs of a benchmark, newest first.

    Withdrawn runs are left out. Every run, withdrawn or not, has the address `runs/{id}/`.
    """

    serializer_class = RunSerializer
    pagination_class = NewestFirst

    def get_queryset(self) -> QuerySet[Run]:
        runs = Run.objects.listed().filter(benchmark=self.benchmark)
        return runs.select_related("system")

    @extend_schema(request=RunUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload a run.

        A job checks the whole file, stores the ranked lists, and starts their scoring. If the file
        has an error, the job fails with the line and the reason, and nothing is stored. The same
        content is stored once. If the name is in use for other content, the run is called `NAME@2`.

        The `result` of the job has `run` (the name), `direction`, `queries` (the number of captions
        with a ranked list, or of videos for a video-to-text run), `depth`, `sha256`, `created`
        (false if the content was already stored), `scoring` (the ids of the jobs that score the
        run) and `warnings`. If both directions of a matrix were imported, `also` has the same
        fields for the run from video to text.
        """
        return self.enqueue_upload(request, RunUploadSerializer, "import_run", "Run")
