"""Numbers of positives, their ranks, and correct lists by length of the caption."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.positives import (
    at_the_ends,
    finds_one,
    length_table,
    positives_per_query,
    ranks_by_source,
    right_by_length,
)
from tests.evaluation.core.lists import lists_of

ORIGINAL = Judged.from_pairs([0, 1], [0, 2], [1, 1], n_queries=3, n_videos=4)
# Positives: query 0: videos 0 and 3. Query 1: video 2, and video 1 with a higher grade. Query 2:
# none.
LABELLED = Judged.from_pairs(
    [0, 0, 0, 1, 1, 2], [0, 1, 3, 1, 2, 0], [1, 0, 1, 2, 1, 0], n_queries=3, n_videos=4
)
RANKED = lists_of([[3, 0, 1], [0, 2, -1], [0, 1, 2]], 4)


def test_positives_per_query() -> None:
    assert positives_per_query(LABELLED).tolist() == [2, 2, 0]
    assert positives_per_query(ORIGINAL).tolist() == [1, 1, 0]


def test_length_table() -> None:
    table = length_table(np.array([2, 1, 2, 2]), np.array([0, 1, 3, 0]))
    assert table.tolist() == [[0, 0, 0, 0], [0, 1, 0, 0], [2, 0, 0, 1]]
    with pytest.raises(ValueError, match="the same size"):
        length_table(np.array([1]), np.array([1, 2]))


def test_ranks_by_source() -> None:
    # The first row contains original positives, the second row new ones.
    assert ranks_by_source(RANKED, LABELLED, ORIGINAL).tolist() == [[0, 2, 0], [1, 0, 0]]


def test_right_by_length() -> None:
    first = finds_one(RANKED, LABELLED, 1)
    second = finds_one(RANKED, LABELLED, 2)
    assert first.tolist() == [True, False, False]
    assert second.tolist() == [True, True, False]
    table = right_by_length(first, second, np.array([4, 4, 9]))
    assert table.lengths.tolist() == [4, 9]
    # Columns: neither, only the first, only the second, both.
    assert table.counts.tolist() == [[0, 0, 1, 1], [1, 0, 0, 0]]
    with pytest.raises(ValueError, match="the same size"):
        right_by_length(first, second, np.array([4]))


def test_counts_without_captions() -> None:
    nothing = np.array([], np.int64)
    assert length_table(nothing, nothing).tolist() == [[0]]
    none = np.array([], np.bool_)
    assert right_by_length(none, none, nothing).counts.shape == (0, 4)
    assert [part.tolist() for part in at_the_ends(nothing, 0)] == [[], [], []]


ENDS = [
    (0, [[], [], []]),
    (1, [[1], [2], [3]]),
    (2, [[1, 4], [4, 2], [0, 3]]),
    (5, [[1, 4, 2, 0, 3]] * 3),
]


@pytest.mark.parametrize(("count", "expected"), ENDS)
def test_shortest_middle_and_longest_captions(count: int, expected: list[list[int]]) -> None:
    parts = at_the_ends(np.array([7, 1, 3, 9, 2]), count)
    assert [part.tolist() for part in parts] == expected
