"""Judged pairs, and the gains of ranked videos."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaluation.core.relevance import judged as relevance
from evaluation.core.relevance.judged import (
    UNJUDGED,
    Judged,
    look_up_gains,
    with_positives,
)
from tests.evaluation.core.lists import lists_of


def judged_of(pairs: dict[tuple[int, int], int], n_queries: int = 3, n_videos: int = 4) -> Judged:
    queries, videos = [q for q, _ in pairs], [v for _, v in pairs]
    return Judged.from_pairs(
        queries, videos, list(pairs.values()), n_queries=n_queries, n_videos=n_videos
    )


def pairs_of(judged: Judged) -> dict[tuple[int, int], int]:
    pairs = zip(judged.codes.tolist(), judged.gains.tolist(), strict=True)
    return {judged.space.decode(code): gain for code, gain in pairs}


def test_from_pairs_sorts_by_query_and_video() -> None:
    judged = judged_of({(2, 0): 1, (0, 3): 0, (2, 3): 2, (0, 1): 127})
    assert judged.codes.tolist() == [1, 3, 8, 11]
    assert judged.gains.tolist() == [127, 0, 1, 2]


def test_positives_of_all_and_of_some_queries() -> None:
    judged = judged_of({(0, 3): 1, (1, 0): 2, (1, 3): 0, (2, 0): 4})
    codes, gains = judged.positives()
    assert (codes.tolist(), gains.tolist()) == ([3, 4, 8], [1, 2, 4])
    codes, gains = judged.positives(1, 2)
    assert (codes.tolist(), gains.tolist()) == ([4], [2])
    assert judged.rows_of(1, 2) == slice(1, 3)


@pytest.mark.parametrize(
    ("queries", "videos", "gains", "reason"),
    [
        ([0, 1, 0], [1, 1, 1], [0, 1, 0], "query 0 and video 1 occur twice"),
        ([3], [0], [1], "queries: a number is outside of 0 to 2"),
        ([0], [4], [1], "videos: a number is outside of 0 to 3"),
        ([0], [-1], [1], "videos: a number is outside of 0 to 3"),
        ([0], [0], [128], "gains: a number is outside of 0 to 127"),
        ([0], [0], [0.5], "gains: float64 instead of whole numbers"),
        ([[0]], [0], [1], "queries: not one-dimensional"),
        ([0, 1], [0], [1], "queries, videos and gains must be of the same length"),
    ],
)
def test_from_pairs_refuses(
    queries: list[Any], videos: list[Any], gains: list[Any], reason: str
) -> None:
    with pytest.raises(ValueError) as refused:
        Judged.from_pairs(queries, videos, gains, n_queries=3, n_videos=4)
    assert str(refused.value) == reason


@pytest.mark.parametrize(
    ("codes", "gains", "reason"),
    [
        ([3, 3], [0, 0], "codes must be strictly ascending"),
        ([0, 12], [0, 0], "a code is outside of the benchmark's queries and videos"),
        ([0], [-1], "a gain is negative"),
        ([0, 1], [1], "codes and gains must be one-dimensional and of the same length"),
    ],
)
def test_judged_refuses_inconsistent_arrays(
    codes: list[int], gains: list[int], reason: str
) -> None:
    with pytest.raises(ValueError) as refused:
        Judged(np.array(codes, np.int64), np.array(gains, np.int8), 3, 4)
    assert str(refused.value) == reason


def test_with_positives_follows_the_fire_convention() -> None:
    judged = judged_of({(0, 0): 0, (0, 1): 1, (1, 2): 3, (2, 3): 0})
    original = judged_of({(0, 0): 1, (1, 2): 1, (2, 0): 1})
    assert pairs_of(with_positives(judged, original)) == {
        (0, 0): 1,  # judged not relevant, but an original positive
        (0, 1): 1,
        (1, 2): 3,  # the higher grade stays
        (2, 0): 1,  # unjudged, but an original positive counts as judged
        (2, 3): 0,
    }
    assert pairs_of(with_positives(judged_of({}), original)) == pairs_of(original)
    assert pairs_of(with_positives(judged_of({}), judged_of({}))) == {}


def test_with_positives_of_another_benchmark_is_refused() -> None:
    with pytest.raises(ValueError, match="benchmarks of different size"):
        with_positives(judged_of({}), judged_of({}, n_videos=5))


@pytest.mark.parametrize("cells", [1, 4, 8, 1 << 20])
def test_look_up_gains_distinguishes_unjudged_from_not_relevant(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relevance, "_TABLE_CELLS", cells)
    judged = judged_of({(0, 3): 1, (1, 0): 0, (1, 3): 2, (2, 3): 5})
    # The last video of each query is judged. If padding (-1) were used as an index, it would return
    # the gain of a last video instead of UNJUDGED.
    ranked = lists_of([[3, 0, 1], [3, 0, -1], [-1, -1, -1]], 4)
    assert look_up_gains(ranked, judged).tolist() == [
        [1, UNJUDGED, UNJUDGED],
        [2, 0, UNJUDGED],
        [UNJUDGED, UNJUDGED, UNJUDGED],
    ]


def test_lists_of_another_benchmark_are_refused() -> None:
    for lists, reason in (
        (lists_of([[0, 1]], 4), "ranked has 1 rows for 3 queries"),
        (lists_of([[0], [1], [2]], 5), "ranked has 5 videos, and the labels 4"),
        (replace(lists_of([[0]] * 3, 4), queries=np.array([0, 0, 1])), "ranked has 3 rows for 3"),
    ):
        with pytest.raises(ValueError, match=reason):
            look_up_gains(lists, judged_of({}))
