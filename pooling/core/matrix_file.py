"""Runs as a `.npy` similarity matrix: captions x videos, both in the order of their numbers.

One matrix contains a run of each direction: its rows rank videos, and its columns rank captions.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from config.shared.errors import InvalidInput
from pooling.core.arrays import Int64s
from pooling.core.direction import Direction
from pooling.core.keys import shown
from pooling.core.lines import Progress, open_binary, sha256_of_file
from pooling.core.ordering import RunData
from pooling.core.trec_file import FLOAT32_MAX
from pooling.core.whole_matrix import WholeMatrix

MAGIC = b"\x93NUMPY"
DEFAULT_DEPTH = 100
MAX_HEADER_BYTES = 10_000
# The number of scores in a band of rows. A band takes 8 to 16 MiB, and several times as much while
# it is sorted.
BAND_SCORES = 1 << 21

# The number of bytes that contain the length of the header, by version.
_LENGTH_BYTES = {b"\x01\0": 2, b"\x02\0": 4, b"\x03\0": 4}
_DTYPES = frozenset(order + kind for order in "<>" for kind in ("f2", "f4", "f8"))


@dataclass(frozen=True, slots=True)
class _Header:
    dtype: np.dtype[Any]
    order: Literal["C", "F"]
    shape: tuple[int, int]
    data_start: int


class MatrixReader:
    """A reader of .npy matrices for the keys of a benchmark. It reads a band of rows at a time.

    This code parses the header itself, because numpy would also load pickles and archives, and
    would allocate any shape that a header claims. It accepts float16, float32 and float64 of either
    byte order, in C order and in Fortran order, which `np.save(path, matrix.T)` writes.
    """

    def __init__(
        self, query_numbers: Mapping[str, int], video_numbers: Mapping[str, int], source: str
    ) -> None:
        self._query_keys = sorted(query_numbers, key=query_numbers.__getitem__)
        self._video_keys = sorted(video_numbers, key=video_numbers.__getitem__)
        self._source = source

    def read(
        self,
        path: Path,
        depth: int,
        progress: Progress | None,
        direction: Direction = Direction.TEXT_TO_VIDEO,
        whole: WholeMatrix | None = None,
    ) -> RunData:
        """Return the best `depth` videos of every caption, or captions of every video.

        whole: gets all similarities and the order of all items.

        Raises `InvalidInput` if the header is invalid, if the shape is not captions x videos, if
        the file size does not fit the shape, or if a score is NaN or infinite.
        """
        header, size = self._header(path)
        matrix: npt.NDArray[Any] = np.memmap(
            path, header.dtype, "r", header.data_start, header.shape, header.order
        )
        keys = self._query_keys, self._video_keys
        if direction is Direction.VIDEO_TO_TEXT:
            matrix, keys = matrix.T, keys[::-1]
        n_rows, n_items = matrix.shape
        # Items are first sorted by key, because `best_columns` prefers the left one of equal
        # scores.
        by_key = np.array(sorted(range(n_items), key=keys[1].__getitem__), dtype=np.int64)
        width = min(depth, n_items)
        items = np.empty((n_rows, width), dtype=np.int32)
        scores = np.empty((n_rows, width), dtype=np.float32)
        step = max(1, BAND_SCORES // n_items)
        for start in range(0, n_rows, step):
            band = slice(start, min(start + step, n_rows))
            rows = self._band(matrix, band, direction)
            columns, best = best_columns(rows[:, by_key], n_items if whole else width)
            items[band], scores[band] = by_key[columns[:, :width]], best[:, :width]
            if whole:
                whole.write(band, rows, by_key[columns])
            if progress:
                progress(size * band.stop // n_rows, size)
        return RunData(
            query_numbers=np.arange(n_rows, dtype=np.int32),
            offsets=np.arange(n_rows + 1, dtype=np.int64) * width,
            videos=items.ravel(),
            scores=scores.ravel(),
            depth=width,
            sha256=sha256_of_file(path, self._source),
            format="npy",
            warnings=whole.warnings if whole else (),
            direction=direction,
        )

    def _band(
        self, matrix: npt.NDArray[Any], band: slice, direction: Direction
    ) -> npt.NDArray[np.floating[Any]]:
        """Return rows of the matrix as native float32 or float64.

        Raises `InvalidInput` if a score is not finite or is beyond float32.
        """
        wide: np.dtype[np.floating[Any]] = np.dtype("f8" if matrix.dtype.itemsize == 8 else "f4")
        rows = np.ascontiguousarray(matrix[band], wide)
        is_valid = np.abs(rows) <= FLOAT32_MAX  # False for NaN as well
        if not is_valid.all():
            row, column = (int(at[0]) for at in np.nonzero(~is_valid))
            place = (band.start + row, column)
            if direction is Direction.VIDEO_TO_TEXT:
                place = place[::-1]
            self._refuse_score(float(rows[row, column]), *place)
        return rows

    def _refuse_score(self, value: float, row: int, column: int) -> NoReturn:
        beyond = (
            "is beyond the range of 32-bit numbers" if math.isfinite(value) else "is not a score"
        )
        caption, video = self._query_keys[row], self._video_keys[column]
        place = f"row {row}, column {column}, counted from 0"
        self._refuse(f"{value} {beyond}: caption {shown(caption)}, video {shown(video)} ({place})")

    def _header(self, path: Path) -> tuple[_Header, int]:
        """Return the checked header and the size of the file."""
        with open_binary(path, self._source) as file:
            start = file.read(8)
            if not start.startswith(MAGIC):
                self._refuse("this is not a .npy file")
            width = _LENGTH_BYTES.get(start[6:])
            if width is None:
                self._refuse("this is not a .npy file of version 1, 2 or 3")
            length = int.from_bytes(file.read(width), "little")
            if length > MAX_HEADER_BYTES:
                self._refuse(
                    f"the .npy header has {length:,} bytes; the maximum is {MAX_HEADER_BYTES:,}"
                )
            text = file.read(length)
            data_start = file.tell()
            size = file.seek(0, 2)
        if len(text) < length:
            self._refuse("the file ends within its header")
        header = self._parsed(text, data_start)
        n_rows, n_columns = header.shape
        expected = data_start + n_rows * n_columns * header.dtype.itemsize
        if size != expected:
            self._refuse(f"the file has {size:,} bytes, but its header requires {expected:,}")
        return header, size

    def _parsed(self, text: bytes, data_start: int) -> _Header:
        try:
            fields = ast.literal_eval(text.decode("latin-1").strip())
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            fields = None
        if not isinstance(fields, dict) or fields.keys() != {"descr", "fortran_order", "shape"}:
            self._refuse("the .npy header cannot be read")
        descr, fortran, shape = fields["descr"], fields["fortran_order"], fields["shape"]
        if not isinstance(descr, str) or descr not in _DTYPES:
            self._refuse(
                f"the scores have the type {shown(str(descr))}; use float16, float32 or float64"
            )
        if not isinstance(fortran, bool) or not isinstance(shape, tuple):
            self._refuse("the .npy header cannot be read")
        self._check_shape(shape)
        return _Header(np.dtype(descr), "F" if fortran else "C", shape, data_start)

    def _check_shape(self, shape: tuple[object, ...]) -> None:
        if reason := wrong_shape(shape, (len(self._query_keys), len(self._video_keys))):
            self._refuse(reason)

    def _refuse(self, reason: str) -> NoReturn:
        raise InvalidInput(reason, source=self._source)


def wrong_shape(shape: tuple[object, ...], required: tuple[int, ...]) -> str:
    """Return why the shape of a matrix is not the required one, or an empty text if it is.

    required: the numbers of captions and of videos.
    """
    # `type` is compared because 3.0 and True also equal an integer.
    whole = all(type(n) is int for n in shape)
    if whole and shape == required:
        return ""
    actual, wanted = (" x ".join(str(n)[:20] for n in one[:8]) for one in (shape, required))
    if whole and shape == required[::-1]:
        return f"the matrix is {actual}, videos x captions; transpose it to {wanted}"
    return f"the matrix is {actual}, but the benchmark has {wanted} (captions x videos)"


def best_columns(
    rows: npt.NDArray[np.floating[Any]], k: int
) -> tuple[Int64s, npt.NDArray[np.floating[Any]]]:
    """Return the columns and scores of the k largest values of each row, [n, k] each, best first.

    `rows` is [n, m] with k <= m. Among equal values, the left one comes first. `np.argpartition`
    would select arbitrary columns among values equal to the k-th.
    """
    kth = np.partition(rows, rows.shape[1] - k, axis=1)[:, rows.shape[1] - k, None]
    take = rows >= kth
    tied = np.flatnonzero(np.count_nonzero(take, axis=1) > k)
    if len(tied):
        above = rows[tied] > kth[tied]
        equal = rows[tied] == kth[tied]
        room = k - np.count_nonzero(above, axis=1)[:, None]
        take[tied] = above | (equal & (np.cumsum(equal, axis=1) <= room))
    columns = np.nonzero(take)[1].reshape(len(rows), k)
    scores = np.take_along_axis(rows, columns, axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1), np.take_along_axis(scores, order, axis=1)
