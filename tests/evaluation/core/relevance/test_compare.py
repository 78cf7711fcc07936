"""Captions selected and sorted by the ranks of their positives in several runs."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.relevance.compare import (
    changed_by_labels,
    find_places,
    in_order,
    new_in_tops,
    select_by_correctness,
)
from evaluation.core.relevance.judged import Judged
from tests.evaluation.core.lists import lists_of

ORIGINAL = Judged.from_pairs([0, 1, 2], [0, 1, 2], [1, 1, 1], n_queries=4, n_videos=4)
LABELLED = Judged.from_pairs(
    [0, 1, 1, 2, 2, 3], [0, 1, 3, 2, 0, 0], [1, 1, 1, 1, 1, 0], n_queries=4, n_videos=4
)
LISTS = {
    "A": lists_of([[0, 1], [3, 0], [1, 3], [0, 1]], 4),
    "B": lists_of([[1, 2], [3, 1], [0, 2], [-1, -1]], 4),
}
RUNS = {name: find_places(ranked, LABELLED, ORIGINAL) for name, ranked in LISTS.items()}
PAIR = ("A", "B")
LENGTHS = np.array([3, 2, 5, 2])
EVERYTHING = np.arange(4)


def numbers(flags: np.ndarray) -> list[int]:
    return np.flatnonzero(flags).tolist()


def test_places_by_hand() -> None:
    a, b = RUNS["A"], RUNS["B"]
    assert a.original.tolist() == [1, 0, 0, 0]
    assert a.labelled.tolist() == [1, 1, 0, 0]
    assert list(zip(a.new_queries.tolist(), a.new_ranks.tolist(), strict=True)) == [(1, 1)]
    assert b.original.tolist() == [0, 2, 2, 0]
    assert b.labelled.tolist() == [0, 1, 1, 0]
    assert list(zip(b.new_queries.tolist(), b.new_ranks.tolist(), strict=True)) == [(1, 1), (2, 1)]
    nothing = find_places(lists_of(np.empty((4, 0)), 4), LABELLED, ORIGINAL)
    assert nothing.labelled.tolist() == [0, 0, 0, 0]
    assert nothing.new_in_top(1).tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match="rows"):
        find_places(LISTS["A"][:3], LABELLED, ORIGINAL)


@pytest.mark.parametrize(
    ("show", "cutoff", "by_labels", "by_original"),
    [
        ("all", 1, [0, 1, 2, 3], [0, 1, 2, 3]),
        ("first", 1, [0], [0]),
        ("second", 1, [2], []),
        ("second", 2, [2], [1, 2]),
        ("differ", 1, [0, 2], [0]),
        ("differ", 2, [0, 2], [0, 1, 2]),
        ("every", 1, [1], []),
        ("neither", 1, [3], [1, 2, 3]),
        ("neither", 2, [3], [3]),
    ],
)
def test_select_by_correctness(
    show: str, cutoff: int, by_labels: list[int], by_original: list[int]
) -> None:
    assert numbers(select_by_correctness(show, RUNS, PAIR, cutoff)) == by_labels
    assert numbers(select_by_correctness(show, RUNS, PAIR, cutoff, by_labels=False)) == by_original


def test_select_by_correctness_uses_the_two_named_runs() -> None:
    assert numbers(select_by_correctness("first", RUNS, ("B", "A"), 1)) == [2]
    # `every` takes all runs into account, and `first` only the two named runs.
    three = {**RUNS, "C": find_places(lists_of([[3]] * 4, 4), LABELLED, ORIGINAL)}
    assert numbers(select_by_correctness("every", three, PAIR, 1)) == [1]
    assert numbers(select_by_correctness("first", three, ("C", "A"), 1)) == []


@pytest.mark.parametrize(
    ("effect", "cutoff", "expected"),
    [
        ("any", 1, [0, 1, 2, 3]),
        ("new", 1, [1, 2]),
        ("turned", 1, [1, 2]),
        # B has the original positives of queries 1 and 2 at rank 2. A has none for query 1.
        ("turned", 2, [1]),
    ],
)
def test_select_by_the_effect_of_labels(effect: str, cutoff: int, expected: list[int]) -> None:
    assert numbers(changed_by_labels(effect, RUNS, cutoff)) == expected


def test_labels_only_can_turn_correct_into_wrong() -> None:
    labels_only = Judged.from_pairs([0], [0], [0], n_queries=4, n_videos=4)
    runs = {"A": find_places(LISTS["A"], labels_only, ORIGINAL)}
    assert numbers(changed_by_labels("turned", runs, 1)) == [0]
    assert new_in_tops(runs, 1).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("benchmark", [0, 1, 2, 3]),
        # Both runs have the new positive of query 1 at rank 1. Only B has that of query 2.
        ("changed", [1, 2, 0, 3]),
        # A list without a positive counts as if it had one at rank 2, below all first positives.
        ("apart", [0, 2, 1, 3]),
        ("short", [1, 3, 0, 2]),
        ("long", [2, 0, 1, 3]),
    ],
)
def test_orders(order: str, expected: list[int]) -> None:
    assert in_order(EVERYTHING, order, RUNS, PAIR, 1, LENGTHS).tolist() == expected
    some = [query for query in expected if query != 2]
    assert in_order(np.array([0, 1, 3]), order, RUNS, PAIR, 1, LENGTHS).tolist() == some


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValueError, match="two runs"):
        select_by_correctness("first", RUNS, None, 1)
    with pytest.raises(ValueError, match="not a choice"):
        select_by_correctness("best", RUNS, PAIR, 1)
    with pytest.raises(ValueError, match="not a choice"):
        changed_by_labels("better", RUNS, 1)
    with pytest.raises(ValueError, match="two runs"):
        in_order(EVERYTHING, "apart", RUNS, None, 1, LENGTHS)
