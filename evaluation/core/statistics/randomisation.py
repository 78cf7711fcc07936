"""Fisher's randomisation test of paired differences.

Were two systems equal, each difference might as well have the other sign. p is the share of all
sign assignments whose sum is as far from 0 as the observed one or farther (Smucker, Allan and
Carterette 2007). Exact where that share can be counted, else from seeded draws with the observed
one counted among them: (1 + those as far) / (1 + draws) (Davison and Hinkley 1997, 4.2.5).
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

# Sums of the same numbers in another order differ in their last digits.
ALIKE: Final = 1 - 1e-12
# 2^20 sums of signed differences are counted in some ten milliseconds, whatever their values.
_ENUMERATED: Final = 20
# Up to here the distribution of a sum of whole numbers is convolved in a tenth of a second.
_CONVOLVED: Final = 1 << 14
# Of more numbers than that, neighbours are drawn by group.
_SIGNED: Final = 1 << 13
_SMALLEST_P: Final = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class PValue:
    """Two-sided p and the random draws it rests on; 0 draws: it is exact. Never 0 itself."""

    p: float
    draws: int

    @property
    def is_exact(self) -> bool:
        return self.draws == 0


def randomisation_test(
    differences: npt.ArrayLike,
    draws: int = 10_000,
    *,
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
) -> PValue:
    """Fisher's randomisation test of per-query differences [n_queries], by sign assignments.

    By cluster, the queries of a cluster change their sign together. Exact where all differences
    (or sums of clusters) are small whole numbers, as those of C@k are, or where at most twenty are
    not 0. Raises ValueError for values that are not finite and for fewer than one draw.
    """
    check_resampling(draws, 0.5)
    units = check_values(differences, 1)
    if clusters is not None:
        units = sum_clusters(units[None], clusters)[0]
    units = units[signs_of(units) != 0]  # the others add nothing with either sign
    observed = float(units.sum())
    counted = _count_whole_numbers(units)
    if counted is not None:
        return _exact_p(_distribution_of_sums(*counted), int(abs(observed)))
    if len(units) <= _ENUMERATED:
        sums = _all_sums(units)
        return PValue(float(np.mean(_is_as_far(sums, observed))), 0)
    return sampled_p(_sampled_sums(units, draws, rng), observed)


def _count_whole_numbers(units: FloatArray) -> tuple[IntArray, IntArray] | None:
    """The different magnitudes of whole numbers, ascending, and how many there are of each.

    None where they are not whole, or where their distribution would take too long.
    """
    magnitudes, counts = np.unique(np.abs(units), return_counts=True)
    if np.any(magnitudes != np.rint(magnitudes)):
        return None
    if np.any(magnitudes != 1) and float(magnitudes @ counts) > _CONVOLVED:
        return None
    return magnitudes.astype(np.int64), counts.astype(np.int64)


def _distribution_of_sums(magnitudes: IntArray, counts: IntArray) -> FloatArray:
    """Chances of each sum of those numbers that keep a positive sign, [0 .. sum of all].

    Among c numbers of the same magnitude, a binomial number of c fair coins does.
    """
    chances = np.ones(1)
    for magnitude, count in zip(magnitudes.tolist(), counts.tolist(), strict=True):
        kept = np.zeros(magnitude * count + 1)
        kept[::magnitude] = _fair_binomial(count)
        chances = np.convolve(chances, kept)
    return chances


def _fair_binomial(n: int) -> FloatArray:
    """Chances of 0 to n heads among n fair coins, [n + 1].

    Relative to the middle and by the quotient of neighbours, so that the largest chances are the
    most exact ones, and nothing overflows.
    """
    heads = np.arange((n + 1) // 2, n)
    upper = np.exp(np.concatenate([[0.0], np.cumsum(np.log((n - heads) / (heads + 1)))]))
    # An even number has one middle, which stands in both halves.
    chances = np.concatenate([upper[::-1], upper[1 - n % 2 :]])
    return np.asarray(chances / chances.sum(), dtype=np.float64)


def _exact_p(chances: FloatArray, observed: int) -> PValue:
    """Chance that a signed sum is as far from 0 as observed, from those of the positive part."""
    if observed == 0:
        return PValue(1.0, 0)
    # Signed sum = 2 * positive part - total.
    tail = float(chances[(len(chances) - 1 + observed) // 2 :].sum())
    return PValue(min(1.0, max(2 * tail, _SMALLEST_P)), 0)


def _all_sums(units: FloatArray) -> FloatArray:
    """Sums under all sign assignments of the numbers: [2^n]."""
    sums = np.zeros(1)
    for unit in units.tolist():
        sums = np.concatenate([sums - unit, sums + unit])
    return sums


def _sampled_sums(units: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Sums under random sign assignments: [draws].

    Of many numbers: `_sum_groups`. Else they are taken by eight. Of each eight, the sums under all
    256 assignments are tabled, and a random byte picks one: an eighth of the draws, and no table of
    signs in memory.
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
    """The same of many numbers: [draws].

    As in `resampling._sum_groups`, with the same groups: how many of a group of neighbouring
    magnitudes keep a positive sign is a binomial number; what the deviations from the groups' means
    come to is drawn from the normal distribution of the same variance.
    """
    groups = split_neighbours(np.sort(np.abs(units)))
    sizes = np.array([len(group) for group in groups])
    means = np.array([group.mean() for group in groups])
    deviation = np.sqrt(sizes @ np.array([group.var() for group in groups]))
    positive = rng.binomial(sizes, 0.5, size=(draws, len(groups)))
    return np.asarray((2 * positive - sizes) @ means + deviation * rng.standard_normal(draws))


def _is_as_far(sums: FloatArray, observed: float) -> BoolArray:
    return np.asarray(np.abs(sums) >= abs(observed) * ALIKE)


def sampled_p(sums: FloatArray, observed: float) -> PValue:
    """(1 + draws as far as observed) / (1 + draws)."""
    as_far = int(np.count_nonzero(_is_as_far(sums, observed)))
    return PValue((1 + as_far) / (1 + len(sums)), len(sums))
