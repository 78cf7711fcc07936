"""Intervals by scipy or by an exact formula, with tolerances for random draws.

A quantile of B draws from a normal distribution has a standard error of
sd * sqrt(q (1 - q) / B) / density at the quantile: 2.67 sd / sqrt(B) at 2.5 and 97.5 %.
Hearth and scipy both draw. The tolerance is four times the standard error of their difference, so
less than one of 10,000 comparisons fails by chance. Seeds are fixed, so the same comparisons pass
every time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

OURS = 20_000  # resamples of the commands
THEIRS = 20_000  # resamples of scipy
EXACT = 1e-9  # tolerance for closed formulas
ERROR = math.sqrt(0.025 * 0.975) / stats.norm.pdf(stats.norm.ppf(0.025))


def about(value: float, within: float) -> dict[str, float]:
    """Return an expected value with its tolerance."""
    return {"about": value, "within": within}


def interval(
    samples: tuple[Any, ...], statistic: Callable[..., Any], resamples: int = THEIRS, **options: Any
) -> list[dict[str, float]] | None:
    """Return the percentile interval by scipy, by default at 95 %."""
    found = stats.bootstrap(
        samples,
        statistic,
        n_resamples=resamples,
        method="percentile",
        rng=np.random.default_rng(1),
        **options,
    )
    within = 4 * ERROR * float(found.standard_error) * math.sqrt(1 / OURS + 1 / resamples)
    # If the resamples do not vary, rounding errors are still allowed.
    within = max(within, 1e-9)
    return [about(float(end), within) for end in found.confidence_interval]


def mean_interval(values: list[float]) -> list[dict[str, float]] | None:
    if set(values) <= {0.0, 1.0}:
        found = stats.binomtest(round(sum(values)), len(values)).proportion_ci(0.95, "wilson")
        return [about(found.low, EXACT), about(found.high, EXACT)]
    level = widened(len(values))
    return interval(
        (np.array(values),), np.mean, vectorized=True, batch=1000, confidence_level=level
    )


def widened(number: float) -> float:
    """Return the confidence level of a widened interval for this number of values.

    Its normal quantile is the t quantile times sqrt(n / (n - 1)), because a resample varies less
    than a sample (Hesterberg 2015).
    """
    quantile = stats.t.ppf(0.975, number - 1) * math.sqrt(number / (number - 1))
    return float(1 - 2 * stats.norm.sf(quantile))


def difference_interval(values: list[float], others: list[float]) -> Any:
    differences = [value - other for value, other in zip(values, others, strict=True)]
    if set(differences) <= {-1.0, 0.0, 1.0}:
        return paired(differences, float(len(differences)))
    return mean_interval(differences)


def paired(differences: list[float], size: float) -> list[dict[str, float]]:
    """Return Wald's interval after adding one win and one loss (Bonett and Price 2012, eq. 2)."""
    n = len(differences)
    first = (differences.count(1.0) / n * size + 1) / (size + 2)
    second = (differences.count(-1.0) / n * size + 1) / (size + 2)
    spread = math.sqrt((first + second - (first - second) ** 2) / (size + 2))
    z = float(stats.norm.ppf(0.975))
    return [about(first - second + sign * z * spread, EXACT) for sign in (-1, 1)]


def cluster_interval(values: list[float], clusters: list[str], *, difference: bool = False) -> Any:
    """Return the interval of the mean over captions if whole clusters are resampled."""
    sums, sizes = cluster_totals(values, clusters)
    if set(values) <= ({-1.0, 0.0, 1.0} if difference else {0.0, 1.0}):
        size = effective_size(values, clusters)
        return paired(values, size) if difference else wilson(sum(values) / len(values), size)
    level = widened(len(values) ** 2 / sum(size**2 for size in sizes))
    samples = (np.array(sums), np.array(sizes))
    return interval(
        samples, ratio, paired=True, vectorized=True, batch=1000, confidence_level=level
    )


def cluster_totals(values: list[float], clusters: list[str]) -> tuple[list[float], list[int]]:
    names = list(dict.fromkeys(clusters))
    sums, sizes = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0)
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] += value
        sizes[cluster] += 1
    return list(sums.values()), list(sizes.values())


def wilson(share: float, size: float) -> list[dict[str, float]]:
    """Return the shares that differ from the observed one by 1.96 of their standard errors: the
    roots of (share - p)^2 = z^2 p (1 - p) / n."""
    z = float(stats.norm.ppf(0.975))
    equation = [1 + z * z / size, -2 * share - z * z / size, share * share]
    return [about(float(root), EXACT) for root in sorted(np.roots(equation).real)]


def effective_size(values: list[float], clusters: list[str]) -> float:
    """Return the number of independent captions whose mean would have the same variance.

    The jackknife over clusters estimates the variance. The number is reduced so that an interval
    can use the normal quantile instead of the t quantile.
    """
    sums, sizes = cluster_totals(values, clusters)
    n, number, z = len(values), len(sums), float(stats.norm.ppf(0.975))
    mean = sum(values) / n
    without = [(sum(sums) - own) / (n - size) - mean for own, size in zip(sums, sizes, strict=True)]
    variance = (number - 1) / number * sum(change * change for change in without)
    single = sum(value * value for value in values) / n - mean * mean
    commonest = max(sorted(set(values)), key=values.count)
    rarer = {cluster for value, cluster in zip(values, clusters, strict=True) if value != commonest}
    least = n * n / sum(size**2 for size in sizes) * (z / stats.t.ppf(0.975, number - 1)) ** 2
    freedom = min(len(rarer), number - 1)
    return float(max(least, single / variance * (z / stats.t.ppf(0.975, freedom)) ** 2))


def ratio(sums: Any, sizes: Any, axis: int = -1) -> Any:
    return sums.sum(axis=axis) / sizes.sum(axis=axis)
