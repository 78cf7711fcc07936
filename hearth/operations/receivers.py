"""Functions that Celery's signals call. They store heartbeats and the work time of workers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from celery import signals
from django.db import DatabaseError

from hearth.jobs.models import Job
from hearth.jobs.services.queue import RUN_JOB
from hearth.operations.heartbeats import add_worker_time, beat
from hearth.operations.models import Pulse

log = logging.getLogger(__name__)

SWEEP = "hearth.jobs.tasks.sweep_jobs_task"
_schedulers: list[object] = []


@signals.beat_init.connect
def note_scheduler(sender: object, **_: Any) -> None:
    """Remember that this process is the scheduler."""
    _schedulers.append(sender)


@signals.before_task_publish.connect
def beat_of_scheduler(sender: str, **_: Any) -> None:
    if _schedulers and sender == SWEEP:
        _store(lambda: beat(Pulse.SCHEDULER))


@signals.task_success.connect
def beat_of_sweeper(sender: Any, **_: Any) -> None:
    if sender.name == SWEEP:
        _store(lambda: beat(Pulse.SWEEPER))


@signals.task_prerun.connect
def note_start(task: Any, **_: Any) -> None:
    task.request.began = time.monotonic()


@signals.task_postrun.connect
def add_time_of_worker(task: Any, args: Any, **_: Any) -> None:
    """Add the duration of a task to the totals that /metrics reports for its worker."""
    if task.request.is_eager:
        return  # not in a worker
    seconds = time.monotonic() - task.request.began
    # The part after @ is the machine, whose name changes when a container is replaced.
    worker = task.request.hostname.partition("@")[0]
    _store(lambda: add_worker_time(worker, _work_of(task, args), seconds))


def _work_of(task: Any, args: Any) -> str:
    """Return the kind of the job if the task runs a job, else the name of the task."""
    jobs = Job.objects.filter(pk=args[0]) if task.name == RUN_JOB else Job.objects.none()
    kind = jobs.values_list("kind", flat=True).first()
    return kind or task.name.rpartition(".")[2].removesuffix("_task")


def _store(write: Callable[[], None]) -> None:
    try:
        write()
    except DatabaseError:
        # The work itself must continue. /readyz reports a missing heartbeat.
        log.warning("the heartbeat or working time of a process could not be stored", exc_info=True)
