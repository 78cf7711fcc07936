"""Computing analyses, each of the same inputs once."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from config.accounts.models import User
from config.jobs.models import Job, JobState
from config.jobs.services import enqueue_job
from config.shared.errors import InvalidInput
from config.shared.progress import Progress, no_progress
from evaluation.analyses import get_kind
from evaluation.analyses.asked import JOB_KIND, Asked, ask
from evaluation.models import Analysis, LabelSet
from pooling.models import Benchmark, Run

# Of one analysis of a benchmark so many results are kept, the newest.
KEPT = 50
SETTLED_FOR = datetime.timedelta(minutes=2)


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

    given: what was chosen, as `ask` takes it: the job asks anew.
    """
    benchmark = asked.inputs.benchmark
    return asked.job(JobState.QUEUED, JobState.RUNNING) or enqueue_job(
        kind=JOB_KIND,
        title=f"{asked.kind.title} of {benchmark.name}"[:300],
        params={
            "benchmark": benchmark.key,
            "analysis": asked.kind.name,
            "given": dict(given),
            "key": asked.key,
        },
        benchmark_key=benchmark.key,
        created_by=created_by,
    )


def renew_analyses() -> int:
    """Begin to compute anew what somebody has looked at, with nothing chosen, and what a new run or
    label set has made out of date; returns how many jobs that makes.

    A benchmark is left alone until nothing has come for a while: uploads come in rows. What failed
    is not tried again.
    """
    begun = 0
    for benchmark in Benchmark.objects.filter(analyses__isnull=False).distinct():
        if _newest_input(benchmark) > timezone.now() - SETTLED_FOR:
            continue
        looked_at = Analysis.objects.filter(benchmark=benchmark).order_by()
        for name in looked_at.values_list("kind", flat=True).distinct():
            begun += _renew(benchmark, name)
    return begun


def _renew(benchmark: Benchmark, name: str) -> bool:
    """Whether it has to be computed, which is begun then."""
    try:
        asked = ask(get_kind(name), benchmark, {})
    except InvalidInput:  # it says nothing any more about these inputs
        return False
    if asked.stored() is not None or asked.job() is not None:
        return False
    begin_analysis(asked=asked, given={}, created_by=None)
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
    kept = list(of_kind.order_by("-pk").values_list("pk", flat=True)[:KEPT])
    of_kind.filter(pk__lt=kept[-1]).delete()
    return stored
