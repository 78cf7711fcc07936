"""Jobs in the API: their state, progress and result."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from django.db.models import Model, Q, QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hearth.accounts.models import User
from hearth.accounts.permissions import IsResearcher
from hearth.jobs.models import Job
from hearth.jobs.policies import jobs_seen_by
from hearth.jobs.services import cancel_job
from hearth.shared.paging import NewestFirst

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ID_BITS = 128
# A later time in a cursor is replaced by this one, because Python's times end in the year 9999.
MICROSECONDS_MAX = (datetime(9000, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


class JobSerializer(serializers.ModelSerializer[Job]):
    class Meta:
        model = Job
        fields = [
            "id",
            "kind",
            "title",
            "benchmark_key",
            "state",
            "phase",
            "done",
            "total",
            "result",
            "error",
            "problems",
            "created_at",
            "started_at",
            "finished_at",
        ]
        extra_kwargs = {
            "id": {"help_text": "The id of the job, for the address `/jobs/{id}/`."},
            "kind": {"help_text": "The kind of work, such as `import_run`."},
            "title": {"help_text": "A title for people."},
            "benchmark_key": {"help_text": "The key of the benchmark; empty if there is none."},
            "phase": {"help_text": "The current step of the work, as text."},
            "done": {"help_text": "The number of finished units of the current phase."},
            "total": {"help_text": "The number of all units of the phase, or null while unknown."},
            "result": {
                "help_text": "The result, once `state` is `done`. Its fields depend on `kind`."
            },
            "error": {
                "help_text": "Why the job failed, or why it will start again; otherwise empty."
            },
            "problems": {
                "help_text": "The first hundred errors of the files, if there are several. Each "
                "has `file` (empty if there is only one file), `line` (null in formats without "
                "lines) and `reason`."
            },
        }


class NewestJobsFirst(NewestFirst):
    """Pages of jobs, newest first. Jobs with the same time of creation are ordered by their ids.

    The number of a job consists of the time of its creation, in microseconds since 1970, and the
    128 bits of its id. It is the cursor of the page that begins after the job.
    """

    order = ("-created_at", "-pk")

    def older(self, rows: QuerySet[Any], after: int) -> QuerySet[Any]:
        microseconds, job = divmod(after, 1 << ID_BITS)
        at = EPOCH + timedelta(microseconds=min(microseconds, MICROSECONDS_MAX))
        same_time = Q(created_at=at, pk__lt=uuid.UUID(int=job))
        return rows.filter(Q(created_at__lt=at) | same_time)

    def number(self, row: Model) -> int:
        job = cast(Job, row)
        microseconds = (job.created_at - EPOCH) // timedelta(microseconds=1)
        return (microseconds << ID_BITS) | job.pk.int


class JobList(generics.ListAPIView[Job]):
    """List the jobs of the benchmarks that you may see, newest first."""

    permission_classes = [IsResearcher]
    serializer_class = JobSerializer
    pagination_class = NewestJobsFirst

    def get_queryset(self) -> QuerySet[Job]:
        return jobs_seen_by(self.request.user)


class JobDetail(generics.RetrieveAPIView[Job]):
    """Return one job.

    Request it every second or two until `state` is `done`, `failed` or `cancelled`. A `done` job
    has `result`, and a `failed` job has `error`.
    """

    permission_classes = [IsResearcher]
    serializer_class = JobSerializer

    def get_queryset(self) -> QuerySet[Job]:
        return jobs_seen_by(self.request.user)


class JobCancel(APIView):
    """Cancel a job.

    A queued job ends immediately, a running one at its next step. The person who started the job,
    leads and admins may cancel it. The status is 409 if the job has already ended.
    """

    permission_classes = [IsResearcher]

    @extend_schema(
        request=None,
        responses={
            200: JobSerializer,
            409: OpenApiResponse(description="The job has already ended."),
        },
    )
    def post(self, request: Request, pk: uuid.UUID) -> Response:
        job = generics.get_object_or_404(jobs_seen_by(request.user), pk=pk)
        cancel_job(job=job, by=cast(User, request.user))
        job.refresh_from_db()
        return Response(JobSerializer(job).data)


def accepted(job: Job) -> Response:
    """Return the response to a request that started a job: status 202 and the job."""
    body: dict[str, Any] = JobSerializer(job).data
    return Response(body, status=status.HTTP_202_ACCEPTED)
