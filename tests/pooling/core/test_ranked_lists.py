"""Checks of ranked lists, and parts of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pooling.core import ranked_lists
from pooling.core.ranked_lists import RankedLists


@pytest.mark.parametrize(
    ("ranked", "reason"),
    [
        ([0, 1, 2], "ranked must be a two-dimensional array of signed whole numbers"),
        ([[0.0], [1.0], [2.0]], "ranked must be a two-dimensional array of signed whole numbers"),
        ([[0], [1], [4]], "ranked contains a video number outside of -1 to 3"),
        ([[0], [-2], [1]], "ranked contains a video number outside of -1 to 3"),
        ([[0, 1], [-1, 1], [0, 1]], "ranked has padding before a video"),
        ([[0, 1, 2], [3, 1, 3], [0, 1, 2]], "query 1 has a video twice in its ranked list"),
    ],
)
@pytest.mark.parametrize("rows", [1, 1 << 13])
def test_bad_lists_are_refused(
    ranked: list[Any], reason: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranked_lists, "_CHECKED_ROWS", rows)
    with pytest.raises(ValueError) as refused:
        RankedLists.of(np.array(ranked), 4)
    assert str(refused.value) == reason


def test_equal_neighbours_across_rows_are_accepted() -> None:
    lists = RankedLists.of(np.array([[0, 3], [3, -1], [-1, -1]]), 4)
    assert (len(lists), lists.depth, lists.lengths.tolist()) == (3, 2, [2, 1, 0])
    assert lists.codes[lists.is_item].tolist() == [0, 3, 7]
    assert RankedLists.of(np.empty((3, 0), dtype=np.int32), 4).depth == 0


def seconds(*cells: list[float]) -> Any:
    return np.array(cells, np.float32)


def test_moments_of_one_video_and_lists_of_several_phrasings() -> None:
    """Parts of lists keep the queries, scores and moments of their items."""
    lists = RankedLists.of(
        np.array([[1, 1, 0], [2, -1, -1], [0, 2, -1]]),
        3,
        queries=np.array([4, 4, 6]),
        scores=seconds([0.9, 0.8, 0.7], [1, 0, 0], [0.5, 0.4, 0]),
        starts=seconds([0, 9, 3], [2, 0, 0], [1, 1, 0]),
        ends=seconds([5, 14, 8], [3, 0, 0], [6, 4, 0]),
    )
    part = lists[1:].top(2)
    assert (part.items.tolist(), part.n_items) == ([[2, -1], [0, 2]], 3)
    assert part.query_numbers.tolist() == [4, 6]
    assert part.codes[part.is_item].tolist() == [14, 18, 20]
    cells = [part.scores, part.starts, part.ends]
    assert [None if found is None else found[1].tolist() for found in cells] == [
        seconds([0.5, 0.4])[0].tolist(), [1, 1], [6, 4]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ({"starts": seconds([0, 1])}, "a moment needs a start and an end"),
        ({"scores": seconds([0])}, "ranked and its scores or moments differ in shape"),
        ({"queries": np.array([0, 1])}, "ranked and its queries differ in length"),
    ],
)
def test_cells_have_the_shape_of_the_items(others: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        RankedLists.of(np.array([[0, 1]]), 3, **others)
