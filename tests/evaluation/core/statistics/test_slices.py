"""Means by group of captions, bins, groups by tag, and correlations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.people.agreement import Estimate
from evaluation.core.people.alpha import NO_VARIATION, Interval
from evaluation.core.relevance.measure import NO_QUERIES
from evaluation.core.statistics.resampling import ONE_QUERY, mean_interval
from evaluation.core.statistics.slices import (
    AGREE,
    DIFFER,
    NO_GROUP,
    NO_REPEATED_LABELS,
    Slice,
    annotator_agreement,
    cut_at,
    cut_by_quantiles,
    group_by_tags,
    kendall_tau_b,
    slice_means,
    spearman,
)

NUMBERS = st.lists(
    st.tuples(st.sampled_from([-1.5, 0.0, 0.1, 2.0, 3.0]), st.integers(0, 4)), min_size=2
)


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- Means by group -------------------------------------------------------------------------------


def test_slices_by_hand() -> None:
    values, groups = [1.0, 0.0, 0.25, 1.0, 0.5], [2, 0, 2, NO_GROUP, 1]
    slices = slice_means(values, groups, ["a", "b", "c", "d"], 200, rng=rng_of(0))
    undefined = Interval(None, None, 0.95, 0, 0, ONE_QUERY)
    assert slices[:2] == (
        Slice("a", 1, Estimate(0.0), undefined),
        Slice("b", 1, Estimate(0.5), undefined),
    )
    assert (slices[2].name, slices[2].n, slices[2].mean) == ("c", 2, Estimate(0.625))
    # The t quantile for 1 degree of freedom, 12.7, makes the interval as wide as the scale.
    assert (slices[2].interval.low, slices[2].interval.high) == (0.0, 1.0)
    empty = Interval(None, None, 0.95, 0, 0, NO_QUERIES)
    assert slices[3] == Slice("d", 0, Estimate(None, NO_QUERIES), empty)


def test_a_slice_equals_its_queries_without_the_others() -> None:
    rng = rng_of(1)
    values, groups, clusters = rng.random(300), rng.integers(-1, 3, 300), rng.integers(0, 25, 300)
    first = slice_means(values, groups, "abc", rng=rng_of(2), confidence=0.9, clusters=clusters)[0]
    kept = groups == 0
    assert (first.n, first.mean) == (
        int(kept.sum()),
        Estimate(pytest.approx(values[kept].mean(), abs=1e-12)),
    )
    assert first.interval == mean_interval(
        values[kept], rng=rng_of(2), confidence=0.9, clusters=clusters[kept]
    )


@pytest.mark.parametrize(
    ("groups", "clusters", "message"),
    [
        ([0, 1], None, "groups must be one number for each value"),
        ([0, 1, 2], None, "groups plus 1: a number is outside of 0 to 2"),
        ([0, 1, -2], None, "groups plus 1: a number is outside of 0 to 2"),
        ([0.0, 1.0, 1.0], None, "float64 instead of whole numbers"),
        ([0, 1, 1], [4], "1 clusters for 3 values"),
    ],
)
def test_slices_refuse_bad_groups(groups: Any, clusters: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        slice_means([0, 1, 1], groups, ["a", "b"], rng=rng_of(0), clusters=clusters)


# --- Bins -----------------------------------------------------------------------------------------


def test_bins_of_whole_numbers_have_names() -> None:
    bins = cut_at([3, 4, 5, 8, math.nan, 9, 40, 10], [5, 9, 10])
    assert bins.names == ("up to 4", "5–8", "9", "10 and more")
    assert bins.groups.tolist() == [0, 0, 1, 1, NO_GROUP, 2, 3, 3]


def test_bins_of_fractions_have_names() -> None:
    bins = cut_at([0.0, 0.5, 2 / 3, 1.0, 0.49], [0.5, 2 / 3])
    assert bins.names == ("below 0.5", "0.5 to below 0.6667", "0.6667 and more")
    assert bins.groups.tolist() == [0, 1, 2, 2, 0]
    assert cut_at([0.5, 2.0], [1]).names == ("below 1", "1 and more")
    assert cut_at([7.0], []).names == ("all",)
    assert cut_at([7.0], []).groups.tolist() == [0]


def test_quantile_bins_are_about_equal_and_keep_equal_values_together() -> None:
    even = cut_by_quantiles(np.arange(1, 11), 2)
    assert even.names == ("up to 5", "6 and more")
    assert even.groups.tolist() == [0] * 5 + [1] * 5
    repeated = cut_by_quantiles([1, 1, 1, 1, 2, 2, 3, 4, math.nan], 4)
    assert repeated.names == ("up to 1", "2", "3 and more")
    assert repeated.groups.tolist() == [0] * 4 + [1, 1, 2, 2, NO_GROUP]
    assert cut_by_quantiles([2.0, 2.0], 3).names == ("all",)
    unknown = cut_by_quantiles([math.nan], 3)
    assert (unknown.names, unknown.groups.tolist()) == (("all",), [NO_GROUP])


@given(st.lists(st.integers(0, 12), min_size=1), st.integers(1, 6))
def test_bins_follow_the_attribute(attribute: list[int], n_bins: int) -> None:
    bins = cut_by_quantiles(attribute, n_bins)
    assert len(bins.names) <= n_bins
    assert sorted(set(bins.groups.tolist())) == list(range(len(bins.names)))
    ordered = bins.groups[np.argsort(attribute, kind="stable")]
    assert np.all(np.diff(ordered) >= 0)
    for value in set(attribute):
        assert len(set(bins.groups[np.array(attribute) == value].tolist())) == 1


def test_bins_of_distinct_values_have_nearly_equal_sizes() -> None:
    for n in range(4, 60):
        sizes = np.bincount(cut_by_quantiles(rng_of(n).permutation(n), 4).groups)
        assert sizes.max() - sizes.min() <= 1 + (n < 8)


@pytest.mark.parametrize("cuts", [[2, 2], [3, 1], [math.nan], [1, math.inf]])
def test_cuts_must_ascend(cuts: list[float]) -> None:
    with pytest.raises(ValueError, match="cuts must be finite and ascending"):
        cut_at([1, 2, 3], cuts)


def test_bins_refuse_bad_attributes() -> None:
    with pytest.raises(ValueError, match="one number for each query, or NaN"):
        cut_at([[1.0]], [1])
    with pytest.raises(ValueError, match="one number for each query, or NaN"):
        cut_by_quantiles([1.0, math.inf], 2)
    with pytest.raises(ValueError, match="n_bins must be at least 1"):
        cut_by_quantiles([1.0], 0)


# --- Named groups ---------------------------------------------------------------------------------


def test_groups_of_tags_can_overlap() -> None:
    tags = {"b": [3], "a": [1], "dogs": [0, 1, 4], "none": [], "c": [3], "d": [6]}
    tagged = group_by_tags(
        {tag: np.array(numbers, np.int32) for tag, numbers in tags.items()}, 7, 3, "-"
    )
    assert (tagged.names, tagged.left_out) == (("dogs", "a", "b", "-"), 3)
    # There is no group for the tags "c" and "d". The last group contains only queries 2 and 5,
    # which have no tag at all. Query 6, whose only tag is "d", is in no group.
    assert tagged.queries.tolist() == [0, 1, 4, 1, 3, 2, 5]
    assert tagged.groups.tolist() == [0, 0, 0, 1, 2, 3, 3]
    values = np.arange(7) / 10
    slices = slice_means(values[tagged.queries], tagged.groups, tagged.names, 100, rng=rng_of(0))
    assert [(part.n, part.mean) for part in slices] == [
        (3, Estimate(pytest.approx(0.5 / 3))),
        (1, Estimate(pytest.approx(0.1))),
        (1, Estimate(pytest.approx(0.3))),
        (2, Estimate(pytest.approx(0.35))),
    ]


def test_without_untagged_queries_there_is_no_group_for_them() -> None:
    tagged = group_by_tags({"a": np.array([0, 1]), "none": np.array([], np.int32)}, 2, 9, "-")
    assert (tagged.names, tagged.queries.tolist(), tagged.left_out) == (("a", "none"), [0, 1], 0)
    no_tags = group_by_tags({}, 2, 9, "-")
    assert (no_tags.names, no_tags.queries.tolist()) == (("-",), [0, 1])
    assert no_tags.groups.tolist() == [0, 0]


def test_agreement_of_annotators_by_hand() -> None:
    pairs = [
        # query, labels, relevant
        (0, 2, 2),
        (0, 3, 0),
        (1, 1, 1),
        (1, 0, 0),  # a ruling without labels
        (3, 3, 3),
        (3, 3, 1),
        (4, 1, 0),
        (4, 2, 1),
    ]
    agreement = annotator_agreement(*zip(*pairs, strict=True), n_queries=5)
    assert agreement.tolist() == [AGREE, NO_REPEATED_LABELS, NO_REPEATED_LABELS, DIFFER, DIFFER]
    with pytest.raises(ValueError, match="queries: a number is outside of 0 to 3"):
        annotator_agreement(*zip(*pairs, strict=True), n_queries=4)


# --- Correlation ----------------------------------------------------------------------------------


def test_correlations_by_hand() -> None:
    # 4 pairs are concordant, 1 is discordant, and 1 is tied in the second: 3 / sqrt(6 * 5).
    x, y = [1, 2, 3, 4], [1, 3, 2, 3]
    assert kendall_tau_b(x, y) == Estimate(pytest.approx(3 / math.sqrt(30), abs=1e-15))
    # The ranks are 1 2 3 4 and 1 3.5 2 3.5, and Pearson's correlation is 3 / sqrt(5 * 4.5).
    assert spearman(x, y) == Estimate(pytest.approx(3 / math.sqrt(22.5), abs=1e-15))
    assert kendall_tau_b(x, [-4, -5, -6, -7]) == Estimate(-1.0)
    assert spearman(x, [0, 2, 30, 400]) == Estimate(1.0)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [([], [], NO_QUERIES), ([1], [2], ONE_QUERY), ([1, 1], [1, 2], NO_VARIATION)],
)
def test_undefined_correlations_have_a_reason(x: list[float], y: list[float], reason: str) -> None:
    assert kendall_tau_b(x, y) == spearman(x, y) == Estimate(None, reason)


def test_correlation_refuses_bad_input() -> None:
    with pytest.raises(
        ValueError, match="an attribute of 2 queries cannot be paired with 3 values"
    ):
        spearman([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="a value is not a finite number"):
        kendall_tau_b([1, math.nan], [1, 2])


def test_rounding_noise_breaks_no_ties() -> None:
    noise = 1e-12 * np.arange(6)
    clean, noisy = np.array([1.0, 1, 2, 2, 3, 3]), np.array([1.0, 1, 2, 2, 3, 3]) + noise[::-1]
    attribute = np.arange(6.0)
    assert kendall_tau_b(attribute, noisy) == kendall_tau_b(attribute, clean)
    assert spearman(attribute, noisy) == spearman(attribute, clean)
    assert kendall_tau_b(attribute, 0.5 + noise) == Estimate(None, NO_VARIATION)
