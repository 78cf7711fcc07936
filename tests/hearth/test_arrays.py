"""Numbering and sorting of numpy arrays, compared with np.unique."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hearth.shared.arrays import combined, numbered, sorted_once

CLOSE = st.integers(1_000_000, 1_000_040)
ANY = st.integers(-(2**62), 2**62)
VALUES = st.one_of(
    arrays.arrays(np.int64, st.integers(0, 40), elements=elements) for elements in (CLOSE, ANY)
)


@given(VALUES)
def test_values_are_numbered_as_by_np_unique(values: np.ndarray) -> None:
    distinct, place = np.unique(values, return_inverse=True)
    found = numbered(values)
    assert [part.dtype for part in found] == [np.int64, np.int64]
    assert (found[0].tolist(), found[1].tolist()) == (distinct.tolist(), place.tolist())
    assert sorted_once(values).tolist() == distinct.tolist()


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 9)), max_size=30))
def test_sorting_by_combined_numbers_is_sorting_by_two_columns(rows: list[tuple[int, int]]) -> None:
    first, second = np.array(rows, np.int64).reshape(-1, 2).T
    order = np.argsort(combined(first, second), kind="stable")
    assert [rows[at] for at in order.tolist()] == sorted(rows)
