"""Bootstrap of mean scores: how far a mean would move, had other captions been chosen.

Per-query values of a measure are float64 [n_queries], or [m, n_queries] for several systems or
measures of the same queries. A resample draws queries with replacement, all their values together,
so that differences stay paired.

The experiment of the FIRE paper's section 4.3 (figures 4, 9 and 10): had only N captions been
annotated, how would a system's score vary? `draw_sub_samples` draws N captions 10,000 times over.
From the spread follows the smallest difference between two systems that is significant at 95
percent. It depends on how the systems are compared, so both ways are offered by name:

independent  each system on a sub-sample of its own, as when figures of two papers are compared:
             z * sqrt(sd_a^2 + sd_b^2), which is 1.96 * sqrt(2) * sd for systems of equal spread
paired       both on the same captions, as on one benchmark: z * sd of the mean difference

z is the normal quantile (1.96 at 95 percent); sd is the standard deviation of the sub-samples'
means, sigma / sqrt(N) but for chance. The paired one is the smaller, the more alike the systems.

Captions of one video are dependent: with `clusters`, whole videos are drawn instead. Intervals of
means name their method:

wilson, paired  closed forms for values of 0 and 1 and their differences, see `proportions`
percentile      percentiles of resampled means (Efron and Tibshirani 1993, chapter 13), with tails
                widened for small samples to normal(-t sqrt(G / (G - 1))), t the quantile with G - 1
                degrees of freedom (Hesterberg 2015, "What teachers should know about the
                bootstrap", section 5). Without it, 8 clusters cover .87 in place of .95. G is the
                effective number of clusters n^2 / sum of squared sizes (after Carter, Schnepel and
                Steigerwald 2017): clusters of unequal size count as fewer.
t               mean ± t times the jackknife's standard error over clusters. Used where even the
                outermost resamples, of a single cluster each, cover too little: 1 - 2^(1 - G),
                which at 95 % is for fewer than 6 clusters.

By simulation (8, 12 and 19 clusters, equal and very unequal, symmetric and skewed values) the
widened percentiles cover .93 to .96, t .92 to .95, BCa .85 to .92.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray, whole_numbers
from evaluation.core.people.alpha import NO_VARIATION, Interval, check_resampling
from evaluation.core.relevance.scoring import NO_QUERIES
from evaluation.core.statistics.proportions import (
    effective_size,
    jackknife_deviation,
    paired_interval,
    t_quantile,
    wilson_interval,
)
from evaluation.core.statistics.ties import ROUNDING

ONE_QUERY: Final = "a single query does not vary"
ONE_CLUSTER: Final = "a single cluster does not vary"

WILSON, PAIRED, PERCENTILE, T = "wilson", "paired", "percentile", "t"

FEW_CLUSTERS: Final = 20
"""With fewer, an interval depends on its small-sample correction, and pages show a warning."""

# A value that a sample holds so often or more is counted by one binomial number, which costs as
# much as some thirty draws; numpy's quick method for these also begins at an expected count of 30.
_FREQUENT: Final = 30

# A resample of a single row that takes more draws than that is drawn by group: `_sum_groups`.
_EXACT_DRAWS: Final = 1 << 12
_GROUPS: Final = 64

# With more rows it is faster to count how often each column was picked.
_COUNTED: Final = 2

# Draws at a time, few enough to stay in the cache.
_CHUNK_DRAWS: Final = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class SubSamples:
    """Mean scores in repeated sub-samples.

    size: captions in each, N. means: float64 [resamples], at least two, as they were drawn.
    """

    size: int
    means: FloatArray

    @property
    def mean(self) -> float:
        return float(self.means.mean())

    @property
    def deviation(self) -> float:
        """Standard deviation of the means."""
        return float(self.means.std(ddof=1))

    def quantiles(self, shares: Sequence[float]) -> FloatArray:
        """The mean scores below which these shares (0 to 1) of the sub-samples lie."""
        return np.asarray(np.quantile(self.means, shares), dtype=np.float64)


def draw_sub_samples(
    values: npt.ArrayLike, size: int, resamples: int = 10_000, *, rng: np.random.Generator
) -> SubSamples:
    """Means of `size` of the values [n_queries], drawn with replacement, `resamples` times.

    For a paired comparison give the differences of two systems. Raises ValueError without values,
    for a size below 1 and for fewer than two resamples.
    """
    known = check_values(values, 1)
    if known.size == 0 or size < 1 or resamples < 2:
        raise ValueError("sub-samples need values, a size of 1 and at least two resamples")
    return SubSamples(size, resampled_sums(known[None], size, resamples, rng)[0] / size)


def smallest_independent_difference(
    system: SubSamples, other: SubSamples | None = None, *, confidence: float = 0.95
) -> float:
    """Smallest significant difference of two systems, each scored on a sub-sample of its own.

    Without `other` the second system is taken to vary as the first. See the module's docstring.
    """
    deviation = math.hypot(system.deviation, (other or system).deviation)
    return normal_quantile(confidence) * deviation


def smallest_paired_difference(differences: SubSamples, *, confidence: float = 0.95) -> float:
    """Smallest significant difference of two systems that are scored on the same sub-sample.

    differences: sub-samples of the per-query differences. See the module's docstring.
    """
    return normal_quantile(confidence) * differences.deviation


def mean_interval(
    values: npt.ArrayLike,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> Interval:
    """Return the interval of the mean of values [n_queries], by the method that fits them.

    clusters: whole numbers [n_queries]; queries of the same number, such as the captions of one
    video, are drawn together. Values of 0 and 1 are taken as shares, values of -1, 0 and 1 as
    differences of shares. Undefined with fewer than two queries or clusters, and if all values are
    equal (but for shares and their differences). Raises ValueError for values that are not finite
    and for parameters out of bounds.
    """
    known = check_values(values, 1)
    method = PAIRED if np.any(known < 0) else WILSON
    return _mean_interval(known, method, resamples, rng, confidence, clusters)


def difference_interval(
    values: npt.ArrayLike,
    others: npt.ArrayLike,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> Interval:
    """Return the interval of the mean of values - others, both [n_queries] of the same queries.

    Such as a measure under two label sets, or of two systems; else as `mean_interval`.
    """
    differences = paired_differences(values, others)
    return _mean_interval(differences, PAIRED, resamples, rng, confidence, clusters)


def _mean_interval(
    known: FloatArray,
    closed: str,
    resamples: int,
    rng: np.random.Generator,
    confidence: float,
    clusters: npt.ArrayLike | None,
) -> Interval:
    check_resampling(resamples, confidence)
    undefined = why_undefined(known.size, clusters)
    if undefined is not None:
        return Interval(None, None, confidence, 0, 0, undefined)
    found = closed_interval(known, closed, confidence, clusters)
    if found is not None:
        return found
    means = resampled_means(known[None], resamples, rng=rng, clusters=clusters)[0]
    return interval_of_means(means, known, confidence, clusters)


def closed_interval(
    values: FloatArray, closed: str, confidence: float, clusters: npt.ArrayLike | None
) -> Interval | None:
    """Return the interval of the mean of values [n >= 2] of 0 and 1 (closed: `WILSON`) or of -1, 0
    and 1 (`PAIRED`); None for other values."""
    kinds = (0.0, 1.0) if closed == WILSON else (-1.0, 0.0, 1.0)
    whole = np.rint(values)
    if np.any(np.abs(values - whole) > ROUNDING) or not np.isin(whole, kinds).all():
        return None
    z, size = normal_quantile(confidence), float(len(values))
    if clusters is not None:
        size = effective_size(whole, dense_clusters(clusters, len(values)), confidence, z)
    won, lost = float(np.mean(whole > 0)), float(np.mean(whole < 0))
    if closed == WILSON:
        low, high = wilson_interval(won, size, z)
    else:
        low, high = paired_interval(won, lost, size, z)
    return Interval(low, high, confidence, 0, method=closed)


def interval_of_means(
    means: FloatArray, values: FloatArray, confidence: float, clusters: npt.ArrayLike | None
) -> Interval:
    """Return the interval of the mean of values [n >= 2] from resampled means [resamples].

    See the module's docstring for its method, `PERCENTILE` or `T`. Undefined if nothing varies.
    """
    sums, sizes = _cluster_totals(values, clusters)
    number = effective_clusters(sizes)
    if np.ptp(sums / sizes) <= ROUNDING:
        return Interval(None, None, confidence, len(means), 0, NO_VARIATION)
    if 1 - 2.0 ** (1 - len(sizes)) < confidence:
        half = t_quantile(confidence, number - 1) * jackknife_deviation(sums, sizes)
        low, high = _bounds_of_mean(values)
        mean = float(values.mean())
        return Interval(max(low, mean - half), min(high, mean + half), confidence, 0, method=T)
    wider = math.sqrt(number / (number - 1)) * t_quantile(confidence, number - 1)
    tail = NormalDist().cdf(-wider)
    low, high = np.quantile(means, [tail, 1 - tail]).tolist()
    return Interval(low, high, confidence, len(means))


def _bounds_of_mean(values: FloatArray) -> tuple[float, float]:
    """Return the ends between which the true mean lies, within the range of the measure."""
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
    """Return n^2 / sum of squared sizes [G]: G for clusters of equal size, else fewer."""
    return float(sizes.sum()) ** 2 / float(sizes @ sizes)


def small_sample_p(p: float, values: FloatArray, clusters: npt.ArrayLike | None) -> float:
    """Return a two-sided bootstrap p of a mean of 0, corrected for few queries or clusters.

    It is the inverse of the widened tails: p is below 1 - confidence if and only if the widened
    interval excludes 0. With many clusters it hardly changes.
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
    """Means of resamples as large as the whole: float64 [m, resamples] from values [m, n].

    By cluster, as many clusters are drawn as there are; a mean is the sum of their values divided
    by the number of their queries, which varies.
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
    """Sums of `size` columns of values [m, n], drawn with replacement: float64 [m, resamples].

    A sum depends only on how often each different column was drawn. For the frequent ones these
    numbers are drawn as such, exactly, as one multinomial number a resample with all rare columns
    as one further kind; only those are then picked one by one. A measure of zeros and ones takes
    one binomial number a resample. Where that would take long, a single row of many different
    values is drawn by group: `_sum_groups`. n must be at least 1.
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
    """Sums of `size` of many values [n], drawn with replacement: float64 [resamples].

    What makes up a 64th of all values is a kind of its own, and neighbours among the others make
    64 groups. How often each is drawn is one multinomial number, exactly. By how much the values
    drawn from the groups differ from their groups' means, thousands of small deviations added up,
    is drawn from the normal distribution of the same variance. So sums have the mean and variance
    of picking one by one; only the higher moments of those deviations, some 1 / 64^2 of the
    variance, are lost. Ten thousand resamples cannot tell the two apart, and however many values
    there are, it takes no longer.
    """
    single, weights, others = _split_by_frequency(values[None], 1 / _GROUPS)
    groups = split_neighbours(others[0])
    kinds = np.concatenate([single[0], [group.mean() for group in groups]])
    variances = np.concatenate([np.zeros(len(weights)), [group.var() for group in groups]])
    shares = np.concatenate([weights, [len(group) for group in groups]]) / len(values)
    sums = np.empty(resamples, dtype=np.float64)
    chunk = max(1, _CHUNK_DRAWS // len(shares))
    for start in range(0, resamples, chunk):
        counts = rng.multinomial(size, shares, size=min(chunk, resamples - start))
        deviations = rng.standard_normal(len(counts)) * np.sqrt(counts @ variances)
        sums[start : start + len(counts)] = counts @ kinds + deviations
    return sums


def split_neighbours(ordered: FloatArray) -> list[FloatArray]:
    """Ascending values [n] in at most 64 groups of neighbours, smaller ones far from the mean.

    Half of the division is by number, half by distance, so that a long tail has its groups, too.
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
    """The different columns that make up `share` of all or more [m, K], how many there are of
    each [K], and all other columns [m, R], repeated as they are."""
    ordered = values[:, np.lexsort(values)]
    differs = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    starts = np.flatnonzero(np.concatenate([[True], differs]))
    weights = np.diff(starts, append=ordered.shape[1])
    kept = weights >= share * ordered.shape[1]
    rare = np.repeat(~kept, weights)
    return ordered[:, starts[kept]], weights[kept], np.ascontiguousarray(ordered[:, rare])


def _sum_picks(rare: FloatArray, counts: IntArray, rng: np.random.Generator) -> FloatArray:
    """Sums of counts[b] columns of rare [m, R] for each resample b: [m, B]."""
    starts = np.concatenate([[0], np.cumsum(counts)])
    # One pick too many: it belongs to no resample, but all starts lie within the picks.
    picks = rng.integers(0, rare.shape[1], starts[-1] + 1)
    if len(rare) > _COUNTED and len(counts) == 1:
        times = np.bincount(picks[:-1], minlength=rare.shape[1])
        return (rare @ times.astype(np.float64))[:, None]
    sums = np.stack([np.add.reduceat(row[picks], starts)[:-1] for row in rare])
    return np.where(counts > 0, sums, 0.0)  # reduceat takes an empty stretch for one number


def sum_clusters(values: FloatArray, clusters: npt.ArrayLike) -> FloatArray:
    """Sums over the queries of each cluster: [m, G] from values [m, n], by cluster number."""
    kind = dense_clusters(clusters, values.shape[1])
    return np.stack([np.bincount(kind, weights=row) for row in values]).astype(np.float64)


def dense_clusters(clusters: npt.ArrayLike, n_queries: int) -> IntArray:
    """The same clusters numbered 0, 1, 2 … without gaps, int64 [n_queries].

    Raises ValueError for anything but one whole number for each query.
    """
    numbers = whole_numbers(clusters, "clusters", None)
    if len(numbers) != n_queries:
        raise ValueError(f"{len(numbers)} clusters for {n_queries} queries")
    return np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.int64, copy=False)


def why_undefined(n_queries: int, clusters: npt.ArrayLike | None) -> str | None:
    """Why a mean of so many queries has no interval, or None."""
    if n_queries < 2:
        return ONE_QUERY if n_queries else NO_QUERIES
    if clusters is not None and dense_clusters(clusters, n_queries).max() == 0:
        return ONE_CLUSTER
    return None


def check_resamplable(n_queries: int, clusters: npt.ArrayLike | None) -> None:
    """Raise ValueError with the reason why a mean of so many queries has no interval."""
    undefined = why_undefined(n_queries, clusters)
    if undefined is not None:
        raise ValueError(undefined)


def normal_quantile(confidence: float) -> float:
    """z such that a standard normal number lies within -z to z in `confidence` of all cases."""
    if not 0 < confidence < 1:
        raise ValueError("confidence must lie between 0 and 1")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def paired_differences(values: npt.ArrayLike, others: npt.ArrayLike) -> FloatArray:
    """values - others, [n_queries]; ValueError unless both belong to as many queries."""
    first, second = check_values(values, 1), check_values(others, 1)
    if first.shape != second.shape:
        raise ValueError(f"{len(first)} values cannot be paired with {len(second)}")
    return first - second


def check_values(values: npt.ArrayLike, ndim: int) -> FloatArray:
    """`values` as float64; ValueError unless of `ndim` dimensions and finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != ndim:
        raise ValueError(f"values have {array.ndim} dimensions in place of {ndim}")
    if not np.isfinite(array).all():
        raise ValueError("a value is not a finite number")
    return array
