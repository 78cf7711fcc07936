"""Start, run, cancel and sweep jobs."""

from __future__ import annotations

from hearth.jobs.services.queue import cancel_job, enqueue_job, send_job
from hearth.jobs.services.running import run_job
from hearth.jobs.services.sweeping import sweep_jobs
