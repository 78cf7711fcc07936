"""Intervals that hold at every look, for a rule that stops judging without hindsight.

An ordinary 95 % interval holds for one look. If judging stops as soon as such an interval is
narrow, or excludes 0, there are many looks, and the error is far above 5 %. A confidence sequence
has an interval for each moment. With probability 1 - alpha, all of them hold together. So judging
may stop at any moment and for any reason.

The estimate is the mean that all queries of the benchmark will have once every pair is judged.
Units are judged in a random order, each completely, and none twice. A unit is a query, or a video
with all its queries, depending on which was put in random order. The order alone makes the interval
valid. Nothing is assumed about the values. Queries of one video may be as alike as they are if they
form one unit, or if the order ignores their videos. In any other order (a list by video, or pairs
that a run found first) the intervals are not valid.

The sequence is the empirical-Bernstein one of Waudby-Smith and Ramdas, Estimating means of bounded
random variables by betting (JRSS B 2024), Theorem 2, with the correction for sampling without
replacement of their Confidence sequences for sampling without replacement (NeurIPS 2020). Notation
for N units with sums s_i of their values (each in [0, 1]) and sizes n_i, in the order judged:

T        sum of all values, the unknown; T / sum of n_i is the mean
S, R     sum of the values seen so far, and number of queries not seen yet, before unit i
p_i      predicted mean of the values, from the units before i
z_i      (s_i + p_i (n_max - n_i)) / n_max: a smaller unit is filled up with the prediction, so that
         differences in size add no variance. Its mean, given the units before, is
         ((T - S) / (N - i + 1) + p_i (n_max - R / (N - i + 1))) / n_max
v_i      (z_i - p_i)^2
l_i      the bet, from the units before i, at most 3/4

By the inequality of Fan, Grama and Liu (2015), exp(sum of l_i (z_i - mean_i) - v_i psi(l_i)), with
psi(l) = -ln(1 - l) - l, is a supermartingale, and so is its mirror image. By Ville's inequality
both stay below 2 / alpha for ever with probability 1 - alpha, which bounds T from both sides.

Any bets are valid. These aim at a half-width w: a fixed bet is best at the moment at which the
interval is about as wide as wanted, if it is w / variance (in the units of z); without replacement
it grows as the rest shrinks, with N / (N - i + 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray

HIGHEST_BET: Final = 0.75
# Before any value is seen, values count as one half with this variance, as of one unit.
_PRIOR_MEAN, _PRIOR_VARIANCE = 0.5, 0.25


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceSequence:
    """Bounds of the final mean after each unit: low and high, float64 [..., t], and the ordinary
    estimate from the units so far. With probability 1 - alpha all bounds hold."""

    low: FloatArray
    high: FloatArray
    estimate: FloatArray

    @property
    def half_width(self) -> FloatArray:
        return (self.high - self.low) / 2

    def moved(self, by: float, scale: float) -> ConfidenceSequence:
        """Return the sequence of `by + scale * mean`, for a scale above 0."""
        low, high, estimate = (by + scale * bound for bound in (self.low, self.high, self.estimate))
        return ConfidenceSequence(low, high, estimate)

    def excludes(self, mean: float) -> BoolArray:
        """Return whether this mean lies outside of the bounds, after each unit."""
        return np.asarray((self.low > mean) | (self.high < mean))


def confidence_sequence(
    sums: npt.ArrayLike,
    sizes: npt.ArrayLike,
    *,
    seen: int | None = None,
    alpha: float = 0.05,
    aim: float = 0.02,
) -> ConfidenceSequence:
    """Return bounds of the mean over all queries, after each of the first `seen` units (None: all).

    sums: float64 [..., N], sum of the values of each unit's queries, each value in [0, 1], in the
    random order in which units are judged; what follows the first `seen` units is not read. sizes:
    [N], the number of queries of each unit, at least 1, known for all units in advance.
    alpha: the share of all orders in which one of the bounds may fail. aim: the half-width, as a
    share, at which the bounds are to be as narrow as possible; it does not affect their validity.

    Raises ValueError for parameters out of bounds, and for sums below 0 or above their size.
    """
    size = np.asarray(sizes, dtype=np.float64)
    total = np.asarray(sums, dtype=np.float64)
    n_units = len(size)
    n_seen = n_units if seen is None else seen
    if not 0 < alpha < 1 or not 0 < aim <= 1 or not 0 <= n_seen <= n_units:
        raise ValueError("alpha and aim lie between 0 and 1, and seen between 0 and all units")
    if total.shape[-1:] != size.shape or (size < 1).any():
        raise ValueError("each unit needs a sum and a size of at least 1")
    n_queries, largest = size.sum(), size.max(initial=1)
    size, total = size[:n_seen], total[..., :n_seen]
    if (total < -1e-9).any() or (total > size + 1e-9).any():
        raise ValueError("a sum is below 0 or above the size of its unit")
    left = n_units - np.arange(n_seen)  # units, the i-th included
    sum_seen, size_seen = np.cumsum(total, axis=-1), np.cumsum(size)
    sum_before, rest = sum_seen - total, n_queries - (size_seen - size)
    mean_size = n_queries / max(1, n_units)
    # The prior counts as one unit of mean size.
    predicted = (_PRIOR_MEAN * mean_size + sum_before) / (mean_size + size_seen - size)
    predicted = np.clip(predicted, 0, 1)
    variances = ((total - predicted * size) / largest) ** 2
    bets = _bets(variances, left, n_units, aim * mean_size / largest)
    # The sum of bets * (z - its mean) is `signal - weight * T`.
    signal = total - predicted * size + (sum_before + predicted * rest) / left
    signal = np.cumsum(bets * signal, axis=-1) / largest
    weight = np.cumsum(bets / left, axis=-1) / largest
    penalty = np.cumsum(variances * (-np.log1p(-bets) - bets), axis=-1)
    radius = (np.log(2 / alpha) + penalty) / weight
    # For each query, the part that is not judged yet adds at least 0 and at most 1.
    low = np.maximum(signal / weight - radius, sum_seen)
    high = np.minimum(signal / weight + radius, sum_seen + n_queries - size_seen)
    return ConfidenceSequence(
        *_narrowing(low / n_queries, high / n_queries), estimate=sum_seen / size_seen
    )


def difference_sequence(
    sums: npt.ArrayLike,
    others: npt.ArrayLike,
    sizes: npt.ArrayLike,
    *,
    seen: int | None = None,
    alpha: float = 0.05,
    aim: float = 0.02,
) -> ConfidenceSequence:
    """Return the same for the difference of two systems' means on the same queries, -1 to 1."""
    size = np.asarray(sizes, dtype=np.float64)
    # (a - b + 1) / 2 lies in [0, 1].
    shifted = (np.asarray(sums, np.float64) - np.asarray(others, np.float64) + size) / 2
    found = confidence_sequence(shifted, size, seen=seen, alpha=alpha, aim=aim / 2)
    return found.moved(-1, 2)


def first_stop(holds: BoolArray) -> int | None:
    """Return the number of units after which a rule first allows to stop, or None.

    holds: bool [t], whether the rule allows it after each unit.
    """
    found = np.flatnonzero(holds)
    return int(found[0]) + 1 if found.size else None


def _bets(
    variances: FloatArray, left: npt.NDArray[np.int64], n_units: int, aim: float
) -> FloatArray:
    """Return the bet on each unit, from the variances of the units before it: [..., t]."""
    number = np.arange(variances.shape[-1])
    before = (_PRIOR_VARIANCE + np.cumsum(variances, axis=-1) - variances) / (1 + number)
    bets = aim * n_units / left / np.maximum(before, 1e-12)
    return np.asarray(np.minimum(bets, HIGHEST_BET))


def _narrowing(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Keep bounds at all later moments, because bounds that hold together hold there, too.

    If earlier and later bounds contradict each other, one has failed. The interval is then a point
    and stays one.
    """
    low, high = np.maximum.accumulate(low, axis=-1), np.minimum.accumulate(high, axis=-1)
    return low, np.maximum(low, high)
