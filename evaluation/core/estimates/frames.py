"""Which captions of a run are undecided, and what a machine predicts for them.

A measure is computed for each caption from the known labels. A caption is decided if no unjudged
pair in the top k can change its value. For C@k a known relevant pair decides a caption, and for RR
if no unjudged pair is above it. For other measures, all pairs in the top k must be judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray
from evaluation.core.relevance.corrected_scores import DividedSum, is_correctable
from evaluation.core.relevance.judged import Judged, look_up_gains
from evaluation.core.relevance.measures import Measure
from hearth.shared.errors import InvalidInput
from pooling.core.ranked_lists import RankedLists


@dataclass(frozen=True, slots=True, eq=False)
class TopPairs:
    """What is known of the pairs in the top of some ranked lists.

    codes: int64 [n, depth]. gains: int8 [n, depth], UNJUDGED for an unjudged pair and at the
    padding. is_item: bool [n, depth]. outside: int64 [n], the known relevant pairs of the caption
    that are not listed.
    """

    codes: IntArray
    gains: GainArray
    is_item: BoolArray
    outside: IntArray

    @classmethod
    def of(cls, lists: RankedLists, judged: Judged) -> TopPairs:
        """Return the pairs of whole lists. Cut the lists to the depth that is read first."""
        gains = look_up_gains(lists, judged)
        positives = judged.count_per_query(judged.gains >= 1)
        outside = positives - np.count_nonzero(gains >= 1, axis=1)
        return cls(lists.codes, gains, lists.is_item, outside)

    def rows(self, rows: IntArray) -> TopPairs:
        """Return the pairs of some captions."""
        return TopPairs(self.codes[rows], self.gains[rows], self.is_item[rows], self.outside[rows])

    @property
    def unjudged(self) -> BoolArray:
        return (self.gains < 0) & self.is_item

    def undecided(self, measure: Measure) -> BoolArray:
        """Return which captions an unjudged pair can change, bool [n]."""
        reads = measure.reads(self.gains.shape[1])
        unjudged, relevant = self.unjudged[:, :reads], self.gains[:, :reads] >= 1
        if measure.name == "RR":  # pairs below the first relevant one do not matter
            unjudged = unjudged & (np.cumsum(relevant, axis=1) == 0)
        is_open = unjudged.any(axis=1)
        return np.asarray(is_open & ~relevant.any(axis=1) if is_correct_at(measure) else is_open)

    def values(self, measures: Sequence[Measure], chances: FloatArray) -> dict[Measure, FloatArray]:
        """Return the value of each caption, float64 [n], with chances for the unjudged pairs.

        chances: float64 [n, depth], the probability that a pair is relevant. With probabilities of
        0 and 1 these are the values of the measures for labels without grades. Otherwise they are
        predictions: sums over all relevant pairs are replaced by their means.
        """
        known = (self.gains >= 1).astype(np.float64)
        t = np.ascontiguousarray(np.where(self.unjudged, chances, known).T)
        return {
            measure: measure.kind.correct(t, measure)
            if measure.kind.can("correct")
            else self._divided(DividedSum.of(measure, len(t)), t)
            for measure in measures
        }

    def _divided(self, term: DividedSum, t: FloatArray) -> FloatArray:
        """Return a sum over the top k, divided by a function of the number of relevant pairs.

        t: float64 [depth, n], the relevance of each rank.
        """
        k = len(term.weights)
        top = t[:k]
        shares = top * (1 + np.cumsum(top, axis=0) - top) if term.kind.with_above else top
        divisor = top.sum(axis=0)
        if term.kind.divides_by_all:
            divisor = divisor + self.outside + np.count_nonzero(self.gains[:, k:] >= 1, axis=1)
        if term.kind.is_ideal:
            factors = term.factors(int(divisor.max(initial=1)) + 2)
            ideal = np.append(0.0, 1 / factors[1:])
            divisor = np.interp(divisor, np.arange(len(ideal)), ideal)
        # Below one expected relevant pair, the value is the chance that there is one.
        return np.asarray(term.weights @ shares / np.maximum(divisor, 1))


def is_correct_at(measure: Measure) -> bool:
    """Return whether a measure is C@k: 1 as soon as a relevant pair is in the top k."""
    return measure.name == "C"


def check_estimable(measure: Measure) -> None:
    """Raise InvalidInput if a measure has no estimate."""
    if not is_correctable(measure):
        raise InvalidInput(f"{measure} cannot be estimated. Choose C@k, P@k, R@k, AP, nDCG or RR.")


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The captions of a run under the known labels, for one measure.

    undecided: bool [n]. predicted: float64 [n], the value by the known labels where they decide it,
    and the machine's prediction elsewhere.
    """

    measure: Measure
    undecided: BoolArray
    predicted: FloatArray

    @property
    def n_undecided(self) -> int:
        return int(np.count_nonzero(self.undecided))

    @property
    def decided_sum(self) -> float:
        """The sum of the values of the decided captions."""
        return float(self.predicted[~self.undecided].sum())

    @property
    def mean_predicted(self) -> float:
        """The mean prediction of the undecided captions; 0 if there are none."""
        return float(self.predicted[self.undecided].mean()) if self.n_undecided else 0.0


def frames_of(
    pairs: TopPairs, measures: Sequence[Measure], chances: FloatArray | None = None
) -> dict[Measure, Frame]:
    """Return the frame of each measure.

    chances: float64 [n, depth], the machine's probability of relevance of each pair; None: no
    machine, and unjudged pairs are predicted not relevant. Raises InvalidInput if a measure has no
    estimate.
    """
    for measure in measures:
        check_estimable(measure)
    values = pairs.values(measures, np.zeros(pairs.gains.shape) if chances is None else chances)
    return {
        measure: Frame(measure, pairs.undecided(measure), values[measure]) for measure in measures
    }
