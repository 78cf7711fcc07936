"""The mean intersection over union (IoU) of word sets, for all pairs of a row and a column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Float32s, Float64s, Int64s

W = TypeVar("W", bound=Hashable)

Words: TypeAlias = frozenset[Hashable]
WordSets: TypeAlias = Sequence[Words]
"""A set of words for each row, or for each column."""

Matrix: TypeAlias = np.ndarray[Any, np.dtype[np.floating[Any]]]
"""An array of any float type, which may be a file that is mapped into memory."""

COMPARING: Final = "comparing captions"

# The number of cells of the dense arrays that are computed at once.
_BLOCK_CELLS: Final = 4 << 20


def frequent_words(captions: Sequence[Iterable[W]], percent: int) -> frozenset[W]:
    """Return the words of at least `percent` % of the captions.

    A word that a caption repeats is counted once. Section 4 of Wray et al. uses 25 % for videos
    with several captions. A video with at most `100 / percent` captions therefore keeps all their
    words.
    """
    counts = Counter(word for caption in captions for word in set(caption))
    lowest = percent * len(captions)
    return frozenset(word for word, count in counts.items() if 100 * count >= lowest)


def fill_mean_iou(
    out: Matrix,
    rows: Sequence[WordSets],
    columns: Sequence[WordSets],
    progress: Progress = no_progress,
) -> None:
    """Write the mean IoU of all pairs into `out`, [n_rows, n_columns].

    rows, columns: the word sets of each part of speech; the mean is over these parts. The IoU of
    two empty sets is 0, as in the published code. Rows with equal sets are computed once, and so
    are columns. Raises ValueError if the parts or the shapes differ.
    """
    if not 0 < len(rows) == len(columns):
        raise ValueError("rows and columns must have the same parts of speech")
    row_sets, row_numbers = distinct(list(zip(*rows, strict=True)))
    column_sets, column_numbers = distinct(list(zip(*columns, strict=True)))
    if out.shape != (len(row_numbers), len(column_numbers)):
        raise ValueError("the matrix must have a cell for each row and column")
    parts = [
        _Part([sets[part] for sets in row_sets], [sets[part] for sets in column_sets])
        for part in range(len(rows))
    ]
    # In this order, the row numbers of a block have no gaps, so one range of distinct rows is
    # computed for each block. A distinct row that occurs in two blocks is computed twice.
    order = np.argsort(row_numbers, kind="stable")
    for block in _blocks(*out.shape):
        progress(block.start, len(order), COMPARING)
        numbers = row_numbers[order[block]]
        some = slice(numbers[0], numbers[-1] + 1)
        cells = np.mean([part.iou(some) for part in parts], axis=0)
        out[order[block]] = cells[numbers - some.start][:, column_numbers]


def distinct(items: Sequence[Hashable]) -> tuple[list[Any], Int64s]:
    """Return the distinct items in order of appearance, and the number of each item, int64 [n]."""
    numbers: dict[Hashable, int] = {}
    found = [numbers.setdefault(item, len(numbers)) for item in items]
    return list(numbers), np.array(found, np.int64)


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    step = max(1, _BLOCK_CELLS // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


class _Part:
    """The word sets of one part of speech as sparse matrices of 0 and 1."""

    def __init__(self, rows: WordSets, columns: WordSets) -> None:
        numbers: dict[Hashable, int] = {}
        self._rows = _incidence(rows, numbers)
        others = _incidence(columns, numbers)
        self._rows.resize(len(rows), len(numbers))
        self._columns = others.T.tocsr()
        self._row_sizes = np.array([len(words) for words in rows], np.float32)
        self._column_sizes = np.array([len(words) for words in columns], np.float32)

    def iou(self, block: slice) -> Float64s:
        """Return the IoU of the rows of a block with all columns, float64 [rows, n_columns]."""
        common: Float32s = (self._rows[block] @ self._columns).toarray()
        union = self._row_sizes[block, None] + self._column_sizes - common
        iou: Float64s = np.divide(common, np.maximum(union, 1), dtype=np.float64)
        return iou


def _incidence(sets: WordSets, numbers: dict[Hashable, int]) -> Any:
    """Return a sparse matrix with a 1 for each word of each set. New words get new numbers."""
    from scipy import sparse  # type: ignore[import-untyped]  # slow to import

    words = [numbers.setdefault(word, len(numbers)) for words in sets for word in words]
    starts = np.cumsum([0, *(len(words) for words in sets)])
    ones = np.ones(len(words), np.float32)
    shape = (len(sets), len(numbers))
    return sparse.csr_array((ones, np.array(words, np.int64), starts), shape=shape)
