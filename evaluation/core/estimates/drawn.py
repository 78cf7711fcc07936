"""The estimate from a sample of captions while people judge it, and when they have finished."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray
from evaluation.core.estimates import means, sequences, shares
from evaluation.core.estimates.frames import TopPairs, is_correct_at
from evaluation.core.estimates.shares import Interval
from evaluation.core.estimates.values import (
    END_ALPHA,
    FEWEST_CAPTIONS,
    FEWEST_SURPRISES,
    LOOKING_ALPHA,
    Z_AT_END,
    Estimate,
    Method,
    Refusal,
)
from evaluation.core.relevance.measures import Measure

# What `current` contains for a pair in conflict, which only a lead can settle.
IN_CONFLICT = -2


@dataclass(frozen=True, slots=True)
class Population:
    """The captions among which a sample was drawn, for one measure.

    size: the undecided captions. decided_sum: the sum of the values of the others. mean_predicted:
    the mean prediction of the undecided ones.
    """

    measure: Measure
    n_all: int
    size: int
    decided_sum: float
    mean_predicted: float

    def of_all(self, found: Interval) -> Interval:
        """Return the score of all captions from the mean of the undecided ones."""
        return found.moved(self.decided_sum / self.n_all, self.size / self.n_all)


@dataclass(frozen=True, slots=True)
class Progress:
    """The estimate now. planned: the captions that were drawn. finished: the longest finished
    prefix of the drawn order. conflicts: the finished captions with a pair in conflict, which widen
    the interval. is_final: whether no label and no ruling can change the estimate.
    """

    estimate: Estimate
    planned: int
    finished: int
    conflicts: int

    @property
    def is_complete(self) -> bool:
        return self.finished == self.planned

    @property
    def is_final(self) -> bool:
        return self.is_complete and not self.conflicts


def progress_of(
    population: Population,
    pairs: TopPairs,
    predicted: FloatArray,
    current: GainArray,
    *,
    by_machine: bool = False,
) -> Progress:
    """Return the estimate from the labels now.

    pairs: the drawn undecided captions in the drawn order, with the labels before the draw.
    predicted: float64 [n], their predictions. current: int8 [n, depth], the labels now; UNJUDGED,
    or IN_CONFLICT, for a pair without one. by_machine: whether C@k is estimated with the machine,
    too, once all captions are judged. With few surprises, it is not.
    """
    low, high, waits = values_now(population.measure, pairs, current)
    finished = len(waits) if not waits.any() else int(np.argmax(waits))
    ends = [low[:finished], high[:finished]]
    estimate = _between(population, ends, predicted[:finished], len(waits), by_machine=by_machine)
    conflicts = int(np.count_nonzero(ends[0] != ends[1]))
    return Progress(estimate, len(waits), finished, conflicts)


def values_now(
    measure: Measure, pairs: TopPairs, current: GainArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the lowest and the highest value of each caption, and which captions wait.

    The two values differ where a pair is in conflict.
    """
    gains = np.where(pairs.unjudged, current, pairs.gains).astype(np.int8)
    in_conflict = gains == IN_CONFLICT
    # A caption is finished if no awaited label can change it, however conflicts are settled.
    low = replace(pairs, gains=np.where(in_conflict, 0, gains).astype(np.int8))
    high = replace(pairs, gains=np.where(in_conflict, 1, gains).astype(np.int8))
    waits = low.undecided(measure) | (False if is_correct_at(measure) else high.undecided(measure))
    zeros = np.zeros(gains.shape)
    lowest, highest = (side.values([measure], zeros)[measure] for side in (low, high))
    return lowest, highest, np.asarray(waits)


def _between(
    population: Population,
    ends: list[FloatArray],
    predicted: FloatArray,
    planned: int,
    *,
    by_machine: bool,
) -> Estimate:
    """Return the estimate whose interval covers both ways to settle all conflicts."""
    n, ended = len(predicted), len(predicted) == planned
    by_machine = by_machine and all(
        np.count_nonzero(np.abs(m - predicted) > 0.5) >= FEWEST_SURPRISES for m in ends
    )
    method = _method(population.measure, ended=ended, by_machine=by_machine)
    if planned < min(FEWEST_CAPTIONS, population.size):
        return Estimate.refused(method, Refusal.FEW_CAPTIONS, n, population.size)
    if n == 0 or (method is Method.MEAN_SEQUENCE and n < 10):
        return Estimate.refused(method, Refusal.UNJUDGED, n, population.size)
    found = [population.of_all(_interval(population, m, predicted, planned, method)) for m in ends]
    low, high = min(float(one.low) for one in found), max(float(one.high) for one in found)
    value = sum(float(one.value) for one in found) / 2
    value, low, high = (min(1.0, max(0.0, part)) for part in (value, low, high))
    return Estimate(method, value, low, high, n, population.size)


def _method(measure: Measure, *, ended: bool, by_machine: bool) -> Method:
    if is_correct_at(measure) and not (ended and by_machine):
        return Method.WILSON if ended else Method.SEQUENCE
    return Method.DIFFERENCE if ended else Method.MEAN_SEQUENCE


def _interval(
    population: Population, m: FloatArray, f: FloatArray, planned: int, method: Method
) -> Interval:
    """Return the interval of the mean of the undecided captions."""
    n, size = len(m), population.size
    if method is Method.WILSON:
        return shares.wilson(int(m.sum()), n, size, Z_AT_END)
    if method is Method.SEQUENCE:
        x = int(m.sum())
        kept = sequences.share_sequence(size, n, x, LOOKING_ALPHA)
        return Interval(*(np.asarray(v) for v in (x / n, kept.low / size, kept.high / size)))
    if method is Method.DIFFERENCE and n >= 3:
        return means.difference_estimate(
            m, f, population.mean_predicted, size, 1.0, confidence=1 - END_ALPHA
        )
    return sequences.mean_sequence(m, f, population.mean_predicted, size, planned, LOOKING_ALPHA)


def blocks_to_judge(pairs: TopPairs, current: GainArray, block_of_rank: IntArray) -> IntArray:
    """Return the block of ranks that each caption needs for C@k, int64 [n]; -1 if it is finished.

    block_of_rank: int64 [depth], the block of each rank, from 0. The block is the first one with an
    unjudged pair. A caption is finished if a pair is relevant or all are judged.
    """
    gains = np.where(pairs.unjudged, current, pairs.gains)
    is_open = (gains < 0) & pairs.is_item
    finished = (gains >= 1).any(axis=1) | ~is_open.any(axis=1)
    return np.where(finished, -1, block_of_rank[np.argmax(is_open, axis=1)])
