"""The outcomes of pairs under a label set or draft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.core.consensus import NO_LABEL, State
from evaluation.catalogue.enums import PairOutcome
from evaluation.core.arrays import BoolArray, IntArray
from evaluation.models import LabelSource
from evaluation.release.selectors import label_set_labels
from pooling.models import Benchmark
from pooling.selectors.catalogue import catalogue_of

UNJUDGED = -2


@dataclass(frozen=True, slots=True, eq=False)
class PairColumns:
    """Pairs in the order of their codes, [n] each.

    states: values of `annotation.core.consensus.State`, or UNJUDGED. labels: `NO_LABEL` without a
    label. judgments, relevant: numbers of counted judgments, and of relevant ones among them.
    """

    codes: IntArray
    is_original: BoolArray
    states: IntArray
    labels: IntArray
    judgments: IntArray
    relevant: IntArray

    def only(self, kept: BoolArray | slice) -> PairColumns:
        return PairColumns(*(getattr(self, name)[kept] for name in self.__slots__))

    def have_outcome(self, outcome: str) -> BoolArray:
        kept: BoolArray
        match outcome:
            case PairOutcome.UNJUDGED:
                kept = self.states == UNJUDGED
            case PairOutcome.PENDING:
                kept = self.states == State.PENDING
            case PairOutcome.CONFLICTED:
                kept = self.states == State.CONFLICTED
            case PairOutcome.RELEVANT:
                kept = self.labels >= 1
            case PairOutcome.NOT_RELEVANT:
                kept = self.labels == 0
            case _:
                kept = np.ones(len(self.codes), np.bool_)
        return kept


def outcome_name(state: int, label: int) -> PairOutcome:
    """Return the outcome of a pair with a state and a label as in `PairColumns`."""
    if state == UNJUDGED:
        return PairOutcome.UNJUDGED
    if label == NO_LABEL:
        return PairOutcome.PENDING if state == State.PENDING else PairOutcome.CONFLICTED
    return PairOutcome.RELEVANT if label >= 1 else PairOutcome.NOT_RELEVANT


def with_outcomes(benchmark: Benchmark, source: LabelSource | None, codes: IntArray) -> PairColumns:
    """Return pairs with their outcomes under a label set or draft.

    source: if None, all pairs are unjudged. codes: int64 [n], ascending. Nothing is read from the
    database except data that is not cached yet.
    """
    catalogue, space = catalogue_of(benchmark), benchmark.pair_space
    originals = space.encode(catalogue.original_queries, catalogue.original_videos)
    _, is_original = _find(originals, codes)
    if source is None:
        nothing = np.zeros(len(codes), np.int64)
        return PairColumns(
            codes, is_original, nothing + UNJUDGED, nothing + NO_LABEL, nothing, nothing
        )
    known = label_set_labels(source)
    at, is_known = _find(known.codes, codes)

    def column(values: npt.NDArray[Any], missing: int) -> IntArray:
        found = np.full(len(codes), missing, np.int64)
        found[is_known] = values[at[is_known]]
        return found

    return PairColumns(
        codes,
        is_original,
        states=column(known.states, UNJUDGED),
        labels=column(known.labels, NO_LABEL),
        judgments=column(known.judgments, 0),
        relevant=column(known.relevant, 0),
    )


def _find(known: IntArray, codes: IntArray) -> tuple[IntArray, BoolArray]:
    """Return the place of each code in `known`, and whether it is there, [n] each.

    known: sorted codes.
    """
    if not len(known):
        return np.zeros(len(codes), np.int64), np.zeros(len(codes), np.bool_)
    at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    return at, known[at] == codes
