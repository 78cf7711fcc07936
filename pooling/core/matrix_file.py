"""Runs as a `.npy` similarity matrix of captions x videos, both in the benchmark's order."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from config.shared.errors import InvalidInput
from pooling.core.arrays import Int64s
from pooling.core.keys import shown
from pooling.core.lines import Progress, open_binary, sha256_of_file
from pooling.core.ordering import RunData
from pooling.core.trec_file import FLOAT32_MAX

MAGIC = b"\x93NUMPY"
DEFAULT_DEPTH = 100
MAX_HEADER_BYTES = 10_000
BAND_SCORES = 1 << 21  # scores handled at a time: 8 to 16 MiB, and a few times this in between

_LENGTH_BYTES = {b"\x01\0": 2, b"\x02\0": 4, b"\x03\0": 4}  # by version
_DTYPES = frozenset(order + kind for order in "<>" for kind in ("f2", "f4", "f8"))


@dataclass(frozen=True, slots=True)
class _Header:
    dtype: np.dtype[Any]
    order: Any  # "C" or "F"
    shape: tuple[int, int]
    data_start: int


class MatrixReader:
    """Reads one .npy matrix against the keys of a benchmark, a band of rows at a time.

    The header is checked here before numpy sees the file, because numpy would load pickles and
    archives, and allocate whatever shape a header claims. Taken are float16, 32 and 64 of either
    byte order, and Fortran order too, which is what `np.save(path, matrix.T)` writes.
    """

    def __init__(
        self, query_numbers: Mapping[str, int], video_numbers: Mapping[str, int], source: str
    ) -> None:
        self._query_keys = sorted(query_numbers, key=query_numbers.__getitem__)
        self._video_keys = sorted(video_numbers)
        # Columns are put in key order, so that "lower key first" becomes "further left first".
        self._columns = np.array([video_numbers[key] for key in self._video_keys], dtype=np.int64)
        self._source = source

    def read(self, path: Path, depth: int, progress: Progress | None) -> RunData:
        """The best `depth` videos of every caption.

        Raises `InvalidInput` for a header that is not as described, a shape that is not captions x
        videos, a file of another size than its shape needs, and NaN or infinity.
        """
        header, size = self._header(path)
        matrix: npt.NDArray[Any] = np.memmap(
            path, header.dtype, "r", header.data_start, header.shape, header.order
        )
        n_queries, n_videos = header.shape
        width = min(depth, n_videos)
        videos = np.empty((n_queries, width), dtype=np.int32)
        scores = np.empty((n_queries, width), dtype=np.float32)
        step = max(1, BAND_SCORES // n_videos)
        for start in range(0, n_queries, step):
            band = slice(start, min(start + step, n_queries))
            columns, scores[band] = best_columns(self._band(matrix, band), width)
            videos[band] = self._columns[columns]
            if progress:
                progress(size * band.stop // n_queries, size)
        return RunData(
            query_numbers=np.arange(n_queries, dtype=np.int32),
            offsets=np.arange(n_queries + 1, dtype=np.int64) * width,
            videos=videos.ravel(),
            scores=scores.ravel(),
            depth=width,
            sha256=sha256_of_file(path, self._source),
            format="npy",
        )

    def _band(self, matrix: npt.NDArray[Any], band: slice) -> npt.NDArray[np.floating[Any]]:
        """Rows of the matrix in native float32 or float64, columns in key order, all finite."""
        wide: np.dtype[np.floating[Any]] = np.dtype("f8" if matrix.dtype.itemsize == 8 else "f4")
        rows = matrix[band].astype(wide)[:, self._columns]
        good = np.abs(rows) <= FLOAT32_MAX  # also False for NaN
        if not good.all():
            row, column = (int(at[0]) for at in np.nonzero(~good))
            self._refuse_score(float(rows[row, column]), band.start + row, column)
        return rows

    def _refuse_score(self, value: float, row: int, column: int) -> NoReturn:
        beyond = "is beyond the range of 32-bit numbers" if math.isfinite(value) else "is no score"
        caption, video = self._query_keys[row], self._video_keys[column]
        place = f"row {row}, column {self._columns[column]}, counted from 0"
        self._refuse(f"{value} {beyond}: caption {shown(caption)}, video {shown(video)} ({place})")

    def _header(self, path: Path) -> tuple[_Header, int]:
        """The checked header and the size of the file."""
        with open_binary(path, self._source) as file:
            start = file.read(8)
            if not start.startswith(MAGIC):
                self._refuse("not a .npy file")
            width = _LENGTH_BYTES.get(start[6:])
            if width is None:
                self._refuse("not a .npy file of version 1, 2 or 3")
            length = int.from_bytes(file.read(width), "little")
            if length > MAX_HEADER_BYTES:
                self._refuse(f"the .npy header has {length:,} bytes, {MAX_HEADER_BYTES:,} allowed")
            text = file.read(length)
            data_start = file.tell()
            size = file.seek(0, 2)
        if len(text) < length:
            self._refuse("the file ends within its header")
        header = self._parsed(text, data_start)
        n_rows, n_columns = header.shape
        expected = data_start + n_rows * n_columns * header.dtype.itemsize
        if size != expected:
            self._refuse(f"the file has {size:,} bytes, its header asks for {expected:,}")
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
            self._refuse(f"scores of type {shown(str(descr))}; float16, 32 or 64 are needed")
        if not isinstance(fortran, bool) or not isinstance(shape, tuple):
            self._refuse("the .npy header cannot be read")
        self._check_shape(shape)
        return _Header(np.dtype(descr), "F" if fortran else "C", shape, data_start)

    def _check_shape(self, shape: tuple[object, ...]) -> None:
        n_queries, n_videos = len(self._query_keys), len(self._video_keys)
        whole = all(type(n) is int for n in shape)  # 3.0 and True would be equal to a number, too
        if whole and shape == (n_queries, n_videos):
            return
        given = " x ".join(str(n)[:20] for n in shape[:8])
        wanted = f"{n_queries} captions x {n_videos} videos"
        if whole and shape == (n_videos, n_queries):
            self._refuse(f"the matrix is {given}, videos x captions: transpose it to {wanted}")
        self._refuse(f"the shape of the matrix is ({given}), the benchmark has {wanted}")

    def _refuse(self, reason: str) -> NoReturn:
        raise InvalidInput(reason, source=self._source)


def best_columns(
    rows: npt.NDArray[np.floating[Any]], k: int
) -> tuple[Int64s, npt.NDArray[np.floating[Any]]]:
    """Columns and scores [n, k] of the k largest of each row, best first, ties further left first.

    `rows` is [n, m] with k <= m. A partition alone would settle ties at the k-th place by whim.
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
