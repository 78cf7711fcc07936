"""Jobs over the API: what was asked for, how far it is, how it ended."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.accounts.permissions import IsResearcher
from config.jobs.models import Job
from config.jobs.policies import check_can_cancel_job, jobs_seen_by
from config.jobs.services import cancel_job


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
            "created_at",
            "started_at",
            "finished_at",
        ]


class JobList(generics.ListAPIView[Job]):
    """Jobs, newest first."""

    permission_classes = [IsResearcher]
    serializer_class = JobSerializer

    def get_queryset(self) -> QuerySet[Job]:
        return jobs_seen_by(self.request.user)


class JobDetail(generics.RetrieveAPIView[Job]):
    permission_classes = [IsResearcher]
    serializer_class = JobSerializer

    def get_queryset(self) -> QuerySet[Job]:
        return jobs_seen_by(self.request.user)


class JobCancel(APIView):
    """End a queued job, or ask a running one to stop at its next step."""

    permission_classes = [IsResearcher]

    @extend_schema(request=None, responses=JobSerializer)
    def post(self, request: Request, pk: uuid.UUID) -> Response:
        job = generics.get_object_or_404(jobs_seen_by(request.user), pk=pk)
        check_can_cancel_job(request.user, job)
        cancel_job(job_id=job.pk)
        job.refresh_from_db()
        return Response(JobSerializer(job).data)


def accepted(job: Job) -> Response:
    """The answer of every call that starts long work: 202 and the job to watch."""
    body: dict[str, Any] = JobSerializer(job).data
    return Response(body, status=status.HTTP_202_ACCEPTED)
