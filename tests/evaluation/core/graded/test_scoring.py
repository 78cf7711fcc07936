"""Scores under graded relevance, compared with loops over the formulas."""

from __future__ import annotations

from itertools import permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.core.graded import rankings
from evaluation.core.graded.means import NO_FULL, NO_QUERY_LEFT, NO_RELEVANT
from evaluation.core.graded.scoring import (
    ALL_EQUAL,
    EPIC_MAP,
    FULL_AP,
    Gain,
    above_random,
)
from evaluation.core.relevance.measure import Score
from hearth.shared.errors import Cancelled
from tests.evaluation.core.lists import by_similarity, lists_of, score_both, score_ranking

SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 7))
# Few values, so that relevance and similarity have ties.
MATRICES = SHAPES.flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=st.sampled_from([0, 0, 0.25, 1 / 3, 0.5, 1])),
        arrays(np.float64, shape, elements=st.sampled_from([-1, 0, 0.5, 0.7])),
    )
)
GAINS = {Gain.LINEAR: lambda r: r, Gain.PAPER: lambda r: 2**r - 1}


# --- the formulas, one query at a time ------------------------------------------------------------


def in_order(similarity) -> list[int]:
    """Return the items, the most similar first. `sorted` keeps the order of equal ones."""
    return sorted(range(len(similarity)), key=lambda item: -similarity[item])


def slow_dcg(ranked, k: int, gain) -> float:
    return sum(gain(r) / log2(rank + 1) for rank, r in enumerate(ranked[:k], start=1))


def slow_ndcg(relevance, items, gain) -> float:
    k = sum(r > 0 for r in relevance)
    ideal = slow_dcg(sorted(relevance, reverse=True), k, gain)
    return slow_dcg([relevance[item] for item in items], k, gain) / ideal


def slow_random(relevance, gain) -> float:
    orders = [slow_ndcg(relevance, order, gain) for order in permutations(range(len(relevance)))]
    return sum(orders) / len(orders)


def slow_epic_map(relevance, items) -> float:
    found, total = [], 0.0
    for rank, item in enumerate(items, start=1):
        total += relevance[item]
        if relevance[item] == 1:
            found.append(total / rank)
    return sum(found) / len(found)


def slow_ap(relevance, items) -> float:
    return slow_epic_map([float(r == 1) for r in relevance], items)


def check(values, relevance, function, is_defined) -> None:
    """Compare the values with those of a function for each query for which it is defined."""
    queries = [query for query, row in enumerate(relevance) if is_defined(row)]
    assert values.queries.tolist() == queries
    assert values.left_out == len(relevance) - len(queries)
    expected = [function(query) for query in queries]
    assert values.values.tolist() == pytest.approx(expected, abs=1e-12)


@given(MATRICES, st.sampled_from([1, 8, 1 << 20]))
@settings(deadline=None)
def test_scores_are_those_of_the_formulas(matrices, cells) -> None:
    relevance, similarity = matrices
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rankings, "_BLOCK_CELLS", cells)
        scores = score_ranking(relevance, by_similarity(similarity))
    rows, orders = relevance.tolist(), [in_order(row) for row in similarity.tolist()]
    for gain, function in GAINS.items():
        check(
            scores.values[gain.ndcg],
            rows,
            lambda q, function=function: slow_ndcg(rows[q], orders[q], function),
            any,
        )
    for name, function in ((EPIC_MAP, slow_epic_map), (FULL_AP, slow_ap)):
        check(
            scores.values[name],
            rows,
            lambda q, function=function: function(rows[q], orders[q]),
            lambda row: 1 in row,
        )


@given(MATRICES.filter(lambda pair: pair[0].shape[1] <= 5))
@settings(deadline=None, max_examples=40)
def test_the_random_expectation_is_the_mean_over_all_orders(matrices) -> None:
    relevance, similarity = matrices
    scores = score_ranking(relevance, by_similarity(similarity))
    rows = relevance.tolist()
    for gain, function in GAINS.items():
        check(
            scores.values[gain.random],
            rows,
            lambda q, function=function: slow_random(rows[q], function),
            any,
        )


@given(MATRICES)
def test_scores_are_shares_and_the_best_order_has_an_ndcg_of_1(matrices) -> None:
    relevance, similarity = matrices
    scores = score_ranking(relevance, by_similarity(similarity))
    best = score_ranking(relevance, by_similarity(relevance))
    for values in scores.values.values():
        assert ((values.values >= 0) & (values.values <= 1 + 1e-12)).all()
    for gain in Gain:
        assert best.values[gain.ndcg].values == pytest.approx(1.0)


# --- exact values ---------------------------------------------------------------------------------


def test_map_of_the_epic_kitchens_code_is_not_average_precision() -> None:
    scores = score_ranking(np.array([[0.5, 1.0]]), by_similarity(np.array([[0.9, 0.1]])))
    assert scores.mean(EPIC_MAP) == Score(0.75, 1)
    assert scores.mean(FULL_AP) == Score(0.5, 1)


def test_equally_similar_items_keep_their_order() -> None:
    relevance, similarity = np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([[0.5, 0.5, 0.9, 0.9]])
    assert by_similarity(similarity).items.tolist() == [[2, 3, 0, 1]]
    scores = score_ranking(relevance, by_similarity(similarity.astype(np.float16)))
    assert scores.mean(FULL_AP) == Score((1 / 2 + 2 / 4) / 2, 1)


def test_queries_without_relevance_are_left_out_and_counted() -> None:
    relevance = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 1.0]])
    scores = score_ranking(relevance, by_similarity(np.array([[2.0, 1.0]] * 3)))
    ndcg, full = scores.values[Gain.LINEAR.ndcg], scores.values[FULL_AP]
    assert (ndcg.queries.tolist(), ndcg.left_out, ndcg.reason) == ([1, 2], 1, NO_RELEVANT)
    assert ndcg.values.tolist() == [1.0, 0.0]
    assert (full.queries.tolist(), full.left_out, full.reason) == ([2], 2, NO_FULL)
    assert full.mean() == Score(0.5, 1)


def test_a_score_without_any_query_is_undefined() -> None:
    zeros = np.zeros((2, 3))
    scores = score_both(zeros, by_similarity(zeros), by_similarity(zeros.T))
    nothing = Score(None, 0, NO_QUERY_LEFT)
    assert scores.rows.mean(Gain.PAPER.ndcg) == nothing
    assert scores.mean(Gain.PAPER.ndcg) == nothing
    assert scores.mean(EPIC_MAP) == nothing
    assert above_random(scores, Gain.PAPER) == nothing
    assert score_ranking(zeros[:0], by_similarity(zeros[:0])).n_queries == 0


def test_both_directions_have_equal_weight() -> None:
    """Scores are the mean of the two directions, although these have 1 and 2 queries."""
    relevance, similarity = np.array([[0.0, 1.0]]), np.array([[0.9, 0.1]])
    scores = score_both(relevance, by_similarity(similarity), by_similarity(similarity.T))
    assert scores.rows.mean(Gain.LINEAR.ndcg) == Score(0.0, 1)
    assert scores.columns.mean(Gain.LINEAR.ndcg) == Score(1.0, 1)
    assert scores.columns.values[Gain.LINEAR.ndcg].left_out == 1
    assert scores.mean(Gain.LINEAR.ndcg) == Score(0.5, 2)
    assert scores.mean(Gain.LINEAR.random) == Score(0.75, 2)
    assert scores.mean(FULL_AP) == Score(0.75, 2)
    assert above_random(scores, Gain.LINEAR) == Score(-1.0, 2)
    assert above_random(scores.rows, Gain.LINEAR) == Score(-1.0, 1)
    assert above_random(scores.columns, Gain.LINEAR) == Score(None, 1, ALL_EQUAL)


def test_lists_are_scored_to_their_depth() -> None:
    """Items beyond the depth have no gain, but the ideal order contains all items."""
    relevance = np.array([[1.0, 0.5, 1.0, 0.0]])
    scores = score_ranking(relevance, lists_of([[3, 2]], 4))
    best = 1 + 1 / log2(3) + 0.5 / 2
    assert scores.depth == 2
    ndcg, random = scores.mean(Gain.LINEAR.ndcg), scores.mean(Gain.LINEAR.random)
    assert ndcg.value == pytest.approx(1 / log2(3) / best)
    assert random.value == pytest.approx(2.5 / 4 * (1 + 1 / log2(3)) / best)
    assert scores.mean(FULL_AP) == Score(1 / 2 / 2, 1)
    empty = score_ranking(relevance, lists_of([[-1, -1]], 4))
    assert empty.mean(Gain.LINEAR.ndcg) == Score(0.0, 1)


def test_wrong_input() -> None:
    relevance = np.ones((1, 2))
    with pytest.raises(ValueError, match="different queries or items"):
        score_ranking(relevance, by_similarity(np.ones((2, 1))))
    with pytest.raises(ValueError, match="there is no item"):
        score_ranking(np.ones((1, 0)), by_similarity(np.ones((1, 0))))


def test_progress_can_cancel() -> None:
    def cancel(done: int, total: int | None, phase: str = "") -> None:
        raise Cancelled(f"{done} of {total} {phase}")

    with pytest.raises(Cancelled, match="0 of 1 scoring"):
        score_ranking(np.ones((1, 2)), by_similarity(np.ones((1, 2))), cancel)
