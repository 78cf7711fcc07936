"""Sub-samples of whole videos, and the smallest significant difference of paired systems.

`resampling.draw_sub_samples` draws single captions. The functions here draw whole clusters, such as
videos with all their captions. They choose the number of clusters so that a sub-sample has the
requested number of captions on average.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, dense_groups
from evaluation.core.statistics.design_effect import sample_variance
from evaluation.core.statistics.resampling import (
    SubSamples,
    check_values,
    normal_quantile,
    resampled_sums,
    sum_clusters,
)


def clusters_to_draw(size: int, clusters: npt.ArrayLike, n_queries: int) -> int:
    """Return the number of clusters that contain about `size` captions, at least 1.

    clusters: whole numbers [n_queries]. Raises ValueError if there are no captions, or if
    `clusters` is not one whole number for each caption.
    """
    numbers = dense_groups(clusters, n_queries)
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
    """Draw sub-samples of whole clusters with `size` captions on average, for each system.

    values: float64 [m, n_queries], the values of m systems. clusters: whole numbers [n_queries].
    The n-th sub-sample of each system contains the same clusters, so that systems can be compared
    in pairs. The mean of a sub-sample is the sum of its values divided by its number of captions,
    which varies. Raises ValueError if there are no values, the size is below 1, or there are fewer
    than two resamples.
    """
    checked = check_values(values, 2)
    if checked.size == 0 or size < 1 or resamples < 2:
        raise ValueError("sub-samples need values, a size of at least 1 and two resamples or more")
    n_queries = checked.shape[1]
    sums = sum_clusters(np.vstack([checked, np.ones(n_queries)]), clusters)
    drawn = resampled_sums(sums, clusters_to_draw(size, clusters, n_queries), resamples, rng)
    return tuple(SubSamples(size, means) for means in drawn[:-1] / drawn[-1])


def paired_sub_samples(first: SubSamples, second: SubSamples) -> SubSamples:
    """Return the differences of two systems' means in the same sub-samples."""
    return SubSamples(first.size, first.means - second.means)


def smallest_tested_difference(
    drawn: SubSamples, differences: FloatArray, *, confidence: float = 0.95
) -> float:
    """Return the smallest difference between paired systems that is significant in a test.

    drawn: sub-samples of the per-query differences. differences: float64 [n_queries].

    A test uses the variance that the mean would have if the systems were equal. Each difference
    could then have either sign, so its variance is its mean square. The sub-samples vary around the
    observed difference instead. Their standard deviation is therefore multiplied by
    sqrt(mean square / variance). For this difference and a power of .5, `planner.captions_needed`
    returns the size of the sub-samples, except for random variation.
    """
    square, variance = float(np.square(differences).mean()), sample_variance(differences)
    if variance == 0:  # All differences are equal, so the sub-samples do not vary either.
        return normal_quantile(confidence) * math.sqrt(square / drawn.size)
    spread = variance * (1 - 1 / len(differences))
    return normal_quantile(confidence) * drawn.deviation * math.sqrt(square / spread)
