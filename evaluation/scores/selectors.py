"""Stored scores of runs."""

from __future__ import annotations

from evaluation.models import Evaluation, LabelSet
from pooling.models import Benchmark


def stored_scores(
    benchmark: Benchmark, label_set: LabelSet | None, *, labels_only: bool = False
) -> dict[int, Evaluation]:
    """Evaluations by run, under a label set or (None) the original positives."""
    found = Evaluation.objects.filter(
        run__benchmark=benchmark, label_set=label_set, labels_only=labels_only
    )
    return {evaluation.run_id: evaluation for evaluation in found}
