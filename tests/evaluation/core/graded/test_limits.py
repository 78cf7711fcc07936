"""Limits of recall, numbers of pairs above thresholds, and correlations of proxies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.core.graded.comparison import PairsAbove, correlate, pairs_above
from evaluation.core.graded.limits import recall_limits
from evaluation.core.graded.means import NO_OWN, NO_VARIATION
from evaluation.core.relevance.measure import Score
from tests.evaluation.core.lists import by_similarity, lists_of

# Ranks of the items of both queries: 3 1 2 4, and 1 2 3 4.
SIMILARITY = np.array([[0.2, 0.9, 0.5, 0.1], [0.9, 0.8, 0.7, 0.6]])
RELEVANCE = np.array([[1.0, 0.9, 0.8, 0.81], [1.0, 0.0, 0.0, 0.0]])
OWN = (np.array([0, 1]), np.array([0, 0]))


def recalls(limits, cutoffs=(1, 2, 3)) -> dict[str, list[float]]:
    named = {"own": limits.own, "lower": limits.lower, "upper": limits.upper}
    return {name: [recall.at[k].mean().value for k in cutoffs] for name, recall in named.items()}


def test_equivalent_items_give_the_limits() -> None:
    """An item whose relevance equals the threshold is not equivalent."""
    limits = recall_limits(RELEVANCE, by_similarity(SIMILARITY), OWN, 0.8, cutoffs=(1, 2, 3, 4))
    assert recalls(limits, (1, 2, 3, 4)) == {
        "own": [0.5, 0.5, 1.0, 1.0],
        "lower": [0.5, 0.5, 0.5, 1.0],
        "upper": [1.0, 1.0, 1.0, 1.0],
    }
    assert limits.equivalent == Score(2.0, 2)
    assert limits.own.geometric_mean().value == pytest.approx((0.5 * 0.5) ** (1 / 4))
    assert limits.upper.geometric_mean() == Score(1.0, 2)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_a_threshold_is_rounded_like_the_matrix(kind) -> None:
    """0.8 is 0.79980 in half precision, and 0.80000001 in single precision."""
    relevance = np.full((1, 2), 0.8).astype(kind)
    own = (np.array([0]), np.array([0]))
    limits = recall_limits(relevance, by_similarity(np.ones((1, 2))), own, 0.8, cutoffs=(1,))
    assert limits.equivalent == Score(1.0, 1)
    assert pairs_above(relevance, own, [0.8]) == [PairsAbove(0.8, 2, 1, 0, 1)]


def test_queries_without_an_own_item_are_left_out() -> None:
    own = (np.array([1, 1]), np.array([2, 1]))
    limits = recall_limits(RELEVANCE, by_similarity(SIMILARITY), own, 0.8, cutoffs=(1, 2, 3))
    assert recalls(limits) == {
        "own": [0.0, 1.0, 1.0],
        "lower": [0.0, 1.0, 1.0],
        "upper": [1.0, 1.0, 1.0],
    }
    at_1 = limits.own.at[1]
    assert (at_1.queries.tolist(), at_1.left_out, at_1.reason) == ([1], 1, NO_OWN)
    nothing = recall_limits(
        RELEVANCE, by_similarity(SIMILARITY), (OWN[0][:0], OWN[1][:0]), 0.8, cutoffs=(1,)
    )
    assert nothing.own.geometric_mean().value is None


def test_the_other_own_items_do_not_lower_the_limit() -> None:
    """Ranks are 3 1 2 4. Of the own items 0 and 1, the better rank counts. Item 3 is equivalent."""
    own = (np.array([0, 0]), np.array([0, 1]))
    args = by_similarity(SIMILARITY[:1]), own
    found = recall_limits(np.array([[1.0, 1.0, 0.8, 0.81]]), *args, 0.8, cutoffs=(1, 3, 4))
    assert recalls(found, (1, 3, 4)) == {"own": [1, 1, 1], "lower": [0, 0, 1], "upper": [1, 1, 1]}
    assert found.equivalent == Score(3.0, 1)
    alone = recall_limits(np.array([[1.0, 1.0, 0.8, 0.0]]), *args, 0.8, cutoffs=(1,))
    assert recalls(alone, (1,)) == {"own": [1], "lower": [1], "upper": [1]}


def test_lists_limit_the_cutoffs() -> None:
    lists = lists_of([[1, 2], [0, -1]], 4)
    limits = recall_limits(RELEVANCE, lists, OWN, 0.8, cutoffs=(1, 2))
    assert recalls(limits, (1, 2)) == {"own": [0.5, 0.5], "lower": [0.5, 0.5], "upper": [1.0, 1.0]}
    with pytest.raises(ValueError, match="the lists have 2 ranks, but recall needs 5"):
        recall_limits(RELEVANCE, lists, OWN, 0.8, cutoffs=(1, 5))


def test_pairs_above_thresholds() -> None:
    """Item 0 is the own item of both queries. No other item is relevant for the second query."""
    assert pairs_above(RELEVANCE, OWN, [0.0, 0.81, 1.0, 1.1]) == [
        PairsAbove(0.0, 8, 2, 0, 1),
        PairsAbove(0.81, 4, 2, 1, 2),
        PairsAbove(1.0, 2, 2, 2, 4),
        PairsAbove(1.1, 0, 0, 2, 4),
    ]
    zeros = np.array([[-0.0, 0.0, 0.5]], np.float16)
    assert pairs_above(zeros, (OWN[0][:0], OWN[1][:0]), [0.0, 0.1])[0].pairs == 3


VALUES = arrays(np.float64, (3, 5), elements=st.sampled_from([0, 0.25, 0.5, 1]))


@given(VALUES, VALUES)
def test_correlations_are_those_of_numpy(first, second) -> None:
    found = correlate(first, second)
    varied = [row for row in range(3) if np.ptp(first[row]) > 0 and np.ptp(second[row]) > 0]
    assert (found.queries.tolist(), found.left_out) == (varied, 3 - len(varied))
    assert found.reason == NO_VARIATION
    expected = [np.corrcoef(first[row], second[row])[0, 1] for row in varied]
    assert found.values.tolist() == pytest.approx(expected, abs=1e-12)
    assert correlate(second, first).values.tolist() == found.values.tolist()
