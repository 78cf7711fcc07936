"""Who may see, start and cancel jobs."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from hearth.accounts.roles import Role, is_lead, is_researcher, researches_somewhere, scopes_of
from hearth.jobs.models import Job
from hearth.shared.errors import NotPermitted


def can_see_jobs(user: Any) -> bool:
    """Return whether the user may open the pages about jobs. `jobs_seen_by` selects the jobs."""
    return researches_somewhere(user)


def jobs_seen_by(user: Any) -> QuerySet[Job]:
    return scopes_of(user, Role.RESEARCHER).limit(Job.objects.all(), "benchmark_key")


def check_can_start_job(by: Any, benchmark_key: str) -> None:
    """Require the role researcher. The service that the job calls may require more."""
    if not is_researcher(by, benchmark_key):
        raise NotPermitted("Only researchers, leads and admins may start a job.")


def can_cancel_job(user: Any, job: Job) -> bool:
    return not job.is_finished and _may_cancel(user, job)


def check_can_cancel_job(user: Any, job: Job) -> None:
    if not _may_cancel(user, job):
        raise NotPermitted("Only the person who started the job, leads and admins may cancel it.")


def _may_cancel(user: Any, job: Job) -> bool:
    if not user.is_active:
        return False
    return (user.pk is not None and job.created_by_id == user.pk) or is_lead(
        user, job.benchmark_key
    )
