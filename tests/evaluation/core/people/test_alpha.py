"""Krippendorff's alpha and its interval, compared with the package `krippendorff`."""

from __future__ import annotations

from random import Random

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.arrays import FloatArray
from evaluation.core.people import alpha
from evaluation.core.people.agreement import (
    NOT_TWO_LABELS,
    NOT_TWO_PAIRS,
    Estimate,
    ValueCounts,
    count_labels,
)
from evaluation.core.people.alpha import (
    ALL_AGREE,
    NO_VARIATION,
    ONE_PATTERN,
    Interval,
    Level,
    alpha_interval,
    krippendorff_alpha,
)

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")


def counts_of(reliability: FloatArray) -> ValueCounts:
    """Count labels from a matrix [annotators, pairs], in which NaN means no label."""
    annotators, pairs = np.nonzero(~np.isnan(reliability))
    labels = reliability[annotators, pairs].astype(np.int64)
    return count_labels(pairs, labels, reliability.shape[1])


def random_reliability(seed: int, values: list[int]) -> FloatArray:
    """Return labels by twelve annotators who mostly agree. Pairs have about two labels, or none."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(values, 80)
    labels = np.where(rng.random((12, 80)) < 0.7, truth, rng.choice(values, (12, 80))).astype(float)
    labels[rng.random((12, 80)) < 0.85] = np.nan
    return labels


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("values", [[0, 1], [0, 1, 2, 5]])
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_equals_the_package(level: Level, values: list[int], seed: int) -> None:
    reliability = random_reliability(seed, values)
    expected = krippendorff.alpha(reliability_data=reliability, level_of_measurement=level)
    estimate = krippendorff_alpha(counts_of(reliability), level)
    assert estimate.value == pytest.approx(expected, abs=1e-12)
    shuffled = np.random.default_rng(seed).permuted(reliability, axis=0)
    assert krippendorff_alpha(counts_of(shuffled), level) == estimate


@given(
    st.lists(st.lists(st.integers(-1, 2), min_size=4, max_size=4), min_size=1, max_size=12),
    st.permutations(range(4)),
    st.randoms(use_true_random=False),
)
def test_alpha_does_not_depend_on_annotators_or_order(
    rows: list[list[int]], people: list[int], random: Random
) -> None:
    """Each row contains the labels of four annotators for a pair, and -1 for no label."""
    given_labels = np.array(rows, dtype=np.float64).T
    given_labels[given_labels < 0] = np.nan
    others = given_labels[people]
    order = random.sample(range(len(rows)), len(rows))
    before, after = counts_of(given_labels), counts_of(others[:, order])
    assert krippendorff_alpha(after) == krippendorff_alpha(before)
    intervals = [
        alpha_interval(counts, 50, rng=np.random.default_rng(0)) for counts in (before, after)
    ]
    assert intervals[0] == intervals[1]


def test_alpha_by_hand() -> None:
    # Labels (0 0) (0 0) (1 1) (0 1), five zeros and three ones; the single label does not count.
    # The observed disagreement is 2 of 8, and the expected one is 2 * 5 * 3 / 7 of 8.
    counts = count_labels([0, 0, 1, 1, 2, 2, 3, 3, 4], [0, 0, 0, 0, 1, 1, 0, 1, 1], 5)
    assert krippendorff_alpha(counts).value == pytest.approx(1 - 2 / (30 / 7), abs=1e-15)


@pytest.mark.parametrize(
    ("pairs", "labels", "reason"),
    [
        ([], [], NOT_TWO_LABELS),
        ([0, 1, 2], [0, 1, 0], NOT_TWO_LABELS),
        ([0, 0, 1, 1], [1, 1, 1, 1], NO_VARIATION),
        # The only other value is a single label, which is not compared.
        ([0, 0, 1], [1, 1, 0], NO_VARIATION),
    ],
)
def test_alpha_is_undefined_with_a_reason(pairs: list[int], labels: list[int], reason: str) -> None:
    counts = count_labels(pairs, labels, 3)
    rng = np.random.default_rng(0)
    assert krippendorff_alpha(counts) == Estimate(None, reason)
    assert alpha_interval(counts, rng=rng) == Interval(None, None, 0.95, 0, 0, reason)


@pytest.mark.parametrize(
    ("pairs", "labels", "value", "reason"),
    [
        ([0, 0, 1], [0, 1, 1], 0.0, NOT_TWO_PAIRS),
        ([0, 0, 1, 1], [0, 1, 1, 0], -0.5, ONE_PATTERN),
        ([0, 0, 1, 1], [0, 0, 1, 1], 1.0, ALL_AGREE),
    ],
)
def test_an_interval_without_spread_is_undefined_with_a_reason(
    pairs: list[int], labels: list[int], value: float, reason: str
) -> None:
    counts = count_labels(pairs, labels, 2)
    assert krippendorff_alpha(counts).value == pytest.approx(value, abs=1e-15)
    interval = alpha_interval(counts, rng=np.random.default_rng(0))
    assert interval == Interval(None, None, 0.95, 0, 0, reason)


def test_ratio_scale_with_negative_values_is_refused() -> None:
    with pytest.raises(ValueError, match="a ratio scale has no negative values"):
        krippendorff_alpha(count_labels([0, 0], [-1, 1], 1), "ratio")


@pytest.mark.parametrize("level", LEVELS)
def test_resampled_alphas_equal_the_package(level: Level) -> None:
    several = counts_of(random_reliability(9, [0, 1, 2, 5])).multiply_labelled()
    rng = np.random.default_rng(1)
    weights = rng.multinomial(several.n_pairs, several.weights / several.n_pairs, size=40)
    expected = [
        krippendorff.alpha(
            value_counts=np.repeat(several.patterns, row, axis=0),
            value_domain=several.values,
            level_of_measurement=level,
        )
        for row in weights
    ]
    ours = alpha._alphas_of_weights(several, weights, level)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)


def test_interval_equals_resampling_of_pairs() -> None:
    counts = counts_of(random_reliability(4, [0, 1, 2]))
    several = counts.multiply_labelled()
    items = np.repeat(several.patterns, several.weights, axis=0)
    rng = np.random.default_rng(2)
    direct = [
        krippendorff.alpha(
            value_counts=items[rng.integers(0, len(items), len(items))],
            level_of_measurement="nominal",
        )
        for _ in range(3000)
    ]
    interval = alpha_interval(counts, 30_000, rng=rng, confidence=0.9)
    assert (interval.confidence, interval.resamples, interval.skipped) == (0.9, 30_000, 0)
    # The standard error of a 5 % quantile of 3,000 draws is about 0.003 here.
    assert [interval.low, interval.high] == pytest.approx(
        np.quantile(direct, [0.05, 0.95]), abs=0.012
    )


def test_interval_does_not_depend_on_the_size_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = counts_of(random_reliability(3, [0, 1]))
    whole = alpha_interval(counts, 501, rng=np.random.default_rng(7))
    assert whole == alpha_interval(counts, 501, rng=np.random.default_rng(7))
    monkeypatch.setattr(alpha, "_CHUNK_CELLS", 64)
    assert whole == alpha_interval(counts, 501, rng=np.random.default_rng(7))


def test_interval_counts_skipped_resamples() -> None:
    # The labels of pair 0 are equal, and those of pair 1 differ. A quarter of the resamples contain
    # only pair 0. A quarter contain only pair 1, with alpha 1 - 3 * 4 / 8. The others contain both,
    # with alpha 1 - 3 * 2 / 6.
    counts = count_labels([0, 0, 1, 1], [0, 0, 0, 1], 2)
    interval = alpha_interval(counts, 4000, rng=np.random.default_rng(0))
    assert interval.skipped == pytest.approx(1000, abs=120)
    assert (interval.low, interval.high) == (-0.5, 0.0)


@pytest.mark.parametrize(("resamples", "confidence"), [(0, 0.95), (10, 0.0), (10, 1.0)])
def test_interval_refuses_bad_parameters(resamples: int, confidence: float) -> None:
    counts = count_labels([0, 0], [0, 1], 1)
    with pytest.raises(ValueError, match="resamples must be at least 1 and confidence"):
        alpha_interval(counts, resamples, rng=np.random.default_rng(0), confidence=confidence)
