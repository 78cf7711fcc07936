"""How far annotators agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from annotation.selectors import JudgmentArrays
from config.shared.progress import Progress, no_progress
from config.shared.version import code_version
from evaluation.core.agreement import (
    agreement_by_annotator,
    agreement_by_label_count,
    count_labels,
    pairwise_agreement,
    percent_agreement,
)
from evaluation.core.alpha import alpha_interval, krippendorff_alpha
from evaluation.core.label_file import NO_LABEL
from evaluation.models import AgreementReport
from evaluation.selectors import live_labels
from pooling.models import Benchmark

RESAMPLES = 1000
# The interval of the same labels is the same interval.
SEED = 0


def compute_agreement(
    *, benchmark: Benchmark, resamples: int = RESAMPLES, progress: Progress = no_progress
) -> AgreementReport:
    """Agreement and alpha over the live judgments of all the benchmark's campaigns, stored.

    Figures that cannot be computed are null, and `undefined` says why.
    """
    progress(0, 3, "reading judgments")
    judgments, labels = live_labels(benchmark)
    progress(1, 3, "agreement")
    counts = count_labels(judgments.pair_of, judgments.labels, len(judgments.codes))
    estimates = {
        "agreement": percent_agreement(counts),
        "pairwise_agreement": pairwise_agreement(counts),
        "alpha": krippendorff_alpha(counts),
    }
    progress(2, 3, "bootstrap")
    interval = alpha_interval(counts, resamples, rng=np.random.default_rng(SEED))
    result = {
        # As the label set counts them: a lead may have ruled on a pair that nobody had labelled.
        "pairs": len(labels.codes),
        "labels": len(judgments.labels),
        "resolved": int((labels.labels != NO_LABEL).sum()),
        "conflicted": int((labels.labels == NO_LABEL).sum()),
        "relevant": int((labels.labels >= 1).sum()),
        "multiply_labelled": counts.n_multiply_labelled,
        **{name: estimate.value for name, estimate in estimates.items()},
        "alpha_interval": None if interval.low is None else [interval.low, interval.high],
        "undefined": _reasons({**estimates, "alpha_interval": interval}),
        "resamples": resamples,
        "by_label_count": [
            {"labels": row.labels, "pairs": row.pairs, "agreement": row.all_equal.value}
            for row in agreement_by_label_count(counts)
        ],
        "annotators": _by_annotator(judgments),
    }
    progress(3, 3, "agreement")
    return AgreementReport.objects.create(
        benchmark=benchmark, result=result, code_version=code_version()
    )


def _reasons(estimates: dict[str, Any]) -> dict[str, str]:
    return {name: e.undefined for name, e in estimates.items() if e.undefined}


def _by_annotator(judgments: JudgmentArrays) -> list[dict[str, Any]]:
    # Who judged a pair in two campaigns counts by the first answer: nobody agrees with themself.
    first = (np.diff(judgments.pair_of, prepend=-1) != 0) | (
        np.diff(judgments.annotators, prepend=-1) != 0
    )
    people, index = np.unique(judgments.annotators[first], return_inverse=True)
    rows = agreement_by_annotator(
        judgments.pair_of[first], index, judgments.labels[first], len(people)
    )
    return [
        {
            "annotator": int(people[row.annotator]),
            "labels": row.labels,
            "relevant": row.relevant.value,
            "compared": row.compared,
            "agreement": row.agreement.value,
        }
        for row in rows
    ]
