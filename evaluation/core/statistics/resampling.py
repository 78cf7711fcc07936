"""Bootstrap of mean scores: the variation of a mean if other captions had been sampled.

Per-query values of a measure are float64 [n_queries], or [m, n_queries] for several systems or
measures on the same queries. A resample draws queries with replacement, together with all their
values, so that differences stay paired.

The module contains the experiment of section 4.3 of the FIRE study (its figures 4, 9 and 10): how
much would a system's score vary if only N captions had been annotated? `draw_sub_samples` draws N
captions 10,000 times. The smallest difference between two systems that is significant at 95 %
follows from the standard deviation of the means. The formula depends on the comparison:

independent  Each system has its own sub-sample, as in a comparison of two papers. The difference is
             z * sqrt(sd_a^2 + sd_b^2), or 1.96 * sqrt(2) * sd if both deviations are equal.
paired       Both systems have the same captions, as on one benchmark. The difference is z * sd of
             the mean difference. It is smaller the more similar the systems are.

z is the normal quantile (1.96 at 95 %). sd is the standard deviation of the sub-samples' means,
about sigma / sqrt(N).

Captions of one video are dependent. If `clusters` are passed, whole videos are drawn instead of
captions. The method of an interval of a mean is one of:

wilson, paired  Closed forms for values of 0 and 1 and their differences, see `proportions`.
percentile      Percentiles of resampled means (Efron and Tibshirani 1993, chapter 13). The interval
                is widened for small samples: the share of resamples below it is
                Phi(-t sqrt(G / (G - 1))), and so is the share above it. Phi is the distribution
                function of a standard normal number, and t the quantile of Student's t with G - 1
                degrees of freedom (Hesterberg 2015, "What teachers should know about the
                bootstrap", section 5). Without this, the coverage with 8 clusters is .87 instead of
                .95. G is the effective number of clusters, n^2 / sum of squared sizes (after
                Carter, Schnepel and Steigerwald 2017), which is lower for clusters of unequal size.
t               Mean ± t times the jackknife standard error over clusters. It is used if the
                percentiles cannot reach the confidence. The most extreme resamples repeat a single
                cluster. The interval between them is the widest one, but its coverage is only
                1 - 2^(1 - G). At 95 %, this is too little for fewer than 6 clusters.

In simulations (8, 12 and 19 clusters of equal and of very unequal size, symmetric and skewed
values), the coverage is .93 to .96 for widened percentiles, .92 to .95 for t, and .85 to .92 for
BCa (bias-corrected and accelerated percentiles).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray, dense_groups
from evaluation.core.people.alpha import NO_VARIATION, Interval, check_resampling
from evaluation.core.relevance.measure import NO_QUERIES
from evaluation.core.statistics import proportions
from evaluation.core.statistics.ties import ROUNDING

ONE_QUERY: Final = "a single query does not vary"
ONE_CLUSTER: Final = "a single cluster does not vary"

WILSON, PAIRED, PERCENTILE, T = "wilson", "paired", "percentile", "t"

FEW_CLUSTERS: Final = 20
"""With fewer clusters, an interval depends on its small-sample correction, and pages show a
warning."""

# If a value is expected this often in a resample, its count is drawn as one binomial number. This
# takes as long as about 30 single draws, and numpy's fast method also begins at a mean of 30.
_FREQUENT: Final = 30

# If a resample of a single row needs more draws than this, `_sum_groups` draws it in groups.
_EXACT_DRAWS: Final = 1 << 12
_GROUPS: Final = 64

# With more rows than this, it is faster to count how often each column was drawn.
_COUNTED: Final = 2

# Number of draws that are made together, so that they fit into the cache.
_CHUNK_DRAWS: Final = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class SubSamples:
    """Mean scores of repeated sub-samples.

    size: number N of captions in each sub-sample. means: float64 [resamples], at least two means,
    in the order in which they were drawn.
    """

    size: int
    means: FloatArray

    @property
    def mean(self) -> float:
        """Mean of the means."""
        return float(self.means.mean())

    @property
    def deviation(self) -> float:
        """Standard deviation of the means."""
        return float(self.means.std(ddof=1))

    def quantiles(self, shares: Sequence[float]) -> FloatArray:
        """Return the mean scores below which these shares (0 to 1) of the sub-samples lie."""
        return np.asarray(np.quantile(self.means, shares), dtype=np.float64)


def draw_sub_samples(
    values: npt.ArrayLike, size: int, resamples: int = 10_000, *, rng: np.random.Generator
) -> SubSamples:
    """Draw `resamples` sub-samples of `size` values each, with replacement.

    values: float64 [n_queries]. For a paired comparison, pass the differences of two systems.
    Raises ValueError if there are no values, the size is below 1, or there are fewer than two
    resamples.
    """
    checked = check_values(values, 1)
    if checked.size == 0 or size < 1 or resamples < 2:
        raise ValueError("sub-samples need values, a size of at least 1 and two resamples or more")
    return SubSamples(size, resampled_sums(checked[None], size, resamples, rng)[0] / size)


def smallest_independent_difference(
    system: SubSamples, other: SubSamples | None = None, *, confidence: float = 0.95
) -> float:
    """Return the smallest significant difference of two systems with separate sub-samples.

    other: sub-samples of the second system. If it is None, the deviation of the second system is
    assumed to equal that of the first. The module's docstring has the formula.
    """
    deviation = math.hypot(system.deviation, (other or system).deviation)
    return normal_quantile(confidence) * deviation


def mean_interval(
    values: npt.ArrayLike,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> Interval:
    """Return the interval of the mean of values, by the method that suits them.

    values: float64 [n_queries]. clusters: whole numbers [n_queries]; queries with the same number,
    such as the captions of one video, are drawn together. Values of 0 and 1 are treated as shares,
    and values of -1, 0 and 1 as differences of shares. The interval is undefined with fewer than
    two queries or clusters. It is also undefined if all values are equal, except for shares and
    their differences. Raises ValueError if a value is not finite or a parameter is out of bounds.
    """
    checked = check_values(values, 1)
    method = PAIRED if np.any(checked < 0) else WILSON
    return _mean_interval(checked, method, resamples, rng, confidence, clusters)


def difference_interval(
    values: npt.ArrayLike,
    others: npt.ArrayLike,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> Interval:
    """Return the interval of the mean of values - others, as `mean_interval` does.

    values, others: float64 [n_queries], on the same queries: for example a measure of two systems,
    or of one system under two label sets.
    """
    differences = paired_differences(values, others)
    return _mean_interval(differences, PAIRED, resamples, rng, confidence, clusters)


def _mean_interval(
    values: FloatArray,
    closed: str,
    resamples: int,
    rng: np.random.Generator,
    confidence: float,
    clusters: npt.ArrayLike | None,
) -> Interval:
    check_resampling(resamples, confidence)
    undefined = undefined_reason(values.size, clusters)
    if undefined is not None:
        return Interval(None, None, confidence, 0, 0, undefined)
    interval = closed_interval(values, closed, confidence, clusters)
    if interval is not None:
        return interval
    means = resampled_means(values[None], resamples, rng=rng, clusters=clusters)[0]
    return interval_of_means(means, values, confidence, clusters)


def closed_interval(
    values: FloatArray, closed: str, confidence: float, clusters: npt.ArrayLike | None
) -> Interval | None:
    """Return the interval of a mean by a closed form, or None if the values do not suit it.

    values: float64 [n >= 2]. closed: `WILSON` for values of 0 and 1, or `PAIRED` for values of -1,
    0 and 1.
    """
    kinds = (0.0, 1.0) if closed == WILSON else (-1.0, 0.0, 1.0)
    whole = np.rint(values)
    if np.any(np.abs(values - whole) > ROUNDING) or not np.isin(whole, kinds).all():
        return None
    z, size = normal_quantile(confidence), float(len(values))
    if clusters is not None:
        size = proportions.effective_size(whole, dense_groups(clusters, len(values)), confidence, z)
    won, lost = float(np.mean(whole > 0)), float(np.mean(whole < 0))
    if closed == WILSON:
        low, high = proportions.wilson_interval(won, size, z)
    else:
        low, high = proportions.paired_interval(won, lost, size, z)
    return Interval(low, high, confidence, 0, method=closed)


def interval_of_means(
    means: FloatArray, values: FloatArray, confidence: float, clusters: npt.ArrayLike | None
) -> Interval:
    """Return the interval of a mean by the method `PERCENTILE` or `T` of the module's docstring.

    means: float64 [resamples], from `resampled_means`. values: float64 [n >= 2]. The interval is
    undefined if the means of all clusters are equal.
    """
    sums, sizes = _cluster_totals(values, clusters)
    number = effective_clusters(sizes)
    if np.ptp(sums / sizes) <= ROUNDING:
        return Interval(None, None, confidence, len(means), 0, NO_VARIATION)
    if 1 - 2.0 ** (1 - len(sizes)) < confidence:
        half = proportions.t_quantile(confidence, number - 1) * proportions.jackknife_deviation(
            sums, sizes
        )
        low, high = _bounds_of_mean(values)
        mean = float(values.mean())
        return Interval(max(low, mean - half), min(high, mean + half), confidence, 0, method=T)
    low, high = widened_percentiles(means, number, confidence)
    return Interval(low, high, confidence, len(means))


def widened_percentiles(
    resampled: FloatArray, number: float, confidence: float, method: str = "linear"
) -> tuple[float, float]:
    """Return the percentiles of resampled figures, widened for few clusters.

    number: the effective number of clusters, above 1. method: the `method` of `np.quantile`. The
    module's docstring has the formula.
    """
    wider = math.sqrt(number / (number - 1)) * proportions.t_quantile(confidence, number - 1)
    tail = NormalDist().cdf(-wider)
    low, high = np.quantile(resampled, [tail, 1 - tail], method=method).tolist()  # type: ignore[call-overload]
    return low, high


def _bounds_of_mean(values: FloatArray) -> tuple[float, float]:
    """Return the range of the measure, which limits the interval: 0 to 1, -1 to 1, or none."""
    if np.abs(values).max() > 1:
        return -math.inf, math.inf
    return (-1.0, 1.0) if values.min() < 0 else (0.0, 1.0)


def _cluster_totals(
    values: FloatArray, clusters: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    """Return the sum and the number of the values of each cluster, [G] each."""
    if clusters is None:
        return values, np.ones(len(values))
    sums, sizes = sum_clusters(np.stack([values, np.ones(len(values))]), clusters)
    return sums, sizes


def effective_clusters(sizes: FloatArray) -> float:
    """Return the effective number of clusters, n^2 / sum of squared sizes.

    sizes: float64 [G]. The result is G for clusters of equal size, and otherwise lower.
    """
    return float(sizes.sum()) ** 2 / float(sizes @ sizes)


def small_sample_p(p: float, values: FloatArray, clusters: npt.ArrayLike | None) -> float:
    """Return a two-sided bootstrap p for a mean of 0, corrected for few queries or clusters.

    The correction inverts the widened tails: p is below 1 - confidence if and only if the widened
    interval excludes 0. With many clusters, p hardly changes. values: float64 [n_queries].
    """
    number = effective_clusters(_cluster_totals(values, clusters)[1])
    if p >= 1:
        return 1.0
    from scipy.special import stdtr  # type: ignore[import-untyped]  # slow to import

    deviations = NormalDist().inv_cdf(1 - p / 2) * math.sqrt((number - 1) / number)
    return float(2 * stdtr(number - 1, -deviations))


def resampled_means(
    values: FloatArray,
    resamples: int,
    *,
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
) -> FloatArray:
    """Return the means of resamples, float64 [m, resamples].

    values: float64 [m, n]. A resample draws n columns. If `clusters` is not None, it draws as many
    clusters as there are, and the mean is the sum of their values divided by their number of
    queries, which varies.
    """
    n_queries = values.shape[1]
    if clusters is None:
        return np.asarray(resampled_sums(values, n_queries, resamples, rng) / n_queries)
    sums = sum_clusters(np.vstack([values, np.ones(n_queries)]), clusters)
    drawn = resampled_sums(sums, sums.shape[1], resamples, rng)
    return np.asarray(drawn[:-1] / drawn[-1])


def resampled_sums(
    values: FloatArray, size: int, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return the sums of `size` columns drawn with replacement, float64 [m, resamples].

    values: float64 [m, n], n at least 1. A sum depends only on how often each different column is
    drawn. For frequent columns, these counts are drawn from their exact multinomial distribution,
    in which all rare columns together are one category. Only rare columns are drawn one by one. A
    measure of zeros and ones therefore needs one binomial number per resample. A single row of many
    different values would take long, and is drawn by `_sum_groups`.
    """
    frequent, weights, rare = _split_by_frequency(values, _FREQUENT / size)
    n_rare = size * rare.shape[1] / values.shape[1]
    if len(values) == 1 and n_rare + _FREQUENT * len(weights) > _EXACT_DRAWS:
        return _sum_groups(values[0], size, resamples, rng)[None]
    shares = np.concatenate([[rare.shape[1]], weights]) / values.shape[1]
    sums = np.empty((len(values), resamples), dtype=np.float64)
    chunk = max(1, int(_CHUNK_DRAWS / max(len(shares), n_rare)))
    for start in range(0, resamples, chunk):
        counts = rng.multinomial(size, shares, size=min(chunk, resamples - start))
        part = frequent @ counts[:, 1:].T
        if rare.size:
            part += _sum_picks(rare, counts[:, 0], rng)
        sums[:, start : start + len(counts)] = part
    return sums


def _sum_groups(
    values: FloatArray, size: int, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return the sums of `size` values drawn with replacement, approximately: float64 [resamples].

    values: float64 [n], many different values. A value that makes up a 64th of all values or more
    has its own group. The other values are divided into 64 groups of neighbours. The number of
    draws from each group has its exact multinomial distribution. The deviations of the drawn values
    from the means of their groups are many and small, so their sum is drawn from a normal
    distribution with the same variance. The sums therefore have the correct mean and variance. Only
    the higher moments of the deviations are not exact. The variance of the deviations is about
    1 / 64^2 of the whole variance.
    The error is invisible in 10,000 resamples, and the running time does not depend on n.
    """
    single, weights, rest = _split_by_frequency(values[None], 1 / _GROUPS)
    groups = split_neighbours(rest[0])
    centres = np.concatenate([single[0], [group.mean() for group in groups]])
    variances = np.concatenate([np.zeros(len(weights)), [group.var() for group in groups]])
    shares = np.concatenate([weights, [len(group) for group in groups]]) / len(values)
    sums = np.empty(resamples, dtype=np.float64)
    chunk = max(1, _CHUNK_DRAWS // len(shares))
    for start in range(0, resamples, chunk):
        counts = rng.multinomial(size, shares, size=min(chunk, resamples - start))
        deviations = rng.standard_normal(len(counts)) * np.sqrt(counts @ variances)
        sums[start : start + len(counts)] = counts @ centres + deviations
    return sums


def split_neighbours(ordered: FloatArray) -> list[FloatArray]:
    """Divide ascending values [n] into at most 64 groups of neighbours.

    A group ends when its number of values plus their relative distance from the mean reaches a
    limit. Groups far from the mean are therefore smaller, and a long tail has several groups.
    """
    if ordered.size == 0:
        return []
    distance = np.abs(ordered - ordered.mean())
    reached = np.cumsum(1 + distance / (distance.mean() or 1.0))
    edges = np.searchsorted(reached, np.arange(1, _GROUPS) / _GROUPS * reached[-1])
    return [group for group in np.split(ordered, edges) if group.size]


def _split_by_frequency(
    values: FloatArray, share: float
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Separate frequent columns from rare ones. values: float64 [m, n].

    Returns the different columns that make up at least `share` of all columns [m, K], the number of
    each [K], and all other columns with their repetitions [m, R].
    """
    ordered = values[:, np.lexsort(values)]
    differs = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    starts = np.flatnonzero(np.concatenate([[True], differs]))
    weights = np.diff(starts, append=ordered.shape[1])
    frequent = weights >= share * ordered.shape[1]
    rare = np.ascontiguousarray(ordered[:, np.repeat(~frequent, weights)])
    return ordered[:, starts[frequent]], weights[frequent], rare


def _sum_picks(rare: FloatArray, counts: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return the sum of counts[b] random columns of `rare` [m, R] for each resample b: [m, B]."""
    starts = np.concatenate([[0], np.cumsum(counts)])
    # One more column than needed is drawn, because `reduceat` needs every start to be in range.
    picks = rng.integers(0, rare.shape[1], starts[-1] + 1)
    if len(rare) > _COUNTED and len(counts) == 1:
        times = np.bincount(picks[:-1], minlength=rare.shape[1])
        return (rare @ times.astype(np.float64))[:, None]
    sums = np.stack([np.add.reduceat(row[picks], starts)[:-1] for row in rare])
    return np.where(counts > 0, sums, 0.0)  # for an empty slice, `reduceat` returns one number


def sum_clusters(values: FloatArray, clusters: npt.ArrayLike) -> FloatArray:
    """Return the sums over the queries of each cluster, float64 [m, G], ordered by cluster number.

    values: float64 [m, n_queries]. clusters: whole numbers [n_queries].
    """
    dense = dense_groups(clusters, values.shape[1])
    return np.stack([np.bincount(dense, weights=row) for row in values]).astype(np.float64)


def undefined_reason(n_queries: int, clusters: npt.ArrayLike | None) -> str | None:
    """Return the reason why a mean of `n_queries` queries has no interval, or None."""
    if n_queries < 2:
        return ONE_QUERY if n_queries else NO_QUERIES
    if clusters is not None and dense_groups(clusters, n_queries).max() == 0:
        return ONE_CLUSTER
    return None


def check_resamplable(n_queries: int, clusters: npt.ArrayLike | None) -> None:
    """Raise ValueError with the reason if a mean of `n_queries` queries has no interval."""
    undefined = undefined_reason(n_queries, clusters)
    if undefined is not None:
        raise ValueError(undefined)


def normal_quantile(confidence: float) -> float:
    """Return z such that a standard normal number lies in -z to z with probability `confidence`.

    Raises ValueError if the confidence does not lie between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError("confidence must lie between 0 and 1")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def paired_differences(values: npt.ArrayLike, others: npt.ArrayLike) -> FloatArray:
    """Return values - others, float64 [n_queries]. Raises ValueError if the lengths differ."""
    first, second = check_values(values, 1), check_values(others, 1)
    if first.shape != second.shape:
        raise ValueError(f"{len(first)} values cannot be paired with {len(second)}")
    return first - second


def check_values(values: npt.ArrayLike, ndim: int) -> FloatArray:
    """Return `values` as float64.

    Raises ValueError if a value is not finite, or if there are not `ndim` dimensions.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != ndim:
        raise ValueError(f"values have {array.ndim} dimensions instead of {ndim}")
    if not np.isfinite(array).all():
        raise ValueError("a value is not a finite number")
    return array
