"""Agreement figures of judgments."""

from __future__ import annotations

import numpy as np

from annotation.selectors.judgments import JudgmentArrays
from evaluation.core.arrays import BoolArray
from evaluation.core.people.agreement_figures import (
    AgreementFigures,
    Opinions,
    Resampling,
    StoredAgreement,
    agreement_to_store,
    figures_of_both,
)
from evaluation.models import AgreementReport
from pooling.models import Benchmark


def latest_agreement(benchmark: Benchmark) -> AgreementReport | None:
    return AgreementReport.objects.filter(benchmark=benchmark).first()


def opinions_of(judgments: JudgmentArrays) -> Opinions:
    """Return the labels with their annotators and pairs.

    See `are_opinions` for the labels that are left out.
    """
    every = Opinions(judgments.pair_of, judgments.annotators, judgments.labels, judgments.is_first)
    return every.only(are_opinions(judgments))


def are_opinions(judgments: JudgmentArrays) -> BoolArray:
    """Return which labels count for agreement, bool [n_judgments].

    If an annotator judged a pair in two campaigns, only the first answer counts. Otherwise the
    annotator would be compared with themselves.
    """
    return np.asarray(
        (np.diff(judgments.pair_of, prepend=-1) != 0)
        | (np.diff(judgments.annotators, prepend=-1) != 0)
    )


def agreement_figures(judgments: JudgmentArrays, how: Resampling) -> AgreementFigures:
    """Return the figures of the planned labels and of all labels."""
    return figures_of_both(opinions_of(judgments), judgments.n_grades, how)


def stored_agreement(judgments: JudgmentArrays) -> StoredAgreement:
    """Return the values that a label set stores to compute its figures again."""
    return agreement_to_store(opinions_of(judgments), judgments.n_grades)
