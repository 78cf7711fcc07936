"""Design effect: how much the captions of one video repeat each other.

A mean of n captions varies by variance / n if the captions are independent. Captions of one video
are not: the mean varies by effect * variance / n. For clusters of m captions whose values correlate
by rho (the intraclass correlation), effect = 1 + (m - 1) * rho (Kish 1965, Survey Sampling). For
clusters of unequal sizes, m is sum(m^2) / sum(m), the mean size weighted by size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray
from evaluation.core.statistics.resampling import sum_clusters


@dataclass(frozen=True, slots=True)
class Clustering:
    """The clusters of a sample, and their effect on the variance of its mean.

    clusters: their number. mean_size: captions per cluster. weighted_size: sum(m^2) / sum(m).
    effect: variance of the mean by cluster divided by the variance by caption, as measured.
    """

    clusters: int
    mean_size: float
    weighted_size: float
    effect: float

    @property
    def icc(self) -> float | None:
        """The intraclass correlation rho; None if every cluster has one caption."""
        if self.weighted_size == 1:
            return None
        return (self.effect - 1) / (self.weighted_size - 1)

    @property
    def planned_effect(self) -> float:
        """The effect that a plan uses: at least 1, because a lower one is due to chance."""
        return max(1.0, self.effect)


def independent_captions(captions: int) -> Clustering:
    """Return the clustering of independent captions: each caption is a cluster of its own."""
    return Clustering(captions, 1.0, 1.0, 1.0)


def measure_clustering(
    samples: Sequence[FloatArray], clusters: npt.ArrayLike | None
) -> Clustering | None:
    """Measure the design effect of the sum of the means of samples, each float64 [n_queries >= 2].

    clusters: whole numbers [n_queries]; None for independent captions. The variance by cluster is
    the linearised variance of a ratio: G / (G - 1) * sum((S_g - m_g * mean)^2) / n^2, where S_g is
    the sum of a cluster (Cochran 1977, Sampling Techniques, section 9A.1). Samples that do not vary
    have the effect 1. Returns None for a single cluster. Raises ValueError for clusters of another
    length.
    """
    n_queries = len(samples[0])
    if clusters is None:
        return independent_captions(n_queries)
    deviations = np.stack([sample - sample.mean() for sample in samples])
    *sums, sizes = sum_clusters(np.vstack([deviations, np.ones(n_queries)]), clusters)
    if len(sizes) == 1:
        return None
    by_cluster = float(np.square(sums).sum()) * len(sizes) / (len(sizes) - 1) / n_queries
    by_caption = sum(map(sample_variance, samples))
    return Clustering(
        clusters=len(sizes),
        mean_size=n_queries / len(sizes),
        weighted_size=float(np.square(sizes).sum()) / n_queries,
        effect=by_cluster / by_caption if by_caption else 1.0,
    )


def sample_variance(sample: FloatArray) -> float:
    """Return the variance by n - 1 of a sample [n >= 2]; exactly 0 for equal numbers."""
    # The mean of equal numbers may differ from them in its last digit.
    return 0.0 if sample.min() == sample.max() else float(sample.var(ddof=1))
