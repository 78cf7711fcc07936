"""Computing analyses, each of the same inputs once."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from config.accounts.actors import actor_of
from config.accounts.models import User
from config.jobs.models import Job
from config.jobs.services import enqueue_job
from config.shared.errors import Conflict, InvalidInput
from config.shared.progress import Progress, no_progress
from config.shared.version import code_version
from evaluation.lab.analyses import get_kind
from evaluation.lab.analyses.asked import JOB_KIND, Asked, ask
from evaluation.models import DRAFT, Analysis, LabelSet
from evaluation.release.services import SETTLED_FOR
from pooling.models import Benchmark, Run

# The page of a benchmark shows the result of this analysis, so publishing computes it.
ON_THE_FRONT = "originals"
# Of one analysis of a benchmark so many results are kept, the newest; fewer of drafts, which come
# every few minutes and are not to push out what label sets gave.
KEPT, KEPT_OF_DRAFTS = 50, 10


def analyse(*, asked: Asked, progress: Progress = no_progress) -> Analysis:
    """The stored result of these inputs, computed now if there is none."""
    found = asked.stored()
    if found is not None:
        return found
    began = time.perf_counter()
    progress(0, None, "reading runs and labels")
    result = asked.kind.compute(asked.inputs, asked.chosen, progress)
    return _store(asked, result, seconds=time.perf_counter() - began)


def begin_analysis(*, asked: Asked, given: Mapping[str, Any], created_by: User | None) -> Job:
    """The job that computes it; one that is under way already is found, not begun again.

    given: what was chosen, as `ask` takes it: the job asks anew, but for what was filled in.
    """
    benchmark = asked.inputs.benchmark
    return asked.under_way() or enqueue_job(
        kind=JOB_KIND,
        title=f"{asked.kind.title} of {benchmark.name}"[:300],
        params={
            "benchmark": benchmark.key,
            "analysis": asked.kind.name,
            "given": dict(given),
            "chosen": asked.chosen,
            "key": asked.key,
            "question": asked.question,
            "code_version": code_version(),
        },
        benchmark_key=benchmark.key,
        by=actor_of(created_by),
    )


def check_same_code(asked_with: str) -> None:
    """A worker with other code would store its result where the page that asked never looks.

    Raises `Conflict`, which ends the job: begun again by itself it would go round in a circle.
    """
    if asked_with != code_version():
        raise Conflict(
            f"this was asked for by version {asked_with} and the worker runs {code_version()}; "
            "the one that is older must be started anew"
        )


def analyse_front(*, benchmark: Benchmark, progress: Progress = no_progress) -> Analysis | None:
    """Compute the analysis on the page of the benchmark; return None if there are no labels."""
    try:
        asked = ask(get_kind(ON_THE_FRONT), benchmark, {})
    except InvalidInput:
        return None
    return analyse(asked=asked, progress=progress)


def renew_analyses() -> int:
    """Begin the jobs that bring stored results up to date; return the number of jobs.

    These are the analysis on the benchmark's page, and each opened analysis with the default
    options that a new run, label set or version of the code has made out of date.
    A benchmark waits until nothing has arrived for a while, because uploads come in rows. What
    failed is not tried again.
    """
    begun = 0
    used = Q(analyses__isnull=False) | Q(label_sets__isnull=False)
    for benchmark in Benchmark.objects.filter(used).distinct():
        if _newest_input(benchmark) > timezone.now() - SETTLED_FOR:
            continue
        begun += sum(_renew(benchmark, name, {}) for name in _to_renew(benchmark))
    return begun


def _to_renew(benchmark: Benchmark) -> list[str]:
    return sorted({ON_THE_FRONT, *_looked_at(benchmark)})


def renew_draft_analyses(*, benchmark: Benchmark) -> int:
    """The same, at once, for what somebody has looked at by the draft of the labels."""
    names = _looked_at(benchmark, inputs__labels=DRAFT)
    return sum(_renew(benchmark, name, {"labels": DRAFT}) for name in names)


def _looked_at(benchmark: Benchmark, **inputs: Any) -> QuerySet[Analysis, str]:
    found = Analysis.objects.filter(benchmark=benchmark, **inputs).order_by()
    return found.values_list("kind", flat=True).distinct()


def _renew(benchmark: Benchmark, name: str, given: dict[str, Any]) -> bool:
    """Whether it has to be computed, which is begun then."""
    try:
        asked = ask(get_kind(name), benchmark, given)
    except InvalidInput:  # it says nothing any more about these inputs
        return False
    if asked.stored() is not None or asked.job() is not None:
        return False
    begin_analysis(asked=asked, given=given, created_by=None)
    return True


def _newest_input(benchmark: Benchmark) -> datetime.datetime:
    """When the last run or label set came."""
    runs = Run.objects.filter(benchmark=benchmark).aggregate(at=Max("created_at"))
    sets = LabelSet.objects.filter(benchmark=benchmark).aggregate(at=Max("created_at"))
    return max(runs["at"] or benchmark.created_at, sets["at"] or benchmark.created_at)


@transaction.atomic
def _store(asked: Asked, result: dict[str, object], seconds: float) -> Analysis:
    benchmark = asked.inputs.benchmark
    # Two who ask at once both compute; what they found is the same, and one is kept.
    stored, _ = Analysis.objects.get_or_create(
        benchmark=benchmark,
        key=asked.key,
        defaults={
            "kind": asked.kind.name,
            "inputs": asked.provenance,
            "result": result,
            "seconds": seconds,
        },
    )
    of_kind = Analysis.objects.filter(benchmark=benchmark, kind=asked.kind.name)
    of_drafts = Q(inputs__labels=DRAFT)
    _keep(of_kind.filter(of_drafts), KEPT_OF_DRAFTS)
    _keep(of_kind.exclude(of_drafts), KEPT)
    return stored


def _keep(results: QuerySet[Analysis], count: int) -> None:
    """The newest, of one kind."""
    oldest = results.order_by("-pk").values_list("pk", flat=True)[count - 1 : count].first()
    if oldest is not None:
        results.filter(pk__lt=oldest).delete()
