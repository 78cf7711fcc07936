"""Sub-samples of whole videos, and the smallest significant difference of paired systems.

`resampling.draw_sub_samples` draws independent captions. Here whole clusters are drawn, such as
videos with all their captions, until the number of captions is about the wanted one.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray
from evaluation.core.statistics.design_effect import sample_variance
from evaluation.core.statistics.resampling import (
    SubSamples,
    check_values,
    dense_clusters,
    normal_quantile,
    resampled_sums,
    sum_clusters,
)


def clusters_to_draw(size: int, clusters: npt.ArrayLike, n_queries: int) -> int:
    """Return how many whole clusters hold about `size` captions: size / mean size, at least 1.

    Raises ValueError without captions, and unless each caption has one whole number.
    """
    numbers = dense_clusters(clusters, n_queries)
    if numbers.size == 0:
        raise ValueError("sub-samples need values")
    mean_size = n_queries / (int(numbers.max()) + 1)
    return max(1, math.floor(size / mean_size + 0.5))


def draw_cluster_sub_samples(
    values: npt.ArrayLike,
    size: int,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    clusters: npt.ArrayLike,
) -> tuple[SubSamples, ...]:
    """Draw whole clusters with `size` captions together on average; one result per row of values.

    values: float64 [m, n_queries], several systems of the same queries. clusters: whole numbers
    [n_queries]. Each resample draws the same clusters for all rows, so that the difference of two
    results is that of paired systems. A mean is the sum of the drawn values divided by the number
    of the drawn captions, which varies. Raises ValueError without values, for a size below 1 and
    for fewer than two resamples.
    """
    known = check_values(values, 2)
    if known.size == 0 or size < 1 or resamples < 2:
        raise ValueError("sub-samples need values, a size of 1 and at least two resamples")
    n_queries = known.shape[1]
    sums = sum_clusters(np.vstack([known, np.ones(n_queries)]), clusters)
    drawn = resampled_sums(sums, clusters_to_draw(size, clusters, n_queries), resamples, rng)
    return tuple(SubSamples(size, means) for means in drawn[:-1] / drawn[-1])


def paired_sub_samples(first: SubSamples, second: SubSamples) -> SubSamples:
    """Return the differences of two systems' means in the same sub-samples."""
    return SubSamples(first.size, first.means - second.means)


def smallest_tested_difference(
    drawn: SubSamples, differences: FloatArray, *, confidence: float = 0.95
) -> float:
    """Return the smallest difference that a test of paired systems calls significant.

    drawn: sub-samples of the per-query differences [n_queries]. A test uses the scatter that the
    mean would have if the systems were equal. Each difference could then have the other sign, so it
    varies by its mean square. The sub-samples vary around the observed difference. The deviation is
    therefore scaled by sqrt(mean square / variance). For this difference at the power .5,
    `planner.captions_needed` returns the size of the sub-samples, except for the chance of the
    draws.
    """
    square, variance = float(np.square(differences).mean()), sample_variance(differences)
    if variance == 0:  # All differences are equal, and nothing drawn varies.
        return normal_quantile(confidence) * math.sqrt(square / drawn.size)
    spread = variance * (1 - 1 / len(differences))
    return normal_quantile(confidence) * drawn.deviation * math.sqrt(square / spread)
