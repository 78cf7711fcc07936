"""Computing the agreement of annotators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from annotation.questions.kind import kinds
from evaluation.core.arrays import BoolArray
from evaluation.core.people import agreement
from evaluation.core.people.agreement_figures import (
    RESAMPLES,
    AgreementFigures,
    Opinions,
    Resampling,
)
from evaluation.models import AgreementReport
from evaluation.monitor import selectors
from evaluation.release.policies import check_can_evaluate
from evaluation.release.selectors import agreement_figures, live_labels, opinions_of
from hearth.accounts.actors import Actor
from hearth.shared.arrays import numbered
from hearth.shared.progress import Progress, no_progress
from hearth.shared.version import code_version
from pooling.models import Benchmark

# The figures that are also at the top level of a report.
OF_FIRST_LABELS = (
    "alpha",
    "alpha_interval",
    "alpha_annotator_interval",
    "alpha_interval_pairs",
    "ac1",
    "ac1_interval",
    "alpha_level",
)
OF_ALL_LABELS = ("multiply_labelled", "agreement", "pairwise_agreement")


def compute_agreement(
    *, benchmark: Benchmark, by: Actor, resamples: int = RESAMPLES, progress: Progress = no_progress
) -> AgreementReport:
    """Compute and store agreement over the counted judgments of all campaigns of a benchmark.

    `alpha` and its intervals are computed from the planned labels of each pair. `agreement` and
    `pairwise_agreement` are computed from all labels, and `first_two_agreement` is the pairwise
    agreement of the planned labels. `first_labels` contains all figures of the planned labels, and
    `all_labels` those of all labels. Undefined figures are null, and `undefined` contains their
    reasons.

    Raises `NotPermitted` if `by` may not compute agreement.
    """
    check_can_evaluate(by, benchmark)
    progress(0, 3, "reading judgments")
    judgments, labels = live_labels(benchmark)
    outcomes = labels.outcomes
    progress(1, 3, "agreement")
    opinions = opinions_of(judgments)
    figures = agreement_figures(judgments, Resampling(resamples))
    result: selectors.AgreementResult = {
        # Pairs are counted as in label sets: a pair with a ruling counts even without judgments.
        "pairs": len(labels.codes),
        "labels": len(judgments.labels),
        "resolved": outcomes.settled,
        "adjudicated": outcomes.adjudicated,
        "pending": outcomes.pending,
        "conflicted": outcomes.conflicted,
        "relevant": int((labels.labels >= 1).sum()),
        **_summary(figures),
        **figures,
        "resamples": resamples,
        "by_label_count": [
            {"labels": row.labels, "pairs": row.pairs, "agreement": row.all_equal.value}
            for row in agreement.agreement_by_label_count(opinions.counts)
        ],
        "annotators": _by_annotator(opinions),
        "questions": {
            name: own
            for name, kind in kinds().items()
            if (own := kind.agreement(benchmark)) is not None
        },
    }
    progress(3, 3, "agreement")
    return AgreementReport.objects.create(
        benchmark=benchmark, result=result, code_version=code_version()
    )


def _summary(figures: AgreementFigures) -> selectors.AgreementSummary:
    """Return the figures at the top of a report, and the reasons for those that are null."""
    sources = _sources(figures)
    found: dict[str, Any] = {name: labels[key] for name, (labels, key) in sources.items()}
    found["undefined"] = {
        name: labels["undefined"][key]
        for name, (labels, key) in sources.items()
        if key in labels["undefined"]
    }
    return cast(selectors.AgreementSummary, found)


def _sources(figures: AgreementFigures) -> dict[str, tuple[Mapping[str, Any], str]]:
    """Return the source of each figure of the summary.

    A source is the figures of the planned labels or of all labels, and the key of the figure there.
    """
    first, every = figures["first_labels"], figures["all_labels"]
    return {
        **{name: (every, name) for name in OF_ALL_LABELS},
        "first_two_agreement": (first, "pairwise_agreement"),
        **{name: (first, name) for name in OF_FIRST_LABELS},
    }


def _by_annotator(opinions: Opinions) -> list[selectors.AnnotatorShare]:
    """Return one row for each annotator, with agreement on planned labels and on all labels."""
    people, index = numbered(opinions.annotators)

    def rows(selected: BoolArray) -> tuple[agreement.AnnotatorAgreement, ...]:
        return agreement.agreement_by_annotator(
            opinions.pairs[selected], index[selected], opinions.labels[selected], len(people)
        )

    every = np.ones(len(index), np.bool_)
    return [
        {
            "annotator": int(people[row.annotator]),
            "labels": row.labels,
            "relevant": row.relevant.value,
            "compared": first.compared,
            "agreement": first.agreement.value,
            "compared_all_labels": row.compared,
            "agreement_all_labels": row.agreement.value,
        }
        for row, first in zip(rows(every), rows(opinions.is_first), strict=True)
    ]
