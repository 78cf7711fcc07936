"""Proxies that another program computed: matrices of numbers from 0 to 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress
from pooling.core.arrays import Int64s
from pooling.core.lines import SourceFile
from pooling.core.proxies.word_sets import Matrix
from pooling.core.readers.registry import Reader, Readers
from pooling.core.readers.runs.matrix import wrong_shape

_BLOCK_CELLS: Final = 4 << 20
_TYPES: Final = ("float16", "float32", "float64")


def open_floats(path: Path, source: str) -> Any:
    """Return the array of a `.npy` file of float16, float32 or float64, read-only.

    Raises InvalidInput if the file is something else. Pickled objects are never loaded.
    """
    try:
        matrix: np.ndarray[Any, Any] = np.lib.format.open_memmap(path, "r")
    except (ValueError, EOFError):
        reason = "this is not a .npy matrix of numbers; save the matrix with numpy.save"
        raise InvalidInput(reason, source=source) from None
    if matrix.dtype.name not in _TYPES:
        reason = f"the values have the type {matrix.dtype.name}; use {', '.join(_TYPES)}"
        raise InvalidInput(reason, source=source)
    return matrix


Places = tuple[Int64s, Int64s]
PROXIES: Final = Readers[Reader[[Matrix, Progress, Places | None], None]]("proxies", __package__)


def _copy_matrix(
    file: SourceFile, out: Matrix, progress: Progress, places: Places | None = None
) -> None:
    """Copy a `.npy` file into `out`, [n_queries, n_videos].

    places: the row of each caption and the column of each video in the file; None if they are in
    the order of their numbers. Raises InvalidInput if the file is not a matrix of float16,
    float32 or float64 with this shape, or if a value is not from 0 to 1.
    """
    source = file.source
    matrix = open_floats(file.path, source)
    if reason := wrong_shape(matrix.shape, out.shape):
        raise InvalidInput(reason, source=source)
    step = max(1, _BLOCK_CELLS // max(1, out.shape[1]))
    for start in range(0, len(out), step):
        progress(start, len(out), "reading the proxy")
        block = slice(start, start + step)
        rows = matrix[block] if places is None else matrix[places[0][block]][:, places[1]]
        _check_values(rows, start, places, source)
        out[block] = rows


def _check_values(rows: Matrix, start: int, places: Places | None, source: str) -> None:
    """Check a part of the matrix, which begins at the caption `start`. NaN is not allowed."""
    is_wrong = ~((rows >= 0) & (rows <= 1))
    if is_wrong.any():
        row, column = (int(place) for place in np.argwhere(is_wrong)[0])
        value, at = float(rows[row, column]), (start + row, column)
        if places is not None:
            at = int(places[0][at[0]]), int(places[1][at[1]])
        reason = (
            f"a value is not from 0 to 1: {value:g} (row {at[0]}, column {at[1]}, counted from 0)"
        )
        raise InvalidInput(reason, source=source)


READER: Final = Reader(
    kind=PROXIES.kind,
    name="npy",
    title="NumPy matrix (.npy) of captions x videos with values from 0 to 1",
    read=_copy_matrix,
)
