"""Tests for differences between systems.

Per-query values of a measure are float64 [n_systems, n_queries], for the same queries in all
systems, so that all tests are paired. Higher values are better. For measures that are better if
lower, pass negated values. There are two tests, both two-sided:

randomisation  The differences get random signs. p is the share of sign assignments whose sum is at
               least as far from 0 as the observed one (Fisher; see the module `randomisation`).
bootstrap      The differences are shifted to a mean of 0 and resampled. p is the share of resampled
               means at least as far from 0 as the observed mean, counted as in `randomisation`
               (Efron and Tibshirani 1993, section 16.4, for the plain mean). It is corrected for
               few queries or clusters (`resampling.small_sample_p`).

With thousands of queries, even very small differences are significant. A comparison therefore also
contains the difference with its interval, Cohen's d (mean / standard deviation of the differences),
and the numbers of queries won, tied and lost. Differences within rounding errors are ties.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray
from evaluation.core.people.agreement import Estimate
from evaluation.core.people.alpha import NO_VARIATION, Interval, check_resampling
from evaluation.core.statistics import resampling
from evaluation.core.statistics.randomisation import ALIKE, PValue, randomisation_test, sampled_p
from evaluation.core.statistics.ties import signs_of


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference of two systems over the same `n` queries, with its interval and tests.

    effect: Cohen's d. wins, ties, losses: number of queries on which the first system is better,
    equal or worse. randomisation, bootstrap: p values of the two tests.
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
    """The comparison of two systems, identified by their numbers. The difference is system - other.

    adjusted: p of the randomisation test with Holm's correction over all pairs of systems.
    `adjust_together` corrects over a table of several measures or slices of the captions.
    """

    system: int
    other: int
    difference: Difference
    adjusted: float


def compare_systems(
    values: npt.ArrayLike,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> tuple[Comparison, ...]:
    """Compare every two systems.

    values: float64 [n_systems, n_queries]. The other parameters and the errors are those of
    `measure_difference`.
    """
    checked = resampling.check_values(values, 2)
    compared = tuple(
        Comparison(
            system,
            other,
            difference := measure_difference(
                checked[system] - checked[other],
                resamples,
                rng=rng,
                confidence=confidence,
                clusters=clusters,
            ),
            difference.randomisation.p,
        )
        for system, other in combinations(range(len(checked)), 2)
    )
    return adjust_together(compared)


def adjust_together(comparisons: Iterable[Comparison]) -> tuple[Comparison, ...]:
    """Return the comparisons with p adjusted by Holm's correction over all of them."""
    rows = tuple(comparisons)
    adjusted = holm([row.difference.randomisation.p for row in rows]).tolist()
    return tuple(replace(row, adjusted=p) for row, p in zip(rows, adjusted, strict=True))


def measure_difference(
    differences: npt.ArrayLike,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> Difference:
    """Test the per-query differences of two systems.

    differences: float64 [n_queries]. resamples: number of resamples, and of random sign assignments
    if p is not exact. clusters: whole numbers [n_queries]; queries of a cluster are drawn together
    and change their sign together. Raises ValueError if there are fewer than two queries or
    clusters, a value is not finite, or a parameter is out of bounds.
    """
    check_resampling(resamples, confidence)
    checked = resampling.check_values(differences, 1)
    resampling.check_resamplable(checked.size, clusters)
    mean = float(checked.mean())
    means = resampling.resampled_means(checked[None], resamples, rng=rng, clusters=clusters)[0]
    interval = resampling.closed_interval(checked, resampling.PAIRED, confidence, clusters)
    signs = signs_of(checked)
    drawn = sampled_p(means - mean, mean)
    return Difference(
        n=checked.size,
        mean=mean,
        interval=interval or resampling.interval_of_means(means, checked, confidence, clusters),
        effect=cohens_d(checked),
        wins=int(np.count_nonzero(signs > 0)),
        ties=int(np.count_nonzero(signs == 0)),
        losses=int(np.count_nonzero(signs < 0)),
        randomisation=randomisation_test(checked, resamples, rng=rng, clusters=clusters),
        bootstrap=replace(drawn, p=resampling.small_sample_p(drawn.p, checked, clusters)),
    )


def cohens_d(differences: FloatArray) -> Estimate:
    """Return Cohen's d_z of paired differences [n >= 2]: mean / standard deviation (Cohen 1988).

    It is undefined if the differences do not vary.
    """
    mean, deviation = float(differences.mean()), float(differences.std(ddof=1))
    # Rounding errors can give equal differences a tiny standard deviation.
    if deviation <= abs(mean) * (1 - ALIKE):
        return Estimate(None, NO_VARIATION)
    return Estimate(mean / deviation)


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Return the adjusted p of n tests, by Holm's step-down correction (Holm 1979).

    p_values: float64 [n]. The smallest p is multiplied by n, the next one by n - 1, and so on. A
    larger p never gets a smaller adjusted p, and no adjusted p is above 1.
    """
    p = resampling.check_values(p_values, 1)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1.0)
