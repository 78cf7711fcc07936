"""Who may see and end jobs."""

from __future__ import annotations

from typing import Any

from config.accounts.roles import is_lead, is_researcher
from config.jobs.models import Job
from config.shared.errors import NotPermitted


def can_see_jobs(user: Any) -> bool:
    return bool(is_researcher(user))


def can_cancel_job(user: Any, job: Job) -> bool:
    return not job.is_finished and (job.created_by_id == user.pk or bool(is_lead(user)))


def check_can_cancel_job(user: Any, job: Job) -> None:
    if job.created_by_id != user.pk and not is_lead(user):
        raise NotPermitted("Only who started a job, leads and admins may cancel it.")
