"""Intervals of shares and of paired differences of shares, such as those of C@k.

A bootstrap fails near 0 and 1. If all of 30 queries are correct, all queries of every resample are
correct, too, and the percentiles are [1, 1]. The closed forms in this module are valid there:

share       Wilson (1927), the score interval
difference  Bonett and Price (2012), "Adjusted Wald confidence interval for a difference of binomial
            proportions based on paired data": one won and one lost query are added

Queries of one cluster (captions of one video) are dependent. Both forms then use an effective
number of queries: n divided by the design effect. The design effect is the variance of the mean
divided by its variance for independent queries (Korn and Graubard 1998). Saha, Miller and Wang
(2016) use it for Wilson's form. The variance of the mean is estimated by the delete-one-cluster
jackknife (CV3 in MacKinnon, Nielsen and Webb 2023).

A design effect is uncertain if few clusters determine it. Korn and Graubard therefore replace the
normal quantile by the quantile of t with G - 1 degrees of freedom, for G clusters. Near 0 and 1
most clusters have no information about the variance. The degrees of freedom here are therefore the
number of clusters that contain a query with the rarer outcome.

The effective number has a minimum: the value that it has if all queries of each cluster have the
same outcome. This is n^2 / sum of squared cluster sizes, with the quantile of t for G - 1 degrees
of freedom. The minimum is also used if nothing varies.

In simulations for p from .5 to .99, 8 to 1,970 clusters and design effects up to 13, the coverage
at 95 % is .92 to .99. It is .93 to .96 if at least about five clusters contain the rarer outcome.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray

# A variance below this is rounding noise.
_NO_VARIANCE: Final = 1e-18


def wilson_interval(share: float, size: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of one share, as `wilson_intervals` does."""
    low, high = wilson_intervals(np.array([share]), np.array([size]), z)[0].tolist()
    return low, high


def wilson_intervals(shares: FloatArray, sizes: FloatArray, z: float) -> FloatArray:
    """Return Wilson's intervals of shares, float64 [n, 2], within 0 to 1.

    shares: float64 [n]. sizes: float64 [n], the (effective) number of queries of each share. z: the
    normal quantile of the confidence. The centre is (p + z^2 / 2n) / (1 + z^2 / n). The half-width
    is z / (1 + z^2 / n) * sqrt(p (1 - p) / n + z^2 / 4n^2) (Wilson 1927).
    """
    extra = z * z / sizes
    centre = (shares + extra / 2) / (1 + extra)
    half = np.sqrt(extra * shares * (1 - shares) + extra * extra / 4) / (1 + extra)
    # Rounding can move an end to the wrong side of the share.
    low, high = np.minimum(shares, centre - half), np.maximum(shares, centre + half)
    return np.stack([np.maximum(0.0, low), np.minimum(1.0, high)], axis=1)


def paired_interval(won: float, lost: float, size: float, z: float) -> tuple[float, float]:
    """Return the interval of a paired difference of shares, won - lost, within -1 to 1.

    won, lost: shares of the queries on which only the first or only the second system is correct.
    size: the (effective) number n of queries. z: the normal quantile of the confidence. The ends
    are won' - lost' ± z sqrt((won' + lost' - (won' - lost')^2) / (n + 2)), where won' is
    (won n + 1) / (n + 2), and lost' is computed in the same way (Bonett and Price 2012).
    """
    first, second = (won * size + 1) / (size + 2), (lost * size + 1) / (size + 2)
    difference = first - second
    half = z * math.sqrt((first + second - difference**2) / (size + 2))
    return max(-1.0, difference - half), min(1.0, difference + half)


def effective_size(values: FloatArray, clusters: IntArray, confidence: float, z: float) -> float:
    """Return the effective number of clustered queries, as the module's docstring describes.

    values: float64 [n], each -1, 0 or 1. clusters: int64 [n], from 0 without gaps, at least two
    clusters. confidence: between 0 and 1. z: its normal quantile. The interval must use z, because
    the quantile of t is already part of the number.
    """
    sizes = np.bincount(clusters).astype(np.float64)
    sums = np.bincount(clusters, weights=values).astype(np.float64)
    n, n_clusters = len(values), len(sizes)
    smallest = _size_for_z(n * n / float(sizes @ sizes), n_clusters - 1, confidence, z)
    mean = float(values.mean())
    single = float(np.mean(np.square(values))) - mean**2  # variance of one query
    deviation = jackknife_deviation(sums, sizes)
    if single < _NO_VARIANCE or deviation**2 < _NO_VARIANCE:
        return smallest
    informative = min(_clusters_with_rarer_value(values, clusters), n_clusters - 1)
    size = _size_for_z(single / deviation**2, informative, confidence, z)
    return max(smallest, size)


def _clusters_with_rarer_value(values: FloatArray, clusters: IntArray) -> int:
    """Return the number of clusters that contain a value other than the most frequent one."""
    kinds, counts = np.unique(values, return_counts=True)
    return len(np.unique(clusters[values != kinds[np.argmax(counts)]]))


def _size_for_z(size: float, freedom: float, confidence: float, z: float) -> float:
    """Return the size whose interval with z equals that of `size` with the quantile of t.

    freedom: degrees of freedom of t.
    """
    return size * (z / t_quantile(confidence, freedom)) ** 2


def jackknife_deviation(sums: FloatArray, sizes: FloatArray) -> float:
    """Return the jackknife standard error of sum(sums) / sum(sizes).

    sums, sizes: float64 [G], the sum of the values and the number of queries of each cluster. Each
    cluster is left out once, and the mean of the other clusters is computed. The formula is
    sqrt((G - 1) / G * sum of squared differences between these G means and the mean of all values).
    """
    total, count, number = float(sums.sum()), float(sizes.sum()), len(sums)
    without = (total - sums) / (count - sizes) - total / count
    return math.sqrt((number - 1) / number * float(without @ without))


def t_quantile(confidence: float, freedom: float) -> float:
    """Return t such that Student's t lies within -t to t in `confidence` of all cases."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # slow to import

    return float(stdtrit(freedom, (1 + confidence) / 2))
