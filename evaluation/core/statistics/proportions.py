"""Intervals of shares and of paired differences of shares, such as those of C@k.

Near 0 and 1 a bootstrap fails: of 30 queries that are all right, every resample is right, and the
percentiles are [1, 1]. These intervals are closed forms that hold there:

share       Wilson (1927), the score interval
difference  Bonett and Price (2012), "Adjusted Wald confidence interval for a difference of binomial
            proportions based on paired data": one won and one lost query are added

Queries of one cluster (captions of one video) are dependent. Both forms then use an effective
number of queries: n divided by the design effect, the variance of the mean over that of independent
queries (Korn and Graubard 1998; for Wilson's form Saha, Miller and Wang 2016). The variance is the
delete-one-cluster jackknife (CV3 in MacKinnon, Nielsen and Webb 2023).

A design effect is itself uncertain if a handful of clusters determine it. Korn and Graubard replace
the normal quantile by that of t with G - 1 degrees of freedom. Near 0 and 1 most of the G clusters
have no information about the variance, so the degrees of freedom here are the number of clusters
that hold a query of the rarer outcome. The result never falls below the number that remains if
queries of one cluster always agree: n^2 / sum of squared cluster sizes, with t of G - 1 degrees of
freedom.
If nothing varies, this number is used. Simulated coverage at 95 % for p from .5 to .99, 8 to 1,970
clusters and design effects up to 13 is .92 to .99. It is .93 to .96 unless fewer than a handful of
clusters hold the rarer outcome.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray

# A smaller variance is rounding noise.
_NO_VARIANCE: Final = 1e-18


def wilson_interval(share: float, size: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of `size` (effective) queries; see `wilson_intervals`."""
    low, high = wilson_intervals(np.array([share]), np.array([size]), z)[0].tolist()
    return low, high


def wilson_intervals(shares: FloatArray, sizes: FloatArray, z: float) -> FloatArray:
    """Return Wilson's intervals of shares [n] of `sizes` (effective) queries [n]: [n, 2].

    centre = (p + z^2 / 2n) / (1 + z^2 / n), half width = z / (1 + z^2 / n) *
    sqrt(p (1 - p) / n + z^2 / 4n^2). z: normal quantile of the confidence.
    """
    extra = z * z / sizes
    centre = (shares + extra / 2) / (1 + extra)
    half = np.sqrt(extra * shares * (1 - shares) + extra * extra / 4) / (1 + extra)
    # Rounding can leave an end on the wrong side of the share.
    low, high = np.minimum(shares, centre - half), np.maximum(shares, centre + half)
    return np.stack([np.maximum(0.0, low), np.minimum(1.0, high)], axis=1)


def paired_interval(won: float, lost: float, size: float, z: float) -> tuple[float, float]:
    """Return the interval of won - lost, shares of `size` (effective) paired queries.

    Bonett and Price (2012): with won' = (won n + 1) / (n + 2) and lost' alike,
    won' - lost' ± z sqrt((won' + lost' - (won' - lost')^2) / (n + 2)).
    """
    first, second = (won * size + 1) / (size + 2), (lost * size + 1) / (size + 2)
    difference = first - second
    half = z * math.sqrt((first + second - difference**2) / (size + 2))
    return max(-1.0, difference - half), min(1.0, difference + half)


def effective_size(values: FloatArray, clusters: IntArray, confidence: float, z: float) -> float:
    """Return the effective number of queries for values of -1, 0 and 1, see the module.

    values: [n]; clusters: [n], numbered from 0 without gaps, at least two of them. Use it with the
    normal quantile z of the confidence: the quantile of t is part of the number.
    """
    sizes = np.bincount(clusters).astype(np.float64)
    sums = np.bincount(clusters, weights=values).astype(np.float64)
    n, n_clusters = len(values), len(sizes)
    least = _within(n * n / float(sizes @ sizes), n_clusters - 1, confidence, z)
    mean = float(values.mean())
    single = float(np.mean(np.square(values))) - mean**2  # variance of one query
    deviation = jackknife_deviation(sums, sizes)
    if single < _NO_VARIANCE or deviation**2 < _NO_VARIANCE:
        return least
    informative = min(_clusters_with_the_rarer(values, clusters), n_clusters - 1)
    found = _within(single / deviation**2, informative, confidence, z)
    return max(least, found)


def _clusters_with_the_rarer(values: FloatArray, clusters: IntArray) -> int:
    """Return the number of clusters that hold a value other than the most frequent one."""
    kinds, counts = np.unique(values, return_counts=True)
    return len(np.unique(clusters[values != kinds[np.argmax(counts)]]))


def _within(size: float, freedom: float, confidence: float, z: float) -> float:
    """Return the size that gives with z the interval of `size` with t of `freedom` degrees of
    freedom."""
    return size * (z / t_quantile(confidence, freedom)) ** 2


def jackknife_deviation(sums: FloatArray, sizes: FloatArray) -> float:
    """Return the standard error of sum(sums) / sum(sizes) over clusters [G], by deleting each once.

    The formula is sqrt((G - 1) / G * sum of squared deviations from the mean of all).
    """
    total, count, number = float(sums.sum()), float(sizes.sum()), len(sums)
    without = (total - sums) / (count - sizes) - total / count
    return math.sqrt((number - 1) / number * float(without @ without))


def t_quantile(confidence: float, freedom: float) -> float:
    """Return t such that Student's t lies within -t to t in `confidence` of all cases."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # slow to import

    return float(stdtrit(freedom, (1 + confidence) / 2))
