"""The ranked items of all queries, from a similarity matrix or from lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, IntArray

Matrix = npt.NDArray[np.floating[Any]]
"""[n_queries, n_items] of any float type. The array may be a file that is mapped into memory."""

NO_ITEM: Final = -1

# The number of cells of a matrix that are ranked at once.
_BLOCK_CELLS: Final = 1 << 20


class Ranking(Protocol):
    """The items of each query, best first."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def depth(self) -> int:
        """The largest number of items in a list."""
        ...

    def items(self, queries: slice) -> IntArray:
        """Return the items of some queries, int64 [queries, depth], padded with NO_ITEM."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class BySimilarity:
    """All items in descending order of similarity. Equally similar items keep their order.

    similarity: [n_queries, n_items]. In the code of Wray et al. (2021), the order of equally
    similar items is undefined.
    """

    similarity: Matrix

    @property
    def shape(self) -> tuple[int, ...]:
        return self.similarity.shape

    @property
    def depth(self) -> int:
        return int(self.similarity.shape[1])

    def items(self, queries: slice) -> IntArray:
        """Return the items of some queries. Raises ValueError if a similarity is not finite."""
        rows = np.ascontiguousarray(self.similarity[queries])
        if rows.dtype == np.float16:  # numpy sorts float16 slowly
            rows = rows.astype(np.float32)
        if not np.isfinite(rows).all():
            raise ValueError("a similarity is not a finite number")
        return np.argsort(-rows, axis=1, kind="stable")


@dataclass(frozen=True, slots=True, eq=False)
class ByLists:
    """Ranked lists of limited depth.

    ranked: integers [n_queries, depth], best first, padded with NO_ITEM. n_items: the number of
    items of the benchmark.
    """

    ranked: npt.NDArray[np.integer[Any]]
    n_items: int

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.ranked), self.n_items

    @property
    def depth(self) -> int:
        return int(self.ranked.shape[1])

    def items(self, queries: slice) -> IntArray:
        return self.ranked[queries].astype(np.int64)


def check_shapes(relevance: Matrix, other: Ranking | Matrix) -> None:
    """Raise ValueError unless both have the same queries and items, and there is an item."""
    if relevance.shape != other.shape:
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
