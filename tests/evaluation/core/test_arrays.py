"""Tests of numbers without gaps."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.arrays import dense_groups, renumber


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([3, 0, 3, 2], [2, 0, 2, 1]),
        # Values are sorted if their range is far larger than the length of the array. Otherwise
        # they are marked in an array that covers their range.
        ([10**9, 7, 10**9], [1, 0, 1]),
    ],
)
def test_numbers_without_gaps(values: list[int], expected: list[int]) -> None:
    found = renumber(np.array(values, np.int64))
    assert (found.tolist(), found.dtype) == (expected, np.int64)


def test_each_query_needs_a_group() -> None:
    assert dense_groups([5, 5, 1], 3).tolist() == [1, 1, 0]
    with pytest.raises(ValueError, match="2 clusters for 3 queries"):
        dense_groups([5, 1], 3)
    with pytest.raises(ValueError, match="groups: a number is negative"):
        dense_groups([5, -1], 2, "groups")
