"""Stored scores of runs, and stored corrections of them for wrong labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.models import AnalysisResult, Evaluation, LabelSet
from pooling.models import Benchmark

# The analysis that corrects scores for wrong labels.
NOISE_ANALYSIS = "label-noise"
CONFIDENCE = 0.95

Ends = list[float]


@dataclass(frozen=True, slots=True)
class Correction:
    """The interval of one score, and the score corrected for wrong labels; None if unknown.

    interval: of the score by the labels, for other captions. fixed_interval: of the corrected
    score, for these captions. bounds: the lowest and highest score that the unjudged pairs and
    wrong labels allow.
    """

    interval: Ends | None
    corrected: float | None
    fixed_interval: Ends | None
    bounds: Ends | None = None


@dataclass(frozen=True, slots=True)
class Corrections:
    """The corrections by the names of run and measure.

    has_rates: whether the error rates of the labels are known. left_out: the number of labels that
    the scores use and the corrections leave out, because earlier labels were the reason for them.
    """

    has_rates: bool
    of_scores: Mapping[tuple[str, str], Correction]
    left_out: int


def stored_corrections(
    label_set: LabelSet | None, measures: Iterable[str], *, labels_only: bool = False
) -> Corrections | None:
    """Return the corrections by the newest result of the analysis `label-noise`.

    measures: the result has all of them. The intervals are 95 % intervals, and the error rates come
    from the best source. None if nothing is computed for this label set yet. Nothing is computed
    here.
    """
    wanted = {*measures}
    if label_set is None:
        return None
    known = AnalysisResult.objects.filter(benchmark_id=label_set.benchmark_id, kind=NOISE_ANALYSIS)
    for pk, inputs in known.order_by("-pk").values_list("pk", "inputs"):
        if _is_usable(inputs, label_set, wanted, labels_only=labels_only):
            return _corrections(known.get(pk=pk).result)
    return None


def _is_usable(
    inputs: Mapping[str, Any], label_set: LabelSet, measures: set[str], *, labels_only: bool
) -> bool:
    chosen = inputs["chosen"]
    return bool(
        inputs["labels_sha256"] == label_set.sha256
        and inputs["labels_only"] == labels_only
        and chosen["rates"] == "auto"
        and chosen["confidence"] == CONFIDENCE
        and measures <= set(chosen["measures"])
    )


def _corrections(result: Mapping[str, Any]) -> Corrections:
    # Results of older code versions have no raw scores without rates, no fixed intervals and
    # no corrected bounds.
    of_scores = {
        (row["run"], row["measure"]): Correction(row["raw_interval"], None, None)
        for row in result.get("raw", ())
    }
    of_scores |= {
        (row["run"], row["measure"]): Correction(
            row["raw_interval"],
            row["corrected"],
            row.get("fixed_interval"),
            row.get("bounds_corrected"),
        )
        for row in result["scores"]
    }
    return Corrections(result["used"] is not None, of_scores, result.get("left_out", 0))


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
