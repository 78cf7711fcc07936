"""Whether systems differ by more than chance, and whether the labels change their order.

Per-query values of a measure are float64 [n_systems, n_queries]; all systems answered the same
queries, so everything is paired. Higher is better: negate ranks before comparing them.

randomisation  Fisher's test. Were two systems equal, each difference might as well have the other
               sign. p is the share of all sign assignments whose sum is as far from 0 as the
               observed one or farther (Smucker, Allan and Carterette 2007). Exact where that share
               can be counted, else from seeded draws with the observed one counted among them:
               (1 + those as far) / (1 + draws) (Davison and Hinkley 1997, 4.2.5)
bootstrap      the differences are moved to a mean of 0 and resampled; p is the share of resampled
               means as far from 0 as the observed one, counted in the same way (Efron and
               Tibshirani 1993, 16.4, of the plain mean)

With thousands of queries the slightest difference is significant. So a comparison also has the
difference with its interval, Cohen's d (mean / standard deviation of the differences) and the
queries won, tied and lost. All p are two-sided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.agreement import Estimate
from evaluation.core.alpha import NO_VARIATION, Interval
from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.resampling import (
    check_parameters,
    check_values,
    mean_interval,
    percentile_interval,
    resampled_means,
    sum_clusters,
    why_undefined,
)

NOT_TWO_SYSTEMS: Final = "a single system has no rival"

# Sums of the same numbers in another order differ in their last digits.
_ALIKE: Final = 1 - 1e-12
# 2^20 sums of signed differences are counted in some ten milliseconds, whatever their values.
_ENUMERATED: Final = 20
# Up to here the distribution of a sum of whole numbers is convolved in a tenth of a second.
_CONVOLVED: Final = 1 << 14
_SMALLEST_P: Final = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class PValue:
    """Two-sided p and the random draws it rests on; 0 draws: it is exact. Never 0 itself."""

    p: float
    draws: int

    @property
    def is_exact(self) -> bool:
        return self.draws == 0


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference of two systems over the same `n` queries, and how sure it is.

    effect: Cohen's d. wins: queries on which the first system is better.
    """

    n: int
    mean: float
    interval: Interval
    effect: Estimate
    wins: int
    ties: int
    losses: int
    randomisation: PValue
    bootstrap: PValue


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems, by number; the difference is system - other.

    adjusted: p of the randomisation test after Holm's correction over all pairs of systems.
    """

    system: int
    other: int
    difference: Difference
    adjusted: float


@dataclass(frozen=True, slots=True)
class SystemRank:
    """A system's rank, 1 is best, under two label sets, and between which ranks it falls when the
    queries are resampled (low, high; both reached)."""

    original: int
    labelled: int
    original_interval: tuple[int, int]
    labelled_interval: tuple[int, int]


@dataclass(frozen=True, slots=True)
class RankStability:
    """How alike two label sets rank the systems.

    tau: Kendall's tau-b of the two rankings, with its bootstrap interval. same_order: share of the
    resamples in which both rank all systems alike. ranks: one row for each system.
    """

    tau: Estimate
    interval: Interval
    same_order: float
    ranks: tuple[SystemRank, ...]


@dataclass(frozen=True, slots=True)
class Saturation:
    """Whether what is left to gain, 1 - mean, can still be told from noise.

    within_interval: the gap is at most half of the width of the mean's interval.
    within_disagreement: it is at most the share on which annotators disagree; None if not given.
    """

    mean: float
    gap: float
    interval: Interval
    within_interval: bool
    within_disagreement: bool | None

    @property
    def is_saturated(self) -> bool:
        return self.within_interval or bool(self.within_disagreement)


def compare_systems(
    values: npt.ArrayLike,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> tuple[Comparison, ...]:
    """Compare every two of the systems whose values [n_systems, n_queries] are given.

    The parameters, and what is refused, are those of `measure_difference`.
    """
    known = check_values(values, 2)
    pairs = list(combinations(range(len(known)), 2))
    differences = [
        measure_difference(
            known[system] - known[other],
            resamples,
            rng=rng,
            confidence=confidence,
            clusters=clusters,
        )
        for system, other in pairs
    ]
    adjusted = holm([difference.randomisation.p for difference in differences]).tolist()
    return tuple(
        Comparison(system, other, difference, p)
        for (system, other), difference, p in zip(pairs, differences, adjusted, strict=True)
    )


def measure_difference(
    differences: npt.ArrayLike,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> Difference:
    """Everything about per-query differences [n_queries] of two systems.

    clusters: whole numbers [n_queries]; queries of the same number are drawn, and change their
    sign, together. Raises ValueError for fewer than two queries or clusters, for values that are
    not finite and for parameters out of bounds.
    """
    check_parameters(resamples, confidence)
    known = check_values(differences, 1)
    _check_resamplable(known.size, clusters)
    mean = float(known.mean())
    means = resampled_means(known[None], resamples, rng=rng, clusters=clusters)[0]
    return Difference(
        n=known.size,
        mean=mean,
        interval=percentile_interval(means, confidence),
        effect=cohens_d(known),
        wins=int(np.count_nonzero(known > 0)),
        ties=int(np.count_nonzero(known == 0)),
        losses=int(np.count_nonzero(known < 0)),
        randomisation=randomisation_test(known, resamples, rng=rng, clusters=clusters),
        bootstrap=_sampled_p(means - mean, mean),
    )


def cohens_d(differences: FloatArray) -> Estimate:
    """Mean of the paired differences [n >= 2] in their standard deviations (Cohen 1988, d_z)."""
    mean, deviation = float(differences.mean()), float(differences.std(ddof=1))
    # Equal differences may still vary in their last digits.
    if deviation <= abs(mean) * (1 - _ALIKE):
        return Estimate(None, NO_VARIATION)
    return Estimate(mean / deviation)


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Adjusted p [n] of n tests, by Holm's step-down correction (Holm 1979).

    The smallest is multiplied by n, the next by n - 1 and so on; none comes below a smaller one,
    and none above 1.
    """
    p = check_values(p_values, 1)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1.0)


# --- Fisher's randomisation test ------------------------------------------------------------------


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
    check_parameters(draws, 0.5)
    units = check_values(differences, 1)
    if clusters is not None:
        units = sum_clusters(units[None], clusters)[0]
    units = units[units != 0]  # whatever their sign, they add nothing
    observed = float(units.sum())
    counted = _count_whole_numbers(units)
    if counted is not None:
        return _exact_p(_distribution_of_sums(*counted), int(abs(observed)))
    if len(units) <= _ENUMERATED:
        sums = _all_sums(units)
        return PValue(float(np.mean(_is_as_far(sums, observed))), 0)
    return _sampled_p(_sampled_sums(units, draws, rng), observed)


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

    The numbers are taken by eight. Of each eight, the sums under all 256 assignments are tabled,
    and a random byte picks one: an eighth of the draws, and no table of signs in memory.
    """
    eights = np.zeros((-(-len(units) // 8), 8))
    eights.reshape(-1)[: len(units)] = units
    signs = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
    sums = np.zeros(draws)
    for eight in eights:
        sums += (signs @ eight)[np.frombuffer(rng.bytes(draws), dtype=np.uint8)]
    return sums


def _is_as_far(sums: FloatArray, observed: float) -> BoolArray:
    return np.asarray(np.abs(sums) >= abs(observed) * _ALIKE)


def _sampled_p(sums: FloatArray, observed: float) -> PValue:
    """(1 + draws as far as observed) / (1 + draws)."""
    as_far = int(np.count_nonzero(_is_as_far(sums, observed)))
    return PValue((1 + as_far) / (1 + len(sums)), len(sums))


# --- Rankings under two label sets ----------------------------------------------------------------


def rank_stability(
    original: npt.ArrayLike,
    labelled: npt.ArrayLike,
    resamples: int = 1000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> RankStability:
    """Compare the rankings of the same systems under two label sets.

    original, labelled: values [n_systems, n_queries] of one measure under each. In a resample the
    same queries are drawn for all systems and both label sets. Resamples in which all systems of a
    ranking tie have no tau; its interval leaves them out. Raises ValueError as `measure_difference`
    does, for no systems, and if the two differ in shape.
    """
    check_parameters(resamples, confidence)
    first, second = check_values(original, 2), check_values(labelled, 2)
    if first.shape != second.shape:
        raise ValueError("both label sets must score the same systems on the same queries")
    if len(first) == 0:
        raise ValueError("there are no systems to rank")
    values = np.stack([first, second])
    n_sets, n_systems, n_queries = values.shape
    _check_resamplable(n_queries, clusters)
    means = resampled_means(
        values.reshape(-1, n_queries), resamples, rng=rng, clusters=clusters
    ).reshape(n_sets, n_systems, resamples)
    ranks = [rank_systems(mean) for mean in values.mean(axis=2)]
    drawn = [rank_systems(mean) for mean in means]
    tau, interval = _tau_of_both(ranks, drawn, confidence)
    return RankStability(
        tau=tau,
        interval=interval,
        same_order=float((drawn[0] == drawn[1]).all(axis=0).mean()),
        ranks=_rank_rows(ranks, drawn, confidence),
    )


def rank_systems(means: FloatArray) -> IntArray:
    """Ranks from 1, the highest mean, within each column: int64 like means [n_systems, …].

    Equal systems share the better rank: 1, 2, 2, 4.
    """
    better = [np.count_nonzero(means > mean, axis=0) for mean in means]
    return np.stack(better).astype(np.int64) + 1


def _rank_rows(
    ranks: list[IntArray], drawn: list[IntArray], confidence: float
) -> tuple[SystemRank, ...]:
    tail = (1 - confidence) / 2
    # A rank that was drawn, and nothing between two ranks.
    bounds = [
        np.quantile(kind, [tail, 1 - tail], axis=1, method="inverted_cdf").astype(np.int64)
        for kind in drawn
    ]
    return tuple(
        SystemRank(first, second, (low, high), (other_low, other_high))
        for first, second, (low, high), (other_low, other_high) in zip(
            *(rank.tolist() for rank in ranks),
            *(bound.T.tolist() for bound in bounds),
            strict=True,
        )
    )


def _tau_of_both(
    ranks: list[IntArray], drawn: list[IntArray], confidence: float
) -> tuple[Estimate, Interval]:
    tau = float(_tau_b(ranks[0][:, None], ranks[1][:, None])[0])
    taus = _tau_b(drawn[0], drawn[1])
    known = taus[~np.isnan(taus)]
    undefined = NO_VARIATION if len(ranks[0]) > 1 else NOT_TWO_SYSTEMS
    estimate = Estimate(None, undefined) if np.isnan(tau) else Estimate(tau)
    if len(known) == 0:
        return estimate, Interval(None, None, confidence, len(taus), len(taus), undefined)
    bounds = percentile_interval(known, confidence)
    skipped = len(taus) - len(known)
    return estimate, replace(bounds, resamples=len(taus), skipped=skipped)


def _tau_b(first: IntArray, second: IntArray) -> FloatArray:
    """Kendall's tau-b of two rankings [n_systems, B] in each column, NaN where all tie.

    (concordant - discordant pairs) / sqrt(pairs untied in the one * pairs untied in the other)
    (Kendall 1945). For a handful of systems; `slices.kendall_tau_b` is for many values.
    """
    agreed, untied, other_untied = np.zeros((3, first.shape[1]))
    for place in range(1, len(first)):
        sign = np.sign(first[place:] - first[place - 1])
        other = np.sign(second[place:] - second[place - 1])
        agreed += (sign * other).sum(axis=0)
        untied += np.abs(sign).sum(axis=0)
        other_untied += np.abs(other).sum(axis=0)
    scale = np.sqrt(untied * other_untied)
    return np.divide(agreed, scale, out=np.full_like(scale, np.nan), where=scale > 0)


# --- Nearing saturation ---------------------------------------------------------------------------


def check_saturation(
    values: npt.ArrayLike,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    disagreement: float | None = None,
    clusters: npt.ArrayLike | None = None,
) -> Saturation:
    """Whether a system's values [n_queries] of a measure from 0 to 1 are too near to 1 to rise.

    disagreement: the share of pairs on which annotators disagree; a gap below it may be made of
    labels that others would have given otherwise. Raises ValueError for values and shares outside
    of 0 to 1, and as `measure_difference` does.
    """
    known = check_values(values, 1)
    _check_resamplable(known.size, clusters)
    if known.min() < 0 or known.max() > 1 or not 0 <= (disagreement or 0) <= 1:
        raise ValueError("values and disagreement must lie between 0 and 1")
    interval = mean_interval(known, resamples, rng=rng, confidence=confidence, clusters=clusters)
    mean = float(known.mean())
    # The percentiles themselves never reach 1 while any query is below.
    half = ((interval.high or 0.0) - (interval.low or 0.0)) / 2
    return Saturation(
        mean=mean,
        gap=1 - mean,
        interval=interval,
        within_interval=1 - mean <= half,
        within_disagreement=None if disagreement is None else 1 - mean <= disagreement,
    )


def _check_resamplable(n_queries: int, clusters: npt.ArrayLike | None) -> None:
    undefined = why_undefined(n_queries, clusters)
    if undefined is not None:
        raise ValueError(undefined)
