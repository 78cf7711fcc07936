"""The ranked lists of a run as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Bools, Float32s, Int64s

Items = npt.NDArray[np.integer[Any]]

NO_ITEM: Final = -1
"""Padding at the end of a list."""

# Lists are checked in blocks of rows or cells that fit into the cache of a processor core.
_CHECKED_ROWS: Final = 1 << 13
_CHECKED_CELLS: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class RankedLists:
    """The ranked lists of a run, best first: n lists with up to `depth` items each.

    items: integers [n, depth], item numbers, padded with NO_ITEM at the end of a row. The row of a
        query without a list has only NO_ITEM. The array can be a file that is mapped into memory.
    n_items: the number of items that can be retrieved.
    queries: int64 [n], ascending, the query of each list. None: list i belongs to query i. A query
        has several lists if each of its phrasings retrieves by itself.
    scores: float32 [n, depth], the scores of the items. None: not loaded.
    starts, ends: float32 [n, depth], the moment of the video that each item stands for, in seconds.
        None: items are whole videos or captions. float32 decides which time overlaps reach a
        threshold exactly as the evaluator of TVR does.

    Values at the padding have no meaning. `of` checks the lists; parts of checked lists need no
    further check.
    """

    items: Items
    n_items: int
    queries: Int64s | None = None
    scores: Float32s | None = None
    starts: Float32s | None = None
    ends: Float32s | None = None

    @classmethod
    def of(cls, items: Items, n_items: int, **others: Any) -> RankedLists:
        """Return checked lists. others: `queries`, `scores`, `starts` and `ends`.

        Raises ValueError if an item is not an integer from NO_ITEM to `n_items` - 1, if a list has
        padding before an item, or contains an item twice: a positive that counts twice would raise
        a score above 1. Different moments of one video are different items.
        """
        lists = cls(items, n_items, **others)
        if items.ndim != 2 or not np.issubdtype(items.dtype, np.signedinteger):
            raise ValueError("ranked must be a two-dimensional array of signed whole numbers")
        if (lists.starts is None) != (lists.ends is None):
            raise ValueError("a moment needs a start and an end")
        if lists.queries is not None and lists.queries.shape != items.shape[:1]:
            raise ValueError("ranked and its queries differ in length")
        if any(cells.shape != items.shape for cells in lists._cells.values()):
            raise ValueError("ranked and its scores or moments differ in shape")
        step = max(1, min(_CHECKED_ROWS, _CHECKED_CELLS // max(1, lists.depth)))
        for start in range(0, len(items) if items.size else 0, step):
            lists[start : start + step]._check()
        return lists

    def _check(self) -> None:
        if self.items.min() < NO_ITEM or self.items.max() >= self.n_items:
            raise ValueError(f"ranked contains a video number outside of -1 to {self.n_items - 1}")
        if np.any(_in_neighbours(self.items, lambda one, other: (one < 0) & (other >= 0))):
            raise ValueError("ranked has padding before a video")
        if self.starts is not None:
            return
        ordered = np.sort(self.items, axis=1)
        twice = _in_neighbours(ordered, lambda one, other: (one == other) & (other >= 0))
        if np.any(twice):
            query = self.query_numbers[int(np.argmax(twice)) // self.depth]
            raise ValueError(f"query {query} has a video twice in its ranked list")

    @property
    def _cells(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays with a value for each item, except the items themselves."""
        every = {"scores": self.scores, "starts": self.starts, "ends": self.ends}
        return {name: cells for name, cells in every.items() if cells is not None}

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, rows: slice) -> RankedLists:
        """Return some of the lists. They keep their queries."""
        queries = self.query_numbers[rows]
        return replace(self._cut(rows, slice(None)), queries=queries)

    def where(self, kept: Bools) -> RankedLists:
        """Return the lists whose flag is set, bool [n]. They keep their queries."""
        return replace(self._cut(kept, slice(None)), queries=self.query_numbers[kept])

    def top(self, depth: int) -> RankedLists:
        """Return the first `depth` items of each list."""
        return self._cut(slice(None), slice(depth))

    def _cut(self, rows: slice | Bools, columns: slice) -> RankedLists:
        cells: Any = {name: cells[rows, columns] for name, cells in self._cells.items()}
        return replace(self, items=self.items[rows, columns], **cells)

    @property
    def depth(self) -> int:
        """The largest number of items in a list."""
        return int(self.items.shape[1])

    @property
    def query_numbers(self) -> Int64s:
        """The query of each list, int64 [n]."""
        return np.arange(len(self.items)) if self.queries is None else self.queries

    @property
    def is_item(self) -> Bools:
        """Whether a cell holds an item, bool [n, depth]."""
        return self.items >= 0

    @property
    def are_full(self) -> bool:
        """Whether no list has padding."""
        return bool((self.items[:, -1:] >= 0).all())

    @property
    def lengths(self) -> Int64s:
        """The number of items of each list, int64 [n]."""
        if self.are_full:
            return np.full(len(self.items), self.depth)
        return np.asarray(np.count_nonzero(self.is_item, axis=1), np.int64)

    @property
    def codes(self) -> Int64s:
        """The pair code of each cell, int64 [n, depth]. It has no meaning at the padding."""
        codes: Int64s = self.query_numbers[:, None] * self.n_items + self.items
        return codes


def _in_neighbours(items: Items, condition: Callable[[Items, Items], Bools]) -> Bools:
    """Return flags of the cells for which `condition(cell, next cell of the row)` is true.

    The array is compared as one long row, and the flags at the row ends are then cleared. This is
    faster than a comparison of each row, because numpy has a cost per row and rows are short.
    """
    flat = items.reshape(-1)
    flags = condition(flat[:-1], flat[1:])
    flags[items.shape[1] - 1 :: items.shape[1]] = False
    return flags
