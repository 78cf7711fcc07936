"""Confidence sequences: intervals that stay valid if judging can stop at any time.

An ordinary 95 % interval is valid for one examination of the data. If judging stops as soon as such
an interval is narrow or excludes 0, the data are examined many times, and the error is far above
5 %. A confidence sequence has an interval after every unit. With probability 1 - alpha, all of them
contain the true value. Judging can therefore stop at any time and for any reason.

The estimated value is the mean over all queries of the benchmark when every pair is judged. Units
are judged in random order. Each unit is judged completely, and none twice. A unit is a query, or a
video with all its queries, depending on which of them is in random order. Only this random order
makes the intervals valid. There are no assumptions about the values. It does no harm that the
values of one video's queries are dependent, if these queries form one unit, or if the random order
ignores videos. In any other order, such as a list by video or pairs in the order of a run, the
intervals are not valid.

The sequence is the empirical-Bernstein sequence of Waudby-Smith and Ramdas, Estimating means of
bounded random variables by betting (JRSS B 2024), Theorem 2. The correction for sampling without
replacement is from their Confidence sequences for sampling without replacement (NeurIPS 2020). Let
there be N units with sums s_i of their values (each value in [0, 1]) and sizes n_i, in the order of
judging. Let n_max be the largest size:

T        unknown sum of all values; T / sum of n_i is the mean
S, R     sum of the values before unit i, and number of queries not yet judged before unit i
p_i      predicted mean of the values, from the units before i
z_i      (s_i + p_i (n_max - n_i)) / n_max: a smaller unit is filled with the prediction, so that
         differences in size add no variance. Given the units before i, the mean of z_i is mean_i =
         ((T - S) / (N - i + 1) + p_i (n_max - R / (N - i + 1))) / n_max
v_i      (z_i - p_i)^2
l_i      the bet, computed from the units before i, at most 3/4

By the inequality of Fan, Grama and Liu (2015), exp(sum of l_i (z_i - mean_i) - v_i psi(l_i)), with
psi(l) = -ln(1 - l) - l, is a supermartingale. So is the same expression with the opposite sign of
z_i - mean_i. By Ville's inequality, both always stay below 2 / alpha with probability 1 - alpha.
This bounds T from both sides.

The intervals are valid for any bets. The bets of this module are chosen to reach a half-width of w
(the parameter `aim`) after few units. The best fixed bet for this is w / variance (in the units of
z). Without replacement, the bet grows with N / (N - i + 1), as fewer units remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray

HIGHEST_BET: Final = 0.75
# The prediction and the variance start with these values, with the weight of one unit.
_PRIOR_MEAN, _PRIOR_VARIANCE = 0.5, 0.25


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceSequence:
    """Bounds of the final mean after each of t units.

    low, high: float64 [..., t]. With probability 1 - alpha, all intervals contain the final mean.
    estimate: float64 [..., t], the mean over the queries of the units so far.
    """

    low: FloatArray
    high: FloatArray
    estimate: FloatArray

    @property
    def half_width(self) -> FloatArray:
        """Half the width of each interval, float64 [..., t]."""
        return (self.high - self.low) / 2

    def moved(self, by: float, scale: float) -> ConfidenceSequence:
        """Return the sequence for `by + scale * mean`. The scale must be above 0."""
        low, high, estimate = (by + scale * bound for bound in (self.low, self.high, self.estimate))
        return ConfidenceSequence(low, high, estimate)

    def excludes(self, mean: float) -> BoolArray:
        """Return whether this mean is outside of the interval after each unit, bool [..., t]."""
        return np.asarray((self.low > mean) | (self.high < mean))


def confidence_sequence(
    sums: npt.ArrayLike,
    sizes: npt.ArrayLike,
    *,
    seen: int | None = None,
    alpha: float = 0.05,
    aim: float = 0.02,
) -> ConfidenceSequence:
    """Return bounds of the mean over all queries, after each of the first `seen` units.

    sums: float64 [..., N], the sum of each unit's values, each value in [0, 1], in the random order
    in which units are judged; sums after the first `seen` units are not read. sizes: [N], the
    number of queries of each unit, at least 1, for all units. seen: number of judged units; None
    for all. alpha: the largest probability that any of the intervals does not contain the mean,
    over all orders. aim: the half-width, above 0 and at most 1, for which the bets are optimal; it
    does not affect validity.

    Raises ValueError if a parameter is out of bounds, or a sum is below 0 or above the size of its
    unit.
    """
    size = np.asarray(sizes, dtype=np.float64)
    total = np.asarray(sums, dtype=np.float64)
    n_units = len(size)
    n_seen = n_units if seen is None else seen
    if not 0 < alpha < 1 or not 0 < aim <= 1 or not 0 <= n_seen <= n_units:
        raise ValueError(
            "alpha and aim must be between 0 and 1, and seen at most the number of units"
        )
    if total.shape[-1:] != size.shape or (size < 1).any():
        raise ValueError("each unit needs a sum and a size of at least 1")
    n_queries, largest = size.sum(), size.max(initial=1)
    size, total = size[:n_seen], total[..., :n_seen]
    if (total < -1e-9).any() or (total > size + 1e-9).any():
        raise ValueError("a sum is below 0 or above the size of its unit")
    left = n_units - np.arange(n_seen)  # number of units from the i-th on
    sum_seen, size_seen = np.cumsum(total, axis=-1), np.cumsum(size)
    sum_before, rest = sum_seen - total, n_queries - (size_seen - size)
    mean_size = n_queries / max(1, n_units)
    # The prior has the weight of one unit of mean size.
    predicted = (_PRIOR_MEAN * mean_size + sum_before) / (mean_size + size_seen - size)
    predicted = np.clip(predicted, 0, 1)
    variances = ((total - predicted * size) / largest) ** 2
    bets = _bets(variances, left, n_units, aim * mean_size / largest)
    # The sum of bets * (z - mean of z) is `signal - weight * T`.
    signal = total - predicted * size + (sum_before + predicted * rest) / left
    signal = np.cumsum(bets * signal, axis=-1) / largest
    weight = np.cumsum(bets / left, axis=-1) / largest
    penalty = np.cumsum(variances * (-np.log1p(-bets) - bets), axis=-1)
    radius = (np.log(2 / alpha) + penalty) / weight
    # Each unjudged query adds at least 0 and at most 1 to the sum.
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
    """Return bounds of the difference between two systems' means on the same queries, -1 to 1.

    sums, others: float64 [..., N], the sums of the first and of the second system. The other
    arguments and the errors are those of `confidence_sequence`. `aim` is the half-width of the
    difference.
    """
    size = np.asarray(sizes, dtype=np.float64)
    # (a - b + 1) / 2 lies in [0, 1].
    shifted = (np.asarray(sums, np.float64) - np.asarray(others, np.float64) + size) / 2
    sequence = confidence_sequence(shifted, size, seen=seen, alpha=alpha, aim=aim / 2)
    return sequence.moved(-1, 2)


def first_stop(can_stop: BoolArray) -> int | None:
    """Return the number of units after which a stopping rule is first met, or None.

    can_stop: bool [t], whether the rule is met after each unit.
    """
    stops = np.flatnonzero(can_stop)
    return int(stops[0]) + 1 if stops.size else None


def _bets(
    variances: FloatArray, left: npt.NDArray[np.int64], n_units: int, aim: float
) -> FloatArray:
    """Return the bet on each unit, computed from the variances of the units before it: [..., t]."""
    number = np.arange(variances.shape[-1])
    before = (_PRIOR_VARIANCE + np.cumsum(variances, axis=-1) - variances) / (1 + number)
    bets = aim * n_units / left / np.maximum(before, 1e-12)
    return np.asarray(np.minimum(bets, HIGHEST_BET))


def _narrowing(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limit each interval by all earlier ones, because all intervals are valid together.

    If an interval excludes an earlier one, one of them does not contain the mean. The result is
    then a single point and stays one.
    """
    low, high = np.maximum.accumulate(low, axis=-1), np.minimum.accumulate(high, axis=-1)
    return low, np.maximum(low, high)
