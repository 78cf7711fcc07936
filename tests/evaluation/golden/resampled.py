"""What rests on random draws: scipy's own draws, or the exact law, with a tolerance for chance.

A quantile of B draws from a normal distribution has a standard error of
sd * sqrt(q (1 - q) / B) / density at the quantile: 2.67 sd / sqrt(B) at 2.5 and 97.5 per cent. Both
sides draw; the tolerance is four times the error of their difference, so that of thousands of such
comparisons one fails by chance. Seeds are fixed, so that none fails now and then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

OURS = 20_000  # what the commands ask for
THEIRS = 20_000
ERROR = math.sqrt(0.025 * 0.975) / stats.norm.pdf(stats.norm.ppf(0.025))


def about(value: float, within: float) -> dict[str, float]:
    return {"about": value, "within": within}


def interval(
    samples: tuple[Any, ...], statistic: Callable[..., Any], resamples: int = THEIRS, **options: Any
) -> list[dict[str, float]] | None:
    """Percentile interval by scipy, at 95 per cent."""
    found = stats.bootstrap(
        samples,
        statistic,
        n_resamples=resamples,
        method="percentile",
        rng=np.random.default_rng(1),
        **options,
    )
    within = 4 * ERROR * float(found.standard_error) * math.sqrt(1 / OURS + 1 / resamples)
    # Means of few different values lie on a grid, and so do their quantiles.
    within = max(within, 1e-9)
    return [about(float(end), within) for end in found.confidence_interval]


def mean_interval(values: list[float]) -> list[dict[str, float]] | None:
    if set(values) <= {0.0, 1.0}:
        return share_interval(values)
    return interval((np.array(values),), np.mean, vectorized=True, batch=1000)


def share_interval(values: list[float]) -> list[dict[str, float]]:
    """Sums of resampled zeros and ones are binomial; a quantile may fall on the next number."""
    n = len(values)
    law = stats.binom(n, sum(values) / n)
    return [about(float(law.ppf(q)) / n, 1.001 / n) for q in (0.025, 0.975)]


def difference_interval(values: list[float], others: list[float]) -> Any:
    differences = np.array(values) - np.array(others)
    grid = 1.001 / len(values) if set(differences.tolist()) <= {-1.0, 0.0, 1.0} else 0.0
    found = interval((differences,), np.mean, vectorized=True, batch=1000)
    return [about(end["about"], max(end["within"], grid)) for end in found or []]


def cluster_interval(values: list[float], clusters: list[str]) -> Any:
    """Whole clusters drawn: sum of the values over number of the captions."""
    names = list(dict.fromkeys(clusters))
    place = np.array([names.index(one) for one in clusters])
    sums = np.bincount(place, weights=values)
    sizes = np.bincount(place)
    return interval((sums, sizes), ratio, paired=True, vectorized=True, batch=1000)


def ratio(sums: Any, sizes: Any, axis: int = -1) -> Any:
    return sums.sum(axis=axis) / sizes.sum(axis=axis)
