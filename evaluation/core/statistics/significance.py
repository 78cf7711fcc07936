"""Whether systems differ by more than chance.

Per-query values of a measure are float64 [n_systems, n_queries]; all systems answered the same
queries, so everything is paired. Higher is better: negate ranks before comparing them.

randomisation  Fisher's test, see `randomisation`
bootstrap      the differences are moved to a mean of 0 and resampled; p is the share of resampled
               means as far from 0 as the observed one, counted in the same way (Efron and
               Tibshirani 1993, 16.4, of the plain mean), corrected for few queries or clusters
               (`resampling.small_sample_p`)

With thousands of queries the slightest difference is significant. So a comparison also has the
difference with its interval, Cohen's d (mean / standard deviation of the differences) and the
queries won, tied and lost; a difference of rounding noise is a tie. All p are two-sided.
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
from evaluation.core.statistics.randomisation import ALIKE, PValue, randomisation_test, sampled_p
from evaluation.core.statistics.resampling import (
    PAIRED,
    check_resamplable,
    check_values,
    closed_interval,
    interval_of_means,
    resampled_means,
    small_sample_p,
)
from evaluation.core.statistics.ties import signs_of


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

    adjusted: p of the randomisation test after Holm's correction over all pairs of systems; see
    `adjust_together` for a table of several measures or slices.
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
    """Compare every two of the systems whose values [n_systems, n_queries] are given.

    The parameters, and what is refused, are those of `measure_difference`.
    """
    known = check_values(values, 2)
    compared = tuple(
        Comparison(
            system,
            other,
            found := measure_difference(
                known[system] - known[other],
                resamples,
                rng=rng,
                confidence=confidence,
                clusters=clusters,
            ),
            found.randomisation.p,
        )
        for system, other in combinations(range(len(known)), 2)
    )
    return adjust_together(compared)


def adjust_together(comparisons: Iterable[Comparison]) -> tuple[Comparison, ...]:
    """Return the comparisons of one table with p adjusted by Holm's correction over all of them."""
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
    """Everything about per-query differences [n_queries] of two systems.

    clusters: whole numbers [n_queries]; queries of the same number are drawn, and change their
    sign, together. Raises ValueError for fewer than two queries or clusters, for values that are
    not finite and for parameters out of bounds.
    """
    check_resampling(resamples, confidence)
    known = check_values(differences, 1)
    check_resamplable(known.size, clusters)
    mean = float(known.mean())
    means = resampled_means(known[None], resamples, rng=rng, clusters=clusters)[0]
    interval = closed_interval(known, PAIRED, confidence, clusters)
    signs = signs_of(known)
    drawn = sampled_p(means - mean, mean)
    return Difference(
        n=known.size,
        mean=mean,
        interval=interval or interval_of_means(means, known, confidence, clusters),
        effect=cohens_d(known),
        wins=int(np.count_nonzero(signs > 0)),
        ties=int(np.count_nonzero(signs == 0)),
        losses=int(np.count_nonzero(signs < 0)),
        randomisation=randomisation_test(known, resamples, rng=rng, clusters=clusters),
        bootstrap=replace(drawn, p=small_sample_p(drawn.p, known, clusters)),
    )


def cohens_d(differences: FloatArray) -> Estimate:
    """Mean of the paired differences [n >= 2] in their standard deviations (Cohen 1988, d_z)."""
    mean, deviation = float(differences.mean()), float(differences.std(ddof=1))
    # Equal differences may still vary in their last digits.
    if deviation <= abs(mean) * (1 - ALIKE):
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
