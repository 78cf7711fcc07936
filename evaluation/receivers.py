"""Reactions to signals of the apps below."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from config.accounts.actors import Actor
from config.jobs.models import Job
from config.shared.errors import Conflict
from evaluation.models import LabelSet
from evaluation.scores import services
from pooling.models import Benchmark, Run
from pooling.signals import captions_changing, positives_changed, run_imported


@receiver(run_imported)
def score_new_run(run: Run, by: Actor, **_: Any) -> Job:
    """Queue the scoring of a run in the transaction that stores it."""
    return services.begin_scoring(run=run, by=by)


@receiver(captions_changing)
def refuse_change_of_published_captions(benchmark: Benchmark, **_: Any) -> None:
    """Refuse to change the captions on which a published label set rests."""
    newest = LabelSet.objects.filter(benchmark=benchmark).first()
    if newest is not None:
        raise Conflict(
            f"The captions can no longer change, because label set {newest.version} is published. "
            "Import the other captions as a new benchmark."
        )


@receiver(positives_changed)
def score_runs_again(benchmark: Benchmark, by: Actor, **_: Any) -> None:
    services.score_all_again(benchmark=benchmark, by=by)
