"""Start, run, cancel and sweep jobs."""

from __future__ import annotations

from config.jobs.services.queue import cancel_job, enqueue_job, send_job
from config.jobs.services.running import run_job
from config.jobs.services.sweeping import sweep_jobs

__all__ = ["cancel_job", "enqueue_job", "run_job", "send_job", "sweep_jobs"]
