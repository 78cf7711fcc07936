"""The difference of two systems from captions drawn for both, while people judge and at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray
from evaluation.core.estimates import means, sequences
from evaluation.core.estimates.drawn import Progress, values_now
from evaluation.core.estimates.frames import TopPairs, is_correct_at
from evaluation.core.estimates.shares import Interval
from evaluation.core.estimates.systems import BothStratum, Stratum, compare_strata
from evaluation.core.estimates.values import (
    FEWEST_CAPTIONS,
    LOOKING_ALPHA,
    Z_AT_END,
    Estimate,
    Method,
    Refusal,
)
from evaluation.core.relevance.measures import Measure

ONLY_FIRST, ONLY_SECOND, BOTH = 0, 1, 2
"""The strata: which systems a caption is undecided for."""

# With fewer captions, the interval while people judge was not simulated.
FEWEST_LOOKED_AT = 24
Z_MOST = 8.0


def strata_of(first: BoolArray, second: BoolArray) -> IntArray:
    """Return the stratum of each caption, int64 [n]; -1 if it is decided for both systems."""
    return np.select([first & ~second, second & ~first, first & second], [0, 1, 2], -1)


@dataclass(frozen=True, slots=True)
class PairPopulation:
    """The captions among which a sample was drawn for two systems, for one measure.

    sizes: the captions of the three strata. base: the sum of the differences of all captions that
    are decided for both. known: the sum of the known values of the decided system in the strata
    `ONLY_FIRST` and `ONLY_SECOND`. mean_predicted: the mean predicted difference of all strata.
    """

    measure: Measure
    n_all: int
    sizes: tuple[int, int, int]
    base: float
    known: tuple[float, float]
    mean_predicted: float

    @property
    def size(self) -> int:
        return sum(self.sizes)


class Side(NamedTuple):
    """The pairs of one system for the drawn captions, with the labels before the draw and now."""

    pairs: TopPairs
    current: GainArray


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference now. p: two-sided, of no difference; None unless judging has ended."""

    progress: Progress
    p: float | None


def difference_of(
    population: PairPopulation, strata: IntArray, sides: Sequence[Side], predicted: FloatArray
) -> Difference:
    """Return the difference of two systems from the labels now.

    strata: int64 [n], of the drawn captions in the drawn order. sides: of both systems. predicted:
    float64 [n], the predicted differences.
    """
    measure = population.measure
    (low_a, high_a, waits_a), (low_b, high_b, waits_b) = (
        values_now(measure, side.pairs, side.current) for side in sides
    )
    waits = waits_a | waits_b
    n = len(waits) if not waits.any() else int(np.argmax(waits))
    first, planned = slice(0, n), len(waits)
    conflicts = int(np.count_nonzero((low_a != high_a)[first] | (low_b != high_b)[first]))
    ends = [(low_a[first], high_b[first]), (high_a[first], low_b[first])]
    at = [
        partial(_interval, population, strata[first], a, b, predicted[first], planned)
        for a, b in ends
    ]
    estimate = _between(population, at, strata, n, planned)
    p = None
    if estimate.value is not None and n == planned and not conflicts:
        p = p_of(lambda z: at[0](z=z))
    return Difference(Progress(estimate, planned, n, conflicts), p)


def _between(
    population: PairPopulation,
    at: Sequence[Callable[..., Interval]],
    strata: IntArray,
    n: int,
    planned: int,
) -> Estimate:
    by_strata = is_correct_at(population.measure)
    method = Method.TWO_STRATA if by_strata else Method.DIFFERENCE
    if n < planned and not by_strata:
        method = Method.MEAN_SEQUENCE
    if planned < min(FEWEST_CAPTIONS, population.size):
        return Estimate.refused(method, Refusal.FEW_CAPTIONS, n, population.size)
    has_all = all(
        (strata[:n] == stratum).any() for stratum in range(3) if population.sizes[stratum]
    )
    if n < planned and (n < FEWEST_LOOKED_AT or not has_all):
        return Estimate.refused(method, Refusal.UNJUDGED, n, population.size)
    found = [one(z=None) for one in at]
    low, high = min(float(one.low) for one in found), max(float(one.high) for one in found)
    value = sum(float(one.value) for one in found) / 2
    return Estimate(method, value, max(low, -1.0), min(high, 1.0), n, population.size)


def _interval(
    population: PairPopulation,
    strata: IntArray,
    a: FloatArray,
    b: FloatArray,
    predicted: FloatArray,
    planned: int,
    *,
    z: float | None,
) -> Interval:
    """Return the difference. z: the normal quantile; None: as it is reported."""
    n, size = len(a), population.size
    if is_correct_at(population.measure):
        if z is None and n < planned:
            z = float(sequences.z_of_sequence(n, size, planned, LOOKING_ALPHA))
        return _by_strata(population, strata, a, b, z or Z_AT_END)
    if z is None and n < planned:
        found = sequences.mean_sequence(
            a - b, predicted, population.mean_predicted, size, planned, LOOKING_ALPHA
        )
    else:
        confidence = means.confidence_of(z or Z_AT_END)
        found = means.difference_estimate(
            a - b, predicted, population.mean_predicted, size, 1.0, confidence
        )
    return found.moved(population.base / population.n_all, size / population.n_all)


def _by_strata(
    population: PairPopulation, strata: IntArray, a: FloatArray, b: FloatArray, z: float
) -> Interval:
    size_a, size_b, size_both = population.sizes
    in_a, in_b, in_both = (strata == stratum for stratum in range(3))
    both = 2 * a[in_both] + b[in_both]
    cells = [int(np.count_nonzero(both == value)) for value in (3, 2, 1, 0)]
    return compare_strata(
        round(population.base),
        population.n_all,
        Stratum(size_a, int(in_a.sum()), a[in_a].sum(), round(population.known[0])),
        Stratum(size_b, int(in_b.sum()), b[in_b].sum(), round(population.known[1])),
        BothStratum(size_both, int(in_both.sum()), cells),
        z,
    )


def p_of(interval_at: Callable[[float], Interval]) -> float:
    """Return the two-sided p of no difference: the level at which the interval just excludes 0.

    interval_at: returns the interval for a normal quantile.
    """

    def excludes(z: float) -> bool:
        found = interval_at(z)
        return bool(found.low > 0 or found.high < 0)

    low, high = 0.0, Z_MOST
    if not excludes(1e-6):
        return 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if excludes(middle) else (low, middle)
    return 1 - means.confidence_of(low)
