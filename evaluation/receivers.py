"""Reactions to signals of the app `pooling`.

Every process loads this module. The functions import services when they need them, because loading
all services takes a quarter of the time that a command needs to start.
"""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from evaluation.models import LabelSet
from hearth.accounts.actors import OPERATOR, Actor
from hearth.jobs.models import Job
from hearth.shared.errors import Conflict
from hearth.shared.progress import Progress
from pooling import signals
from pooling.models import Benchmark, Run


@receiver(signals.run_imported)
def score_new_run(run: Run, by: Actor, **_: Any) -> Job:
    """Queue the scoring of a run in the transaction that stores it."""
    from evaluation.scores import services

    return services.begin_scoring(run=run, by=by)


@receiver(signals.private_run_stored)
def score_private_run(run: Run, progress: Progress, **_: Any) -> None:
    from evaluation.scores import services

    services.score_private_run(run=run, progress=progress)


@receiver(signals.run_listed)
def score_listed_run(run: Run, **_: Any) -> Job:
    """Queue the scoring of a run that is published or restored.

    Labels may have been published since its last scoring. The operator requests the scoring,
    because the person who uploaded the run need not be a researcher.
    """
    from evaluation.scores import services

    return services.begin_scoring(run=run, by=OPERATOR)


@receiver(signals.captions_changing)
def refuse_change_of_published_captions(benchmark: Benchmark, **_: Any) -> None:
    """Refuse to change the captions that a published label set depends on."""
    newest = LabelSet.objects.filter(benchmark=benchmark).first()
    if newest is not None:
        raise Conflict(
            f"The captions can no longer change, because label set {newest.version} is published. "
            "Import the other captions as a new benchmark."
        )


@receiver(signals.positives_changed)
def score_runs_again(benchmark: Benchmark, by: Actor, **_: Any) -> None:
    from evaluation.scores import services

    services.score_all_again(benchmark=benchmark, by=by)
