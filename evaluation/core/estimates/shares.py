"""A share from a sample of the captions that no known label decides.

Of N captions, U are undecided. The others count as they are. n of the U are drawn without
replacement, and x of them turn out correct. Then

    C = (decided correct + U p) / N,    p = x / n with Wilson's interval for n_e = n / (1 - n / U)

The effective size n_e is that of an infinite population with the same variance. If all are drawn,
the interval is a point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.estimates.values import Z
from evaluation.core.statistics.proportions import wilson_intervals

# Each stratum of a machine gets at least this number of captions, if it has as many.
FEWEST_IN_STRATUM = 8


class Interval(NamedTuple):
    """Estimates with their intervals, float64 [...] each."""

    value: FloatArray
    low: FloatArray
    high: FloatArray

    def moved(self, by: float, scale: float) -> Interval:
        """Return the intervals of `by + scale * value`. The scale must not be negative."""
        return Interval(*(by + scale * end for end in self))


def effective_size(n: npt.ArrayLike, population: npt.ArrayLike) -> FloatArray:
    """Return n / (1 - n / population), which is infinite if all are drawn."""
    drawn, all_of_it = np.asarray(n, np.float64), np.asarray(population, np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(drawn / (1 - drawn / all_of_it))


def wilson(x: npt.ArrayLike, n: npt.ArrayLike, population: npt.ArrayLike, z: float = Z) -> Interval:
    """Return the share of a population from x of n drawn, with Wilson's interval.

    x, n, population: whole numbers of any shapes that fit together; n is at least 1.
    """
    shares = np.asarray(np.asarray(x, np.float64) / np.asarray(n, np.float64))
    sizes = np.broadcast_to(effective_size(n, population), shares.shape)
    ends = wilson_intervals(shares.ravel(), sizes.ravel(), z)
    return Interval(shares, *(ends[:, side].reshape(shares.shape) for side in (0, 1)))


def share_of_all(
    undecided: int, n: int, x: npt.ArrayLike, correct: int, n_all: int, z: float = Z
) -> Interval:
    """Return the share of correct captions among all. correct: decided captions that are."""
    return wilson(x, n, undecided, z).moved(correct / n_all, undecided / n_all)


def neyman(sizes: npt.ArrayLike, deviations: npt.ArrayLike, n: int) -> IntArray:
    """Divide n captions among strata in proportion to size times standard deviation.

    Each stratum gets at least 8, or all that it has. The result is int64, with the sum n.
    """
    weights = np.asarray(sizes, np.float64) * np.maximum(np.asarray(deviations, np.float64), 1e-9)
    return allot(weights, np.asarray(sizes, np.int64), n)


def allot(weights: FloatArray, sizes: IntArray, n: int) -> IntArray:
    """Divide n among strata by weights, each at least min(8, its size) and at most its size.

    Raises ValueError if n is above the sum of the sizes.
    """
    if n > sizes.sum():
        raise ValueError("more captions than there are")
    least = np.minimum(FEWEST_IN_STRATUM, sizes)
    while least.sum() > n:
        least[np.argmax(least)] -= 1
    fixed = np.full(len(sizes), -1)
    while True:
        free = fixed < 0
        left = n - fixed[~free].sum()
        shares = np.where(free, left * weights / max(weights[free].sum(), 1e-300), fixed)
        low, high = free & (shares < least), free & (shares > sizes)
        if not (low | high).any():
            return _rounded(shares, sizes, n)
        # Fix the bound that moves more captions, because those of the other bound then change.
        lacking, surplus = (least - shares)[low].sum(), (shares - sizes)[high].sum()
        fixed = np.where(low, least, fixed) if lacking >= surplus else np.where(high, sizes, fixed)


def _rounded(shares: FloatArray, sizes: IntArray, n: int) -> IntArray:
    """Return whole numbers with the sum n, by the largest remainders."""
    counts = np.floor(shares + 1e-9).astype(np.int64)
    rest = np.where(counts < sizes, shares - counts, -1.0)
    counts[np.argsort(-rest, kind="stable")[: n - counts.sum()]] += 1
    return counts


def stratified(
    sizes: npt.ArrayLike,
    n: npt.ArrayLike,
    x: npt.ArrayLike,
    correct: int,
    n_all: int,
    *,
    finite: bool = False,
    z: float = Z,
) -> Interval:
    """Return the share of correct captions from strata of the undecided ones.

    sizes, n: [h], the captions and the drawn captions of each stratum. x: [..., h], the correct
    ones. p_h = (x + 2/3) / (n + 4/3), and the variance is the sum of W_h^2 p_h (1 - p_h) / (n +
    4/3). finite: whether each variance is multiplied by 1 - n_h / U_h.
    """
    size, drawn = np.asarray(sizes, np.float64), np.asarray(n, np.float64)
    weights = size / n_all
    shares = (np.asarray(x, np.float64) + 2 / 3) / (drawn + 4 / 3)
    variances = weights**2 * shares * (1 - shares) / (drawn + 4 / 3)
    if finite:
        variances = variances * (1 - drawn / size)
    value = correct / n_all + (weights * shares).sum(axis=-1)
    half = z * np.sqrt(variances.sum(axis=-1))
    return Interval(value, value - half, value + half)


def stratified_by_squares(
    sizes: npt.ArrayLike, n: npt.ArrayLike, x: npt.ArrayLike, correct: int, n_all: int, z: float = Z
) -> Interval:
    """Return the same share by Wilson's interval in each stratum, with the squares added."""
    share = wilson(x, n, sizes, z)
    weights = np.asarray(sizes, np.float64) / n_all
    value = correct / n_all + (weights * share.value).sum(axis=-1)
    down, up = share.value - share.low, share.high - share.value
    return Interval(
        value,
        value - np.sqrt(((weights * down) ** 2).sum(axis=-1)),
        value + np.sqrt(((weights * up) ** 2).sum(axis=-1)),
    )
