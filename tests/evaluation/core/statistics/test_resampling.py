"""Resamples and intervals of means, compared with plain draws, scipy and simulations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.core.arrays import FloatArray
from evaluation.core.people.alpha import NO_VARIATION, Interval
from evaluation.core.relevance.measure import NO_QUERIES
from evaluation.core.statistics import resampling
from evaluation.core.statistics.resampling import (
    ONE_CLUSTER,
    ONE_QUERY,
    SubSamples,
    difference_interval,
    draw_sub_samples,
    effective_clusters,
    interval_of_means,
    mean_interval,
    resampled_means,
    resampled_sums,
    small_sample_p,
    smallest_independent_difference,
)

# Half of the values are 0 or 1, and the others are all different.
MIXED = np.concatenate([np.zeros(150), np.ones(150), np.random.default_rng(3).random(300)])
ZERO_ONE = np.repeat([0.0, 1.0], [240, 360])
DISTINCT = np.random.default_rng(4).random(600)


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def draw_plainly(values: FloatArray, size: int, resamples: int, seed: int) -> FloatArray:
    """Return means of resamples, drawn query by query as in textbooks."""
    draws = rng_of(seed).integers(0, len(values), (resamples, size))
    return np.asarray(values[draws].mean(axis=1))


# --- Drawing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [MIXED, ZERO_ONE, DISTINCT], ids=["mixed", "0/1", "distinct"])
@pytest.mark.parametrize("size", [20, 600])
def test_means_are_distributed_as_when_drawn_one_by_one(values: FloatArray, size: int) -> None:
    ours = draw_sub_samples(values, size, 20_000, rng=rng_of(1)).means
    plain = draw_plainly(values, size, 20_000, 2)
    error = plain.std() / math.sqrt(20_000)
    assert ours.mean() == pytest.approx(values.mean(), abs=4 * error)
    assert ours.std() == pytest.approx(values.std() / math.sqrt(size), rel=0.02)
    shares = [0.025, 0.25, 0.5, 0.75, 0.975]
    assert np.quantile(ours, shares) == pytest.approx(
        np.quantile(plain, shares), abs=max(6 * error, 1 / size if values is ZERO_ONE else 0)
    )


def test_both_ways_of_drawing_are_used() -> None:
    frequent, weights, rare = resampling._split_by_frequency(MIXED[None], 30 / 600)
    assert (frequent.tolist(), weights.tolist()) == ([[0.0, 1.0]], [150, 150])
    assert sorted(rare[0].tolist()) == sorted(MIXED[300:].tolist())
    # In a sample of 20, no value can occur 30 times, so all values are rare.
    assert resampling._split_by_frequency(MIXED[None], 30 / 20)[2].shape == (1, 600)
    assert resampling._split_by_frequency(ZERO_ONE[None], 30 / 600)[2].shape == (1, 0)


def test_split_keeps_repetitions_of_rare_columns() -> None:
    values = np.array([[2.0, 1.0, 2.0, 0.0, 1.0, 2.0], [5.0, 5.0, 5.0, 5.0, 6.0, 5.0]])
    frequent, weights, rare = resampling._split_by_frequency(values, 0.5)
    assert (frequent.tolist(), weights.tolist()) == ([[2.0], [5.0]], [3])
    assert rare.tolist() == [[0.0, 1.0, 1.0], [5.0, 5.0, 6.0]]


def test_a_resample_without_rare_columns_adds_0() -> None:
    rare = np.array([[3.0], [-1.0]])
    sums = resampling._sum_picks(rare, np.array([0, 2, 0, 0, 1, 0]), rng_of(0))
    assert sums.tolist() == [[0.0, 6.0, 0.0, 0.0, 3.0, 0.0], [0.0, -2.0, 0.0, 0.0, -1.0, 0.0]]


MANY = np.concatenate([np.zeros(3000), np.random.default_rng(5).lognormal(0, 1.5, 9000)])


@pytest.mark.parametrize("groups", [2, 64])
def test_many_values_are_drawn_by_group(groups: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With only two groups, nearly all of the variance is deviation from their means."""
    monkeypatch.setattr(resampling, "_GROUPS", groups)
    sums = resampled_sums(MANY[None], 12_000, 40_000, rng_of(1))[0]
    assert len(np.unique(np.round(sums, 6))) > 39_000
    deviation = MANY.std() * math.sqrt(12_000)
    assert sums.mean() == pytest.approx(MANY.sum(), abs=4 * deviation / math.sqrt(40_000))
    assert sums.std() == pytest.approx(deviation, rel=4 / math.sqrt(2 * 40_000))


def test_groups_do_not_change_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    grouped = resampled_sums(MANY[None], 12_000, 40_000, rng_of(1))[0]
    monkeypatch.setattr(resampling, "_EXACT_DRAWS", 1 << 20)
    picked = resampled_sums(MANY[None], 12_000, 5000, rng_of(2))[0]
    assert stats.ks_2samp(grouped, picked).pvalue > 0.01
    # The skewness of a sum is that of the values, divided by the root of their number.
    assert stats.skew(grouped) == pytest.approx(stats.skew(MANY) / math.sqrt(12_000), abs=0.05)


def test_long_tails_have_smaller_groups() -> None:
    ordered = np.sort(MANY[3000:])
    groups = resampling.split_neighbours(ordered)
    assert np.concatenate(groups).tolist() == ordered.tolist()
    assert len(groups) == 64
    assert len(groups[-1]) < 9000 / 64 / 5
    assert resampling.split_neighbours(np.ones(5))[0].tolist() == [1.0]
    assert resampling.split_neighbours(np.empty(0)) == []


def test_counted_and_single_draws_have_equal_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rng_of(3).random((4, 5000))
    monkeypatch.setattr(resampling, "_CHUNK_DRAWS", 5000)
    counted = resampled_sums(rows, 5000, 20, rng_of(1))
    monkeypatch.setattr(resampling, "_COUNTED", 4)
    picked = resampled_sums(rows, 5000, 20, rng_of(1))
    np.testing.assert_allclose(counted, picked, rtol=1e-12)


@given(
    values=st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 7.0]), min_size=1, max_size=40),
    size=st.integers(1, 400),
    resamples=st.integers(1, 30),
    seed=st.integers(0, 99),
)
def test_all_rows_have_the_same_draws(
    values: list[float], size: int, resamples: int, seed: int
) -> None:
    row = np.array(values)
    rows = np.stack([row, 2 * row, np.ones(len(row)), row == row.max()])
    sums = resampled_sums(rows, size, resamples, rng_of(seed))
    assert sums.shape == (4, resamples)
    # All sums are exact, because the values are quarters of small whole numbers.
    assert sums[1].tolist() == (2 * sums[0]).tolist()
    assert sums[2].tolist() == [float(size)] * resamples
    assert np.all((sums[0] >= size * row.min()) & (sums[0] <= size * row.max()))
    assert np.all(sums[0][sums[3] == size] == size * row.max())


@pytest.mark.parametrize("values", [MIXED, DISTINCT])
def test_chunks_change_nothing_but_the_draws(
    values: FloatArray, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = draw_sub_samples(values, 500, 4000, rng=rng_of(5))
    assert draw_sub_samples(values, 500, 4000, rng=rng_of(5)).means.tolist() == whole.means.tolist()
    monkeypatch.setattr(resampling, "_CHUNK_DRAWS", 700)
    parts = draw_sub_samples(values, 500, 4000, rng=rng_of(5))
    assert parts.deviation == pytest.approx(whole.deviation, rel=0.06)
    assert stats.ks_2samp(parts.means, whole.means).pvalue > 0.01


# --- Sub-samples and the smallest difference ------------------------------------------------------


def test_smallest_differences_by_hand() -> None:
    # The standard deviations (divisor n - 1) are 0.1 and 0.2.
    system = SubSamples(50, np.array([0.4, 0.5, 0.6]))
    other = SubSamples(50, np.array([0.1, 0.3, 0.5]))
    assert (system.mean, system.deviation) == pytest.approx((0.5, 0.1), abs=1e-15)
    assert system.quantiles([0.0, 0.25, 1.0]) == pytest.approx([0.4, 0.45, 0.6], abs=1e-15)
    z = stats.norm.ppf(0.975)
    assert z == pytest.approx(1.96, abs=1e-4)
    assert smallest_independent_difference(system) == pytest.approx(z * math.sqrt(0.02), abs=1e-12)
    both = smallest_independent_difference(system, other)
    assert both == pytest.approx(z * math.sqrt(0.05), abs=1e-12)
    wider = smallest_independent_difference(system, confidence=0.99)
    assert wider == pytest.approx(stats.norm.ppf(0.995) * math.sqrt(0.02), abs=1e-12)


@pytest.mark.parametrize("size", [500, 1000, 3000])
def test_equal_systems_rarely_differ_by_the_smallest_difference(size: int) -> None:
    values = np.repeat([0.0, 1.0], [4000, 6000])
    first = draw_sub_samples(values, size, rng=rng_of(1))
    smallest = smallest_independent_difference(first)
    assert smallest == pytest.approx(1.96 * math.sqrt(2 * 0.24 / size), rel=0.03)
    second = draw_sub_samples(values, size, rng=rng_of(2))
    beyond = float(np.mean(np.abs(first.means - second.means) >= smallest))
    assert beyond == pytest.approx(0.05, abs=0.012)


@pytest.mark.parametrize(("values", "size", "resamples"), [([], 5, 5), ([1], 0, 5), ([1], 5, 1)])
def test_sub_samples_refuse_bad_parameters(values: list[float], size: int, resamples: int) -> None:
    with pytest.raises(ValueError, match="sub-samples need values, a size of at least 1 and two"):
        draw_sub_samples(values, size, resamples, rng=rng_of(0))


# --- Intervals ------------------------------------------------------------------------------------


def test_interval_of_zeros_and_ones_is_wilsons() -> None:
    interval = mean_interval(ZERO_ONE, rng=rng_of(1), confidence=0.9)
    peer = stats.binomtest(360, 600).proportion_ci(0.9, "wilson")
    assert (interval.low, interval.high) == pytest.approx((peer.low, peer.high), abs=1e-12)
    assert (interval.method, interval.confidence, interval.resamples) == ("wilson", 0.9, 0)


@pytest.mark.parametrize("values", [MIXED, DISTINCT], ids=["mixed", "distinct"])
def test_interval_equals_scipy(values: FloatArray) -> None:
    interval = mean_interval(values, 20_000, rng=rng_of(1))
    peer = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=rng_of(2), batch=2000
    ).confidence_interval
    # The standard error of a 2.5 % quantile of 20,000 draws is 0.019 standard deviations.
    error = 4 * math.sqrt(2) * 0.019 * values.std() / math.sqrt(600)
    assert (interval.low, interval.high) == pytest.approx((peer.low, peer.high), abs=error)


def test_difference_is_paired() -> None:
    labelled = np.minimum(MIXED + 0.1, 1.0)
    interval = difference_interval(labelled, MIXED, rng=rng_of(3))
    assert interval == mean_interval(labelled - MIXED, rng=rng_of(3))
    constant = difference_interval(MIXED + 0.5, MIXED, rng=rng_of(3))
    assert (constant.low, constant.undefined) == (None, NO_VARIATION)
    with pytest.raises(ValueError, match="3 values cannot be paired with 2"):
        difference_interval([1, 2, 3], [1, 2], rng=rng_of(0))


def test_clusters_are_drawn_whole() -> None:
    # One video has three captions, and the other has one. A resample has both videos (half of the
    # time), or one of them twice (a quarter each).
    values, clusters = np.array([[1.0, 1.0, 0.0, 1.0]]), np.array([7, 7, 3, 7])
    means = resampled_means(values, 4000, rng=rng_of(1), clusters=clusters)
    found, times = np.unique(means, return_counts=True)
    assert found.tolist() == [0.0, 0.75, 1.0]
    assert times == pytest.approx([1000, 2000, 1000], abs=150)


def test_clustered_interval_equals_a_plain_loop() -> None:
    rng = rng_of(8)
    clusters = rng.integers(0, 40, 600)
    values = MIXED + rng.random(40)[clusters]
    members = [values[clusters == cluster] for cluster in range(40)]
    plain = [
        np.concatenate([members[cluster] for cluster in rng.integers(0, 40, 40)]).mean()
        for _ in range(4000)
    ]
    interval = mean_interval(values, 20_000, rng=rng, clusters=clusters)
    assert (interval.low, interval.high) == pytest.approx(
        tuple(np.quantile(plain, [0.025, 0.975])), abs=0.015
    )


def test_clusters_of_one_query_change_nothing_but_the_draws() -> None:
    clustered = mean_interval(MIXED, 20_000, rng=rng_of(1), clusters=np.arange(600) * 5)
    plain = mean_interval(MIXED, 20_000, rng=rng_of(2))
    assert (clustered.low, clustered.high) == pytest.approx((plain.low, plain.high), abs=0.002)


def test_copies_of_queries_do_not_narrow_the_interval_by_cluster() -> None:
    values, clusters = np.repeat(DISTINCT[:60], 10), np.repeat(np.arange(60), 10)
    by_cluster = mean_interval(values, 20_000, rng=rng_of(1), clusters=clusters)
    once = mean_interval(DISTINCT[:60], 20_000, rng=rng_of(1))
    assert (by_cluster.low, by_cluster.high) == pytest.approx((once.low, once.high), abs=0.004)
    blind = mean_interval(values, 20_000, rng=rng_of(1))
    ratio = (by_cluster.high - by_cluster.low) / (blind.high - blind.low)  # type: ignore[operator]
    assert ratio == pytest.approx(math.sqrt(10), rel=0.05)


@pytest.mark.parametrize(
    ("values", "clusters", "reason"),
    [([], None, NO_QUERIES), ([0.5], None, ONE_QUERY), ([0.1, 0.9], [4, 4], ONE_CLUSTER)],
)
def test_interval_is_undefined_with_a_reason(
    values: list[float], clusters: list[int] | None, reason: str
) -> None:
    interval = mean_interval(values, rng=rng_of(0), clusters=clusters)
    assert interval == Interval(None, None, 0.95, 0, 0, reason)


@pytest.mark.parametrize(
    ("values", "keywords", "message"),
    [
        ([0.1, math.nan], {}, "a value is not a finite number"),
        ([[0.1, 0.2]], {}, "values have 2 dimensions instead of 1"),
        ([0.1, 0.2], {"resamples": 0}, "resamples must be at least 1"),
        ([0.1, 0.2], {"confidence": 1.0}, "confidence between 0 and 1"),
        ([0.1, 0.2], {"clusters": [1]}, "1 clusters for 2 queries"),
        ([0.1, 0.2], {"clusters": [1, -1]}, "clusters: a number is negative"),
    ],
)
def test_interval_refuses_bad_input(values: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mean_interval(values, rng=rng_of(0), **keywords)


# --- Small samples --------------------------------------------------------------------------------


def draw_clusters(
    rng: np.random.Generator, n_clusters: int, size: float
) -> tuple[FloatArray, FloatArray]:
    """Return values with the true mean 0, and cluster numbers.

    Clusters are of unequal size, and 30 % of the variance is between clusters.
    """
    sizes = 1 + rng.poisson(size - 1, n_clusters)
    clusters = np.repeat(np.arange(n_clusters), sizes)
    means = rng.normal(0, math.sqrt(0.3), n_clusters)
    return means[clusters] + rng.normal(0, math.sqrt(0.7), len(clusters)), clusters


@pytest.mark.parametrize("n_clusters", [4, 8, 12, 19, 60])
def test_few_clusters_have_the_stated_coverage(n_clusters: int) -> None:
    """Intervals by caption cover the true mean in less than 68 % of the samples."""
    rng = rng_of(n_clusters)
    covered, blind = 0, 0
    for _ in range(1200):
        values, clusters = draw_clusters(rng, n_clusters, 14)
        found = mean_interval(values, 800, rng=rng, clusters=clusters)
        covered += found.low <= 0 <= found.high  # type: ignore[operator]
        half = 1.96 * values.std() / math.sqrt(len(values))
        blind += abs(values.mean()) <= half
    assert 0.93 <= covered / 1200 <= 0.97
    assert blind / 1200 < 0.68


def test_tails_are_widened_by_t() -> None:
    """With 8 clusters of equal size, the tail is normal(-2.365 sqrt(8 / 7)) = 0.0057, not 0.025."""
    clusters = np.repeat(np.arange(8), 5)
    values = np.arange(8.0)[clusters] + 0.5
    means = np.arange(10_001) / 10_000
    found = interval_of_means(means, values, 0.95, clusters)
    tail = stats.norm.cdf(-math.sqrt(8 / 7) * stats.t.ppf(0.975, 7))
    assert tail == pytest.approx(0.0057, abs=1e-4)
    assert (found.low, found.high) == pytest.approx((tail, 1 - tail), abs=1e-12)
    assert found.method == "percentile"
    # The corrected p of a mean is 5 % if the uncorrected p is twice the widened tail.
    assert small_sample_p(2 * tail, values, clusters) == pytest.approx(0.05, abs=1e-12)
    assert small_sample_p(1.0, values, clusters) == 1.0


def test_fewer_than_six_clusters_use_t() -> None:
    clusters = np.repeat(np.arange(5), 2)
    values = np.repeat([0.1, 0.2, 0.3, 0.4, 0.9], 2)
    found = mean_interval(values, rng=rng_of(1), clusters=clusters)
    # The clusters have equal sizes, so this is the mean of five numbers.
    peer = stats.t.interval(0.95, 4, 0.38, stats.sem([0.1, 0.2, 0.3, 0.4, 0.9]))
    assert (found.low, found.high) == pytest.approx((0.0, peer[1]), abs=1e-12)
    assert peer[0] < 0  # scipy's interval ignores that scores are never negative
    assert (found.method, found.resamples) == ("t", 0)
    six = mean_interval([*values, 0.5], 100, rng=rng_of(1), clusters=[*clusters, 5])
    assert six.method == "percentile"


def test_clusters_of_unequal_size_count_as_fewer() -> None:
    assert effective_clusters(np.full(7, 3.0)) == pytest.approx(7)
    assert effective_clusters(np.array([8.0, 1.0, 1.0])) == pytest.approx(100 / 66)
