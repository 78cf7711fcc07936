"""Computing analyses, each of the same inputs once."""

from __future__ import annotations

import time

from django.db import transaction

from config.shared.progress import Progress, no_progress
from evaluation.analyses.asked import Asked
from evaluation.models import Analysis

# Of one analysis of a benchmark so many results are kept, the newest.
KEPT = 50


def analyse(*, asked: Asked, progress: Progress = no_progress) -> Analysis:
    """The stored result of these inputs, computed now if there is none."""
    found = asked.stored()
    if found is not None:
        return found
    began = time.perf_counter()
    progress(0, None, "reading runs and labels")
    result = asked.kind.compute(asked.inputs, asked.chosen, progress)
    return _store(asked, result, seconds=time.perf_counter() - began)


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
