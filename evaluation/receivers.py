"""Reactions to signals of the apps below."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from config.accounts.actors import Actor
from config.jobs.models import Job
from evaluation.scores import services
from pooling.models import Run
from pooling.signals import run_imported


@receiver(run_imported)
def score_new_run(run: Run, by: Actor, **_: Any) -> Job:
    """Queue the scoring of a run in the transaction that stores it."""
    return services.begin_scoring(run=run, by=by)
