"""The lowest and the highest values of measures that an additional positive can lower.

An outcome is a choice of grades for all unjudged pairs of a query. This module proves which
outcomes have the lowest and the highest value, and computes one block of queries. `bounds` combines
the blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import Measure, divide

# A relative rise below this is rounding noise.
_NO_RISE: Final = 1e-13

# Lowest and highest over the listed pairs, and lowest over all unjudged pairs: [B] each.
Sides: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]


class Extremes:
    """A block of B queries, and the outcomes of their unjudged pairs that can be extreme.

    R, AP and AP(found). Let x of a query's listed unjudged pairs be relevant. That fixes the
    divisor of R and AP. The dividend is a sum over the positives down to rank k. Its terms are 1
    for R, and i / rank of the i-th positive for AP. No term grows if a rank grows. So for each x,
    the score is highest if the x topmost unjudged pairs are relevant, and lowest if the x lowest
    ones are. The extreme scores are among these outcomes for all x. For AP(found)@k, which divides
    by the positives in the top k, the same is true if x is the number of relevant unjudged pairs in
    the top k. Relevant pairs outside of the list only add to the divisor of R and AP. So the upper
    bound over all unjudged pairs counts none of the pairs outside of the list as relevant, and the
    lower bound counts all of them as relevant.

    nDCG is N / D, where N is the DCG of the list and D that of the best order. Both depend on the
    values v(grade) of the unjudged pairs. N is linear in these values. D is the maximum of linear
    functions, one for each order, so it is convex. N - c D is therefore concave for each c >= 0,
    and N / D is quasi-concave. N / D is lowest in a corner of the box of possible values, where
    each pair has grade 0 or the highest one. If x of the pairs are relevant, N is lowest if these
    are at the x lowest ranks. Pairs outside of the list only raise D.

    The highest nDCG can need grades between 0 and the highest one. For each grade t, let

        x_t      be the number of listed unjudged pairs that have grade t or more,
        K_t      the number of known pairs with grade t or more,
        known_t  the sum of the discounts at the ranks of those known pairs that are in the list,
        w_t      v(t) - v(t - 1),
        S(m)     the sum of the first m discounts,
        T(x)     the sum of the discounts at the x topmost unjudged ranks.

    For fixed x_t, N is highest if higher grades are at higher ranks. Then N is the sum of
    w_t (known_t + T(x_t)), and D is the sum of w_t S(K_t + x_t). Dinkelbach's method (On nonlinear
    fractional programming, 1967) starts with c = N / D, the known score. It repeatedly maximises
    N - c D and replaces c by N / D of the maximum, until c stays the same. Each term of N - c D can
    be maximised separately: the discounts fall with the rank, so the smallest best x_t is higher or
    equal for a higher K_t. K_t never grows with t, so x_1 >= x_2 >= ... as required.

    A column j of an array [B, depth + 1] is the outcome in which the unjudged pairs of the first j
    ranks (from the top) or of the last j ranks (from the bottom) are relevant.
    """

    def __init__(
        self,
        gains: GainArray,
        free: BoolArray,
        unlisted: IntArray,
        labels: Judged,
        start: int,
        rel: int,
        highest: int,
    ) -> None:
        """Store a block of queries.

        gains, free: [B, depth], the known gain of each cell of the lists, and whether the cell is
        unjudged. unlisted: [B], number of unjudged pairs outside of each list. start: the number of
        the first query. rel: the lowest gain of a positive. highest: the highest possible grade.
        """
        known = labels.rows_of(start, start + len(gains))
        self.gains, self.free, self.unlisted = gains, free, unlisted
        self.rel, self.highest, self.n_videos = rel, highest, labels.n_videos
        self.query = labels.space.queries(labels.codes[known]) - start
        self.known_gains = labels.gains[known]
        self.rank = np.arange(1, gains.shape[1] + 1)

    def bound(self, measure: Measure, known: FloatArray) -> Sides:
        """Return lowest and highest over the listed pairs, and lowest over all: [B] each."""
        self.known = known
        low, high, low_all = measure.kind.sides(self, measure)
        # If nothing can vary, return the known score itself.
        listed = self.free.any(axis=1)
        low = np.where(listed, np.minimum(known, low), known)
        high = np.where(listed, np.maximum(known, high), known)
        return low, high, np.where(self.unlisted > 0, np.minimum(low, low_all), low)

    def recall(self, cutoff: int | None) -> Sides:
        """Return the bounds of R."""
        within = self._within(cutoff)
        base, added = (self.hit & within).sum(axis=1), self.free & within
        return self._bound_by_positives(base, added, added)

    def average_precision(self, cutoff: int | None) -> Sides:
        """Return the bounds of AP."""
        return self._bound_by_positives(*self._precision_sums(cutoff))

    def average_precision_found(self, cutoff: int | None) -> Sides:
        """Return the bounds of AP(found)."""
        base, from_top, from_bottom = self._precision_sums(cutoff)
        within = self._within(cutoff)
        found = (self.hit & within).sum(axis=1)
        low = divide(_from_bottom(base, from_bottom), _from_bottom(found, self.free & within))
        high = divide(_from_top(base, from_top), _from_top(found, self.free & within))
        lowest = low.min(axis=1)
        return lowest, high.max(axis=1), lowest

    def _bound_by_positives(
        self, base: npt.NDArray[Any], from_top: npt.NDArray[Any], from_bottom: npt.NDArray[Any]
    ) -> Sides:
        """Return the bounds of sums divided by the number of all positives.

        base: the sum of the known positives, [B]. from_top, from_bottom: the amount that each
        unjudged pair adds if all those above it, or below it, are relevant, [B, depth].
        """
        positives = self.positives
        lowest = _from_bottom(base, from_bottom)
        relevant = _from_bottom(positives, self.free)
        highest = divide(_from_top(base, from_top), _from_top(positives, self.free))
        return (
            divide(lowest, relevant).min(axis=1),
            highest.max(axis=1),
            divide(lowest, relevant + self.unlisted[:, None]).min(axis=1),
        )

    def _precision_sums(self, cutoff: int | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the sums of precision at the positives, and the increase by each unjudged pair.

        The results are `base`, `from_top` and `from_bottom` of `_bound_by_positives`. An additional
        positive adds the precision at its rank, and 1 / rank at each positive below it.
        """
        weight = self._within(cutoff) / self.rank
        hits, free = self.hit * weight, self.free * weight
        hits_above = before(self.hit)
        base = (hits * (hits_above + 1)).sum(axis=1)
        below = _after(hits)
        from_top = self.free * ((hits_above + before(self.free) + 1) * weight + below)
        from_bottom = self.free * ((hits_above + 1) * weight + below + _after(free))
        return base, from_top, from_bottom

    def ndcg(self, cutoff: int | None, value: Callable[[Any], FloatArray]) -> Sides:
        """Return the bounds of nDCG. value: the value of gains."""
        discount = self._within(cutoff) / np.log2(self.rank + 1)
        base = (np.where(self.gains > 0, value(self.gains), 0.0) * discount).sum(axis=1)
        place = np.arange(1, self.n_videos + 1)
        best = (place <= (cutoff or self.n_videos)) / np.log2(place + 1)
        ideal = np.concatenate([[0.0], np.cumsum(best)])
        steps, fixed = self._steps(value, ideal)
        listed = self.free * discount
        lowest = _from_bottom(base, listed * value(np.int8(self.highest)))
        count = _from_bottom(np.zeros(len(self.free), np.int64), self.free)

        def divisor(relevant: IntArray) -> FloatArray:
            sums = (width * ideal[at_least[:, None] + relevant] for width, at_least in steps)
            return np.asarray(sum(sums, fixed[:, None]))

        return (
            divide(lowest, divisor(count)).min(axis=1),
            self._highest_ndcg(base, listed, steps, fixed, ideal),
            divide(lowest, divisor(count + self.unlisted[:, None])).min(axis=1),
        )

    def _highest_ndcg(
        self,
        base: FloatArray,
        listed: FloatArray,
        steps: list[tuple[float, IntArray]],
        fixed: FloatArray,
        ideal: FloatArray,
    ) -> FloatArray:
        """Apply Dinkelbach's method to the queries that have an unjudged pair in their list."""
        highest = self.known.copy()
        rows = np.flatnonzero(self.free.any(axis=1))
        reached = _from_top(np.zeros(len(rows)), listed[rows])
        count = _from_top(np.zeros(len(rows), np.int64), self.free[rows])
        divisors = [(width, ideal[at_least[rows, None] + count]) for width, at_least in steps]
        ratio = self.known[rows]
        while True:
            dividend, divisor = base[rows], fixed[rows]
            for width, sums in divisors:
                at = np.argmax(reached - ratio[:, None] * sums, axis=1)[:, None]
                dividend = dividend + width * np.take_along_axis(reached, at, axis=1)[:, 0]
                divisor = divisor + width * np.take_along_axis(sums, at, axis=1)[:, 0]
            raised = divide(dividend, divisor)
            if not np.any(raised > ratio * (1 + _NO_RISE)):
                break
            ratio = np.maximum(ratio, raised)
        highest[rows] = ratio
        return highest

    def _steps(
        self, value: Callable[[Any], FloatArray], ideal: FloatArray
    ) -> tuple[list[tuple[float, IntArray]], FloatArray]:
        """Return the divisor of nDCG as a sum over steps of the scale.

        For each step up to the highest grade, the list contains the increase of the value over the
        step below, and the number of known pairs of each query that reach the step, [B]. The second
        result is the sum over the steps above the highest grade, which only known pairs reach, [B].
        Grades without a known gain between them form one step.
        """
        grades = np.unique(np.append(self.known_gains[self.known_gains > 0], self.highest))
        increments = np.diff(value(grades.astype(np.int8)), prepend=0.0)
        steps, fixed = [], np.zeros(len(self.free))
        for grade, width in zip(grades.tolist(), increments.tolist(), strict=True):
            at_least = self._count_known(grade)
            if grade <= self.highest:
                steps.append((width, at_least))
            else:
                fixed += width * ideal[at_least]
        return steps, fixed

    @cached_property
    def hit(self) -> BoolArray:
        """Whether a cell is a known positive, bool [B, depth]."""
        return self.gains >= self.rel

    @cached_property
    def positives(self) -> IntArray:
        """The number of known positives of each query, int64 [B]."""
        return self._count_known(self.rel)

    def _count_known(self, gain: int) -> IntArray:
        """Return the number of known pairs of each query with at least this gain, [B].

        Pairs outside of the list are included.
        """
        kept = self.query[self.known_gains >= gain]
        return np.bincount(kept, minlength=len(self.gains))

    def _within(self, cutoff: int | None) -> BoolArray:
        return self.rank <= (cutoff or len(self.rank))


def _from_top(base: npt.NDArray[Any], added: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return base [B] plus the sum of `added` over the first 0, 1, 2, … ranks: [B, depth + 1]."""
    sums = np.empty((len(base), added.shape[1] + 1), np.result_type(base, added, np.int64))
    sums[:, 0] = base
    np.cumsum(added, axis=1, out=sums[:, 1:])
    sums[:, 1:] += base[:, None]
    return sums


def _from_bottom(base: npt.NDArray[Any], added: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return base [B] plus the sum of `added` over the last 0, 1, 2, … ranks: [B, depth + 1]."""
    return _from_top(base, added[:, ::-1])


def before(flags: BoolArray) -> IntArray:
    """Return the number of true cells to the left of each cell, int64 [B, depth]."""
    return np.cumsum(flags, axis=1, dtype=np.int64) - flags


def _after(values: FloatArray) -> FloatArray:
    """Return the sum of the values to the right of each cell."""
    return np.asarray(np.cumsum(values[:, ::-1], axis=1)[:, ::-1] - values)
