"""Fisher's randomisation test of paired differences.

If two systems were equal, each difference could have either sign. p is the share of all sign
assignments whose sum is at least as far from 0 as the observed sum (Smucker, Allan and Carterette
2007). p is exact if these assignments can be counted. Otherwise it is estimated from random
assignments: (1 + number at least as far) / (1 + draws) (Davison and Hinkley 1997, 4.2.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.people.alpha import check_resampling
from evaluation.core.statistics.resampling import check_values, split_neighbours, sum_clusters
from evaluation.core.statistics.ties import signs_of

# Two sums count as equal if their ratio is above this, because the order of addition changes the
# last digits.
ALIKE: Final = 1 - 1e-12
# Up to 20 differences, all 2^20 sums are computed, which takes about ten milliseconds.
_ENUMERATED: Final = 20
# If the differences are whole numbers, and their absolute values add up to at most this number, the
# distribution of their sum is computed, which takes a tenth of a second. There is no limit if all
# absolute values are 1.
_CONVOLVED: Final = 1 << 14
# With more differences than this, the signs of similar differences are drawn together.
_SIGNED: Final = 1 << 13
# An exact p can underflow to 0, but a p of 0 is impossible.
_SMALLEST_P: Final = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class PValue:
    """A two-sided p value, above 0. draws: number of random draws, 0 if p is exact."""

    p: float
    draws: int

    @property
    def is_exact(self) -> bool:
        """Whether p was computed without random draws."""
        return self.draws == 0


def randomisation_test(
    differences: npt.ArrayLike,
    draws: int = 10_000,
    *,
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
) -> PValue:
    """Return p of Fisher's randomisation test of per-query differences.

    differences: float64 [n_queries]. draws: number of random sign assignments if p is not exact.
    clusters: whole numbers [n_queries]; all queries of a cluster change their sign together. p is
    exact in two cases: if all differences (or sums of clusters) are small whole numbers, as with
    C@k, or if at most 20 of them are not 0. Raises ValueError if a value is not finite, if
    `differences` and `clusters` differ in length, or if `draws` is below 1.
    """
    check_resampling(draws, 0.5)
    units = check_values(differences, 1)
    if clusters is not None:
        units = sum_clusters(units[None], clusters)[0]
    units = units[signs_of(units) != 0]  # a difference of 0 adds nothing with either sign
    observed = float(units.sum())
    counted = _count_whole_numbers(units)
    if counted is not None:
        return _exact_p(_distribution_of_sums(*counted), int(abs(observed)))
    if len(units) <= _ENUMERATED:
        sums = _all_sums(units)
        return PValue(float(np.mean(_is_as_far(sums, observed))), 0)
    return sampled_p(_sampled_sums(units, draws, rng), observed)


def _count_whole_numbers(units: FloatArray) -> tuple[IntArray, IntArray] | None:
    """Return the different absolute values, ascending, and the number of each.

    Return None if they are not whole numbers, or if their distribution would take too long.
    """
    magnitudes, counts = np.unique(np.abs(units), return_counts=True)
    if np.any(magnitudes != np.rint(magnitudes)):
        return None
    if np.any(magnitudes != 1) and float(magnitudes @ counts) > _CONVOLVED:
        return None
    return magnitudes.astype(np.int64), counts.astype(np.int64)


def _distribution_of_sums(magnitudes: IntArray, counts: IntArray) -> FloatArray:
    """Return the probability of each sum of the numbers with a positive sign, float64 [total + 1].

    The sum lies between 0 and the total of all magnitudes. Among c numbers of the same magnitude,
    the number of positive signs is binomial.
    """
    chances = np.ones(1)
    for magnitude, count in zip(magnitudes.tolist(), counts.tolist(), strict=True):
        of_magnitude = np.zeros(magnitude * count + 1)
        of_magnitude[::magnitude] = _fair_binomial(count)
        chances = np.convolve(chances, of_magnitude)
    return chances


def _fair_binomial(n: int) -> FloatArray:
    """Return the probabilities of 0 to n heads among n fair coins, float64 [n + 1].

    The computation starts in the middle and multiplies by the ratio of neighbours. So nothing
    overflows, and the largest probabilities are the most exact.
    """
    heads = np.arange((n + 1) // 2, n)
    upper = np.exp(np.concatenate([[0.0], np.cumsum(np.log((n - heads) / (heads + 1)))]))
    # If n is even, both halves contain the middle, so one of the two is dropped.
    chances = np.concatenate([upper[::-1], upper[1 - n % 2 :]])
    return np.asarray(chances / chances.sum(), dtype=np.float64)


def _exact_p(chances: FloatArray, observed: int) -> PValue:
    """Return p from the probabilities of the sum of the numbers with a positive sign."""
    if observed == 0:
        return PValue(1.0, 0)
    # The signed sum is 2 * (sum of the numbers with a positive sign) - (sum of all numbers).
    tail = float(chances[(len(chances) - 1 + observed) // 2 :].sum())
    return PValue(min(1.0, max(2 * tail, _SMALLEST_P)), 0)


def _all_sums(units: FloatArray) -> FloatArray:
    """Return the sums under all sign assignments, float64 [2^n]."""
    sums = np.zeros(1)
    for unit in units.tolist():
        sums = np.concatenate([sums - unit, sums + unit])
    return sums


def _sampled_sums(units: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Return the sums under random sign assignments, float64 [draws].

    Many numbers are summed by `_sum_groups`. Fewer numbers are processed in groups of eight. For
    each group, the code computes the sums under all 256 assignments, and a random byte selects one.
    This needs an eighth of the random numbers, and no table of signs in memory.
    """
    if len(units) > _SIGNED:
        return _sum_groups(units, draws, rng)
    eights = np.zeros((-(-len(units) // 8), 8))
    eights.reshape(-1)[: len(units)] = units
    signs = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
    sums = np.zeros(draws)
    for eight in eights:
        sums += (signs @ eight)[np.frombuffer(rng.bytes(draws), dtype=np.uint8)]
    return sums


def _sum_groups(units: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Return the sums of many numbers under random sign assignments, float64 [draws].

    As in `resampling._sum_groups`, the numbers are divided into groups of similar magnitude. The
    number of positive signs in a group is binomial. The sum of the deviations from the means of the
    groups is drawn from a normal distribution with the same variance.
    """
    groups = split_neighbours(np.sort(np.abs(units)))
    sizes = np.array([len(group) for group in groups])
    means = np.array([group.mean() for group in groups])
    deviation = np.sqrt(sizes @ np.array([group.var() for group in groups]))
    positive = rng.binomial(sizes, 0.5, size=(draws, len(groups)))
    return np.asarray((2 * positive - sizes) @ means + deviation * rng.standard_normal(draws))


def _is_as_far(sums: FloatArray, observed: float) -> BoolArray:
    """Return whether each sum is at least as far from 0 as the observed one."""
    return np.asarray(np.abs(sums) >= abs(observed) * ALIKE)


def sampled_p(sums: FloatArray, observed: float) -> PValue:
    """Return (1 + number of sums at least as far from 0 as observed) / (1 + number of sums).

    sums: float64 [draws].
    """
    as_far = int(np.count_nonzero(_is_as_far(sums, observed)))
    return PValue((1 + as_far) / (1 + len(sums)), len(sums))
