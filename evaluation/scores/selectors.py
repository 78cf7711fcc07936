"""Stored scores of runs."""

from __future__ import annotations

from evaluation.models import Evaluation, LabelSet
from pooling.models import Benchmark


def stored_scores(
    benchmark: Benchmark, label_set: LabelSet | None, *, labels_only: bool = False
) -> dict[int, Evaluation]:
    """Return evaluations by the primary key of the run.

    label_set: None for the original positives.
    """
    evaluations = Evaluation.objects.filter(
        run__benchmark=benchmark, label_set=label_set, labels_only=labels_only
    )
    return {evaluation.run_id: evaluation for evaluation in evaluations}
