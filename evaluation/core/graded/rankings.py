"""Relevance matrices, and the values of ranked items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from pooling.core.ranked_lists import NO_ITEM, RankedLists

Matrix = npt.NDArray[np.floating[Any]]
"""[n_queries, n_items] of any float type. The array may be a file that is mapped into memory."""

# The number of cells of a matrix that are ranked at once.
_BLOCK_CELLS: Final = 1 << 20


def check_shapes(relevance: Matrix, other: RankedLists | Matrix) -> None:
    """Raise ValueError unless both have the same queries and items, and there is an item."""
    shape = other.shape if isinstance(other, np.ndarray) else (len(other), other.n_items)
    if relevance.shape != shape:
        raise ValueError("the two arguments have different queries or items")
    if relevance.ndim != 2 or relevance.shape[1] == 0:
        raise ValueError("there is no item")


def blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield slices of the queries, so small that the arrays of a block need about 100 MB.

    There is at least one slice, which is empty if there is no query.
    """
    n_queries, n_items = shape
    step = max(1, _BLOCK_CELLS // n_items)
    for start in range(0, max(1, n_queries), step):
        yield slice(start, min(start + step, n_queries))


Value = TypeVar("Value", FloatArray, BoolArray)


def values_in_order(values: Value, items: IntArray) -> Value:
    """Return the values of ranked items, [queries, depth]; 0 for NO_ITEM.

    values: [queries, n_items]. items: int64 [queries, depth].
    """
    found = np.take_along_axis(values, np.maximum(items, 0), axis=1)
    found[items == NO_ITEM] = 0
    return found
