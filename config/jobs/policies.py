"""Who may see and end jobs."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from config.accounts.roles import Role, is_lead, researches_somewhere, scopes_of
from config.jobs.models import Job
from config.shared.errors import NotPermitted


def can_see_jobs(user: Any) -> bool:
    """Those of some benchmark; which, `jobs_seen_by` tells."""
    return researches_somewhere(user)


def jobs_seen_by(user: Any) -> QuerySet[Job]:
    return scopes_of(user, Role.RESEARCHER).limit(Job.objects.all(), "benchmark_key")


def can_cancel_job(user: Any, job: Job) -> bool:
    return not job.is_finished and _may_end(user, job)


def check_can_cancel_job(user: Any, job: Job) -> None:
    if not _may_end(user, job):
        raise NotPermitted("Only who started a job, leads and admins may cancel it.")


def _may_end(user: Any, job: Job) -> bool:
    return job.created_by_id == user.pk or is_lead(user, job.benchmark_key)
