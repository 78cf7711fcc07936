"""What follows for scores when something new comes."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from config.accounts.models import User
from evaluation import services
from pooling.models import Run
from pooling.signals import run_uploaded


@receiver(run_uploaded)
def score_what_was_uploaded(run: Run, by: User | None, **_: Any) -> None:
    """Who uploads a run wants its scores; nobody has to press a second button for them."""
    services.begin_scoring(run=run, created_by=by)
