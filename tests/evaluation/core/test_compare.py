from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.compare import choose_queries
from evaluation.core.relevance import Judged

ORIGINAL = Judged.from_pairs([0, 1, 2], [0, 1, 2], [1, 1, 1], n_queries=4, n_videos=4)
LABELLED = Judged.from_pairs(
    [0, 1, 1, 2, 2, 3], [0, 1, 3, 2, 0, 0], [1, 1, 1, 1, 1, 0], n_queries=4, n_videos=4
)
RUNS = {
    "first": np.array([[0, 1], [3, 0], [1, 3], [0, 1]], np.int32),
    "second": np.array([[1, 2], [3, 1], [0, 2], [-1, -1]], np.int32),
}


@pytest.mark.parametrize(
    ("choice", "cutoff", "expected"),
    [
        ("all", 1, [0, 1, 2, 3]),
        ("first", 1, [0]),
        ("second", 1, [2]),
        ("neither", 1, [3]),
        ("first", 2, [0]),
        # Both have the new positive of query 1 at rank 1, only one has that of query 2.
        ("changed", 1, [1, 2]),
        ("changed", 2, [1, 2]),
    ],
)
def test_choices(choice: str, cutoff: int, expected: list[int]) -> None:
    assert choose_queries(choice, RUNS, LABELLED, ORIGINAL, cutoff).tolist() == expected


def test_two_runs_are_needed_to_differ() -> None:
    with pytest.raises(ValueError, match="two runs"):
        choose_queries("first", {"first": RUNS["first"]}, LABELLED, ORIGINAL, 1)
    with pytest.raises(ValueError, match="no choice"):
        choose_queries("best", RUNS, LABELLED, ORIGINAL, 1)
