"""Celery tasks that run and sweep jobs."""

from __future__ import annotations

import uuid

from celery import shared_task

from config.jobs import services
from config.requests.files import sweep_incoming_files


@shared_task
def run_job_task(job_id: str) -> None:
    services.run_job(uuid.UUID(job_id))


@shared_task
def sweep_jobs_task() -> None:
    services.sweep_jobs()


@shared_task
def sweep_incoming_files_task() -> None:
    sweep_incoming_files()
