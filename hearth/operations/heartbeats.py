"""Store heartbeats, the time that workers spend on jobs and tasks, and tallies of events."""

from __future__ import annotations

from django.db.models import F
from django.db.models.functions import Now

from hearth.operations.models import Heartbeat, Pulse, Tally, WorkerTime

LEASE_EXPIRIES = "lease_expiries"


def beat(pulse: Pulse) -> None:
    """Store that the scheduler or the sweeper has just run. The time is that of the database."""
    if not Heartbeat.objects.filter(name=pulse).update(at=Now()):
        Heartbeat.objects.update_or_create(name=pulse, defaults={"at": Now()})


def add_to_tally(name: str, number: int) -> None:
    """Add a number to a tally, inside the transaction of the caller."""
    if number and not Tally.objects.filter(name=name).update(value=F("value") + number):
        Tally.objects.get_or_create(name=name)
        Tally.objects.filter(name=name).update(value=F("value") + number)


def add_worker_time(worker: str, work: str, seconds: float) -> None:
    """Add the duration of a job or other task to the totals of the workers with this name."""
    totals = WorkerTime.objects.filter(worker=worker, work=work)
    added = {"number": F("number") + 1, "seconds": F("seconds") + seconds}
    if not totals.update(**added):
        WorkerTime.objects.get_or_create(worker=worker, work=work)
        totals.update(**added)
