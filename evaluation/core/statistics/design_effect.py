"""Design effect: the factor by which clustered captions increase the variance of a mean.

If n captions are independent, the variance of their mean is variance / n. Captions of one video are
not independent. The variance is then effect * variance / n. For clusters of m captions whose values
have the intraclass correlation rho, effect = 1 + (m - 1) * rho (Kish 1965, Survey Sampling). For
clusters of unequal sizes m_g, m is sum(m_g^2) / sum(m_g), the mean size weighted by size.
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

    clusters: number of clusters. mean_size: mean number of captions per cluster. weighted_size:
    sum(m_g^2) / sum(m_g), with the size m_g of each cluster. effect: the measured variance of the
    mean over clusters, divided by its variance if captions were independent.
    """

    clusters: int
    mean_size: float
    weighted_size: float
    effect: float

    @property
    def icc(self) -> float | None:
        """The intraclass correlation rho, or None if every cluster has one caption."""
        if self.weighted_size == 1:
            return None
        return (self.effect - 1) / (self.weighted_size - 1)

    @property
    def planned_effect(self) -> float:
        """The effect that a plan uses. It is at least 1, because a lower value is due to chance."""
        return max(1.0, self.effect)


def independent_captions(captions: int) -> Clustering:
    """Return the clustering of independent captions: each caption is a separate cluster."""
    return Clustering(captions, 1.0, 1.0, 1.0)


def measure_clustering(
    samples: Sequence[FloatArray], clusters: npt.ArrayLike | None
) -> Clustering | None:
    """Measure the design effect of samples with the same clusters.

    The variances of the samples are added, as for independent samples.

    samples: float64 [n_queries] each, at least two queries. clusters: whole numbers [n_queries];
    None for independent captions. The variance over clusters is the linearised variance of a ratio:
    G / (G - 1) * sum((S_g - m_g * mean)^2) / n^2, with the sum S_g and the size m_g of each cluster
    (Cochran 1977, Sampling Techniques, section 9A.1). Samples that do not vary have the effect 1.
    Returns None if there is only one cluster. Raises ValueError if `clusters` does not have one
    number for each query.
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
    """Return the variance of a sample [n >= 2], with divisor n - 1; exactly 0 for equal numbers."""
    # The mean of equal numbers may differ from them in its last digit.
    return 0.0 if sample.min() == sample.max() else float(sample.var(ddof=1))
