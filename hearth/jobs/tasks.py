"""Celery tasks that run and sweep jobs."""

from __future__ import annotations

import uuid

from config.celery import app
from hearth.jobs import services
from hearth.requests.files import sweep_incoming_files


@app.task
def run_job_task(job_id: str) -> None:
    services.run_job(uuid.UUID(job_id))


@app.task
def sweep_jobs_task() -> None:
    services.sweep_jobs()


@app.task
def sweep_incoming_files_task() -> None:
    sweep_incoming_files()
