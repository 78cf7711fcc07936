"""Signals of Celery that show whether the scheduler and the sweeper work."""

from __future__ import annotations

import logging
from typing import Any

from celery import signals
from django.db import DatabaseError

from config.operations.heartbeats import beat
from config.operations.models import Pulse

log = logging.getLogger(__name__)

SWEEP = "config.jobs.tasks.sweep_jobs_task"
_schedulers: list[object] = []


@signals.beat_init.connect
def note_scheduler(sender: object, **_: Any) -> None:
    """Remember that this process is the scheduler."""
    _schedulers.append(sender)


@signals.before_task_publish.connect
def beat_of_scheduler(sender: str, **_: Any) -> None:
    if _schedulers and sender == SWEEP:
        _beat(Pulse.SCHEDULER)


@signals.task_success.connect
def beat_of_sweeper(sender: Any, **_: Any) -> None:
    if sender.name == SWEEP:
        _beat(Pulse.SWEEPER)


def _beat(pulse: Pulse) -> None:
    try:
        beat(pulse)
    except DatabaseError:
        # The work itself must continue. /readyz reports a missing heartbeat.
        log.warning("the heartbeat of the %s could not be stored", pulse, exc_info=True)
