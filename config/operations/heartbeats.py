"""Store the heartbeats of processes that must always run, and tallies of events."""

from __future__ import annotations

from django.db.models import F
from django.db.models.functions import Now

from config.operations.models import Heartbeat, Pulse, Tally

LEASE_EXPIRIES = "lease_expiries"


def beat(pulse: Pulse) -> None:
    """Store that the process has just done its work, by the database's clock."""
    if not Heartbeat.objects.filter(name=pulse).update(at=Now()):
        Heartbeat.objects.update_or_create(name=pulse, defaults={"at": Now()})


def add_to_tally(name: str, number: int) -> None:
    """Add a number to a tally, inside the transaction of the caller."""
    if number and not Tally.objects.filter(name=name).update(value=F("value") + number):
        Tally.objects.get_or_create(name=name)
        Tally.objects.filter(name=name).update(value=F("value") + number)
