"""Runs as a `.npy` similarity matrix: captions x videos, both in the order of their numbers.

One matrix contains a run of each direction: its rows rank videos, and its columns rank captions.
"""

from __future__ import annotations

import ast
import hashlib
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Int32s, Int64s
from pooling.core.direction import Direction
from pooling.core.keys import shown
from pooling.core.lines import Progress, SourceFile, open_binary, sha256_of_file
from pooling.core.ordering import RunData
from pooling.core.readers.registry import Fit
from pooling.core.readers.runs import RunOf, RunReader
from pooling.core.readers.runs.trec import FLOAT32_MAX

MAGIC = b"\x93NUMPY"
DEFAULT_DEPTH = 100
MAX_HEADER_BYTES = 10_000
# The number of scores in a band of rows. A band takes 8 to 16 MiB, and several times as much while
# it is sorted.
BAND_SCORES = 1 << 21

# The number of bytes that contain the length of the header, by version.
_LENGTH_BYTES = {b"\x01\0": 2, b"\x02\0": 4, b"\x03\0": 4}
_DTYPES = frozenset(order + kind + size for order in "<>" for kind in "fiu" for size in "248") | {
    "|i1",
    "|u1",
}
_MASK_DTYPES = _DTYPES | {"|b1"}
_ROWS = Direction.TEXT_TO_VIDEO

# A matrix is probably in another order if its C@10 by original positives is below this number of
# times that of a random order. With few videos, this is too much to expect of a system.
ORDER_DEPTH = 10
CHANCE_TIMES, CHANCE_MAX = 3, 0.5
TRANSPOSED_TIMES = 2


@dataclass(frozen=True, slots=True)
class _Header:
    dtype: np.dtype[Any]
    order: Literal["C", "F"]
    shape: tuple[int, ...]
    data_start: int


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """A mapped file, as rows and columns, and where they are; None if all are in order of number.

    n_padded: the number of rows for each video in a file that is padded, otherwise 0. phrasing: the
    part of a file with phrasings; None if it has none.
    """

    values: npt.NDArray[Any]
    rows: Int64s | None = None
    columns: Int64s | None = None
    n_padded: int = 0
    phrasing: int | None = None

    def facing(self, direction: Direction) -> _Grid:
        """Return the grid with a row for each row of a run of this direction."""
        if direction is Direction.TEXT_TO_VIDEO:
            return self
        return _Grid(self.values.T, self.columns, self.rows, self.n_padded, self.phrasing)

    def band(self, band: slice) -> npt.NDArray[np.floating[Any]]:
        """Return rows as native float32 or float64, their columns in the order of the numbers."""
        kind, size = self.values.dtype.kind, self.values.dtype.itemsize
        is_wide = size == 8 or (kind != "f" and size == 4)  # float32 holds integers to 2^24
        rows = self.values[band] if self.rows is None else self.values[self.rows[band]]
        rows = rows if self.columns is None else rows[:, self.columns]
        return np.ascontiguousarray(rows, "f8" if is_wide else "f4")


class MatrixReader:
    """A reader of .npy matrices for the keys of a benchmark. It reads a band of rows at a time.

    This code parses the header itself, because numpy would also load pickles and archives, and
    would allocate any shape that a header claims. It accepts floats and integers of either byte
    order, in C order and in Fortran order, which `np.save(path, matrix.T)` writes.

    The shape is captions x videos, videos x captions x videos, or phrasings x captions x videos. In
    the second, the captions are grouped by their video, and -inf fills the rows of videos with
    fewer captions than others. The code of FIRE writes it for MSVD. In the third, phrasing 0 is the
    caption itself, and rows of -inf stand for phrasings that a caption does not have.

    Without `RunOf.places`, captions and videos are in the order of their numbers. In a file with
    three dimensions, rows are counted without those of -inf.
    """

    def __init__(self, of: RunOf, source: str) -> None:
        self._query_keys = sorted(of.query_numbers, key=of.query_numbers.__getitem__)
        self._video_keys = sorted(of.video_numbers, key=of.video_numbers.__getitem__)
        self._source = source
        self._places = of.places
        self._original = of.original or {}
        self._of = of

    def read(self, path: Path, progress: Progress | None) -> RunData:
        """Return the best videos of every caption, or captions of every video.

        Raises `InvalidInput` if the header is invalid, if the shape is not one of those above, if
        the file size does not fit the shape, or if a score is NaN or infinite.
        """
        direction, whole = self._of.direction, self._of.whole
        header, size = self.header(path)
        values: npt.NDArray[Any] = np.memmap(
            path, header.dtype, "r", header.data_start, header.shape, header.order
        )
        phrased = self._is_phrased(header.shape)
        grid = self._grid(values[0] if phrased else values, 0 if phrased else None)
        grid = grid.facing(direction)
        keys = (self._query_keys, self._video_keys)
        keys = keys if direction is _ROWS else keys[::-1]
        n_rows, n_items = map(len, keys)
        # Items are first sorted by key, because `best_columns` prefers the left one of equal
        # scores.
        by_key = np.array(sorted(range(n_items), key=keys[1].__getitem__), dtype=np.int64)
        width = min(self._of.depth or DEFAULT_DEPTH, n_items)
        items = np.empty((n_rows, width), dtype=np.int32)
        scores = np.empty((n_rows, width), dtype=np.float32)
        for band in _bands(n_rows, n_items):
            rows = grid.band(band)
            self._check_scores(rows, band, grid, direction)
            columns, best = best_columns(rows[:, by_key], n_items if whole else width)
            items[band], scores[band] = by_key[columns[:, :width]], best[:, :width]
            if whole:
                whole.write(band, rows, by_key[columns])
            if progress:
                progress(size * band.stop // n_rows, size)
        found = RunData(
            query_numbers=np.arange(n_rows, dtype=np.int32),
            offsets=np.arange(n_rows + 1, dtype=np.int64) * width,
            videos=items.ravel(),
            scores=scores.ravel(),
            depth=width,
            sha256=self._sha256(path),
            format="npy",
            warnings=(
                *(whole.warnings if whole else ()),
                *self._order_warnings(grid, items, n_items, direction),
            ),
            direction=direction,
        )
        return self._with_phrasings(found, values) if phrased and direction is _ROWS else found

    def _is_phrased(self, shape: tuple[Any, ...]) -> bool:
        """Return whether the shape is phrasings x captions x videos, with further phrasings."""
        own = (len(self._query_keys), len(self._video_keys))
        return len(shape) == 3 and shape[1:] == own and shape[0] > 1

    def _with_phrasings(self, data: RunData, values: npt.NDArray[Any]) -> RunData:
        """Return the lists with those of the further phrasings, by the numbers of `RunOf.further`.

        values: [phrasings, captions, videos].
        """
        by_key = np.array(
            sorted(range(values.shape[2]), key=self._video_keys.__getitem__), dtype=np.int64
        )
        parts = [(data.query_numbers, data.videos, data.scores)]
        for phrasing in range(1, len(values)):
            grid = self._grid(values[phrasing], phrasing)
            names = [f"{key}#{phrasing}" for key in self._query_keys]
            numbers = np.array([self._of.further.get(name, -1) for name in names], np.int32)
            for band in _bands(*values.shape[1:]):
                rows = grid.band(band)
                is_missing = np.all(rows == -np.inf, axis=1)
                rows = np.where(is_missing[:, None], 0, rows)
                self._check_scores(rows, band, grid, _ROWS)
                kept = np.flatnonzero(~is_missing)
                for row in kept[numbers[band][kept] < 0][:1].tolist():
                    self._refuse(
                        f"caption {shown(self._query_keys[band.start + row])} has no stored "
                        f"phrasing {phrasing}; import the phrasings first, or fill its row of "
                        f"part {phrasing} with -inf"
                    )
                columns, best = best_columns(rows[kept][:, by_key], data.depth)
                videos = by_key[columns].astype(np.int32)
                parts.append((numbers[band][kept], videos.ravel(), best.astype(np.float32).ravel()))
        queries, videos, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(queries)
        return replace(
            data,
            query_numbers=queries[order],
            offsets=np.arange(len(queries) + 1, dtype=np.int64) * data.depth,
            videos=videos.reshape(-1, data.depth)[order].ravel(),
            scores=scores.reshape(-1, data.depth)[order].ravel(),
        )

    def _sha256(self, path: Path) -> str:
        """Return the hash of the file, and of the order if it is not that of the numbers."""
        content = sha256_of_file(path, self._source)
        if self._places is None or all(
            np.array_equal(places, np.arange(len(places))) for places in self._places
        ):
            return content
        digest = hashlib.sha256(content.encode())
        for places in self._places:
            digest.update(places.astype("<i8").tobytes())
        return digest.hexdigest()

    def _grid(self, values: npt.NDArray[Any], phrasing: int | None = None) -> _Grid:
        rows, columns = self._places or (None, None)
        if values.ndim == 2:
            return _Grid(values, rows, columns, phrasing=phrasing)
        n_videos, n_padded, _ = values.shape
        filled = values[:, :, 0] != -np.inf  # a row of -inf fills the place of a caption
        places = np.flatnonzero(filled)
        if rows is None:
            rows = self._rows_by_video(filled.sum(axis=1))
        elif len(places) != len(rows):
            self._refuse(
                f"{len(places):,} rows are not -inf, but the benchmark has {len(rows):,} captions"
            )
        return _Grid(values.reshape(n_videos * n_padded, n_videos), places[rows], columns, n_padded)

    def _rows_by_video(self, found: Int64s) -> Int64s:
        """Return the row of each caption if captions are grouped by their video; int64 [n].

        Rows are counted without those of -inf. found: the number of these rows for each video.
        """
        several = [q for q, videos in self._original.items() if len(videos) != 1]
        if several or len(self._original) != len(self._query_keys):
            self._refuse(
                "a matrix of videos x captions x videos needs exactly one original positive for "
                "each caption, or a file of keys"
            )
        videos = np.array([next(iter(self._original[q])) for q in range(len(self._query_keys))])
        stored = np.bincount(videos, minlength=len(self._video_keys))
        if len(other := np.flatnonzero(stored != found)):
            at = int(other[0])
            self._refuse(
                f"video {shown(self._video_keys[at])} has {found[at]:,} rows that are not -inf, "
                f"but the benchmark has {stored[at]:,} captions of it"
            )
        rows = np.empty(len(videos), np.int64)
        rows[np.argsort(videos, kind="stable")] = np.arange(len(videos))
        return rows

    def _check_scores(
        self, rows: npt.NDArray[Any], band: slice, grid: _Grid, direction: Direction
    ) -> None:
        """Raise `InvalidInput` if a score is not finite or is beyond float32."""
        is_valid = np.abs(rows) <= FLOAT32_MAX  # False for NaN as well
        if is_valid.all():
            return
        row, column = (int(at[0]) for at in np.nonzero(~is_valid))
        value = float(rows[row, column])
        row += band.start
        place = tuple(
            number if places is None else int(places[number])
            for number, places in ((row, grid.rows), (column, grid.columns))
        )
        if direction is not _ROWS:
            row, column, place = column, row, place[::-1]
        beyond = (
            "is beyond the range of 32-bit numbers" if math.isfinite(value) else "is not a score"
        )
        caption, video = shown(self._query_keys[row]), shown(self._video_keys[column])
        where = f"row {place[0]}, column {place[1]}"
        if grid.n_padded:
            where = f"[{place[0] // grid.n_padded}, {place[0] % grid.n_padded}, {place[1]}]"
        if grid.phrasing is not None:
            where = f"[{grid.phrasing}, {place[0]}, {place[1]}]"
        self._refuse(
            f"{value} {beyond}: caption {caption}, video {video} ({where}, counted from 0)"
        )

    def _order_warnings(
        self, grid: _Grid, items: Int32s, n_items: int, direction: Direction
    ) -> list[str]:
        """Return a warning if the matrix is probably in another order than the benchmark.

        items: the best items of each row, int32 [n_rows, width].
        """
        positives = _by_row(self._original, direction)
        if not positives:
            return []
        k = min(ORDER_DEPTH, items.shape[1])
        best = items[:, :k].tolist()
        correct = np.mean([not found.isdisjoint(best[row]) for row, found in positives.items()])
        # In a random order, a row has each of its positives in the top k with the chance k / n.
        chance = np.mean([min(1, k * len(found) / n_items) for found in positives.values()])
        if grid.rows is None and len(items) == n_items:
            transposed = _correct_of_transposed(grid, positives, k)
            if transposed >= TRANSPOSED_TIMES * max(correct, chance):
                return [
                    f"C@{k} by original positives is {100 * correct:.1f} %, but that of the "
                    f"transposed matrix is {100 * transposed:.1f} %; rows must be captions, and "
                    "columns videos"
                ]
        if correct < CHANCE_TIMES * chance <= CHANCE_MAX:
            return [
                f"C@{k} by original positives is {100 * correct:.1f} %, and a random order has "
                f"{100 * chance:.1f} %; if the captions or videos are in another order than in the "
                "benchmark, import the matrix with a file of their keys"
            ]
        return []

    def header(self, path: Path, *, any_shape: bool = False) -> tuple[_Header, int]:
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
        header = self._parsed(text, data_start, any_shape=any_shape)
        expected = data_start + math.prod(header.shape) * header.dtype.itemsize
        if size != expected:
            self._refuse(f"the file has {size:,} bytes, but its header requires {expected:,}")
        return header, size

    def _parsed(self, text: bytes, data_start: int, *, any_shape: bool) -> _Header:
        try:
            fields = ast.literal_eval(text.decode("latin-1").strip())
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            fields = None
        if not isinstance(fields, dict) or fields.keys() != {"descr", "fortran_order", "shape"}:
            self._refuse("the .npy header cannot be read")
        descr, fortran, shape = fields["descr"], fields["fortran_order"], fields["shape"]
        if not isinstance(descr, str) or descr not in (_MASK_DTYPES if any_shape else _DTYPES):
            self._refuse(
                f"the scores have the type {shown(str(descr))}; use float16, float32, float64 or "
                "integers"
            )
        if not isinstance(fortran, bool) or not isinstance(shape, tuple):
            self._refuse("the .npy header cannot be read")
        if any_shape:
            if not shape or not all(type(n) is int and n > 0 for n in shape):
                self._refuse("the array is empty")
        else:
            self._check_shape(shape)
        if len(shape) == 3 and fortran and not any_shape:
            self._refuse("a matrix with three dimensions must be in C order")
        return _Header(np.dtype(descr), "F" if fortran else "C", shape, data_start)

    def _check_shape(self, shape: tuple[object, ...]) -> None:
        n_videos = len(self._video_keys)
        is_padded = len(shape) == 3 and all(type(n) is int and n > 0 for n in shape)
        if is_padded and (shape[0] == shape[2] == n_videos or self._is_phrased(shape)):
            return
        if reason := wrong_shape(shape, (len(self._query_keys), n_videos)):
            self._refuse(reason)

    def _refuse(self, reason: str) -> NoReturn:
        raise InvalidInput(reason, source=self._source)


def checked_array(file: SourceFile) -> npt.NDArray[Any]:
    """Map a .npy file of numbers. Raises `InvalidInput` if it is none, or has objects."""
    reader = MatrixReader(RunOf(query_numbers={}, video_numbers={}), file.source)
    header, _ = reader.header(file.path, any_shape=True)
    return np.memmap(file.path, header.dtype, "r", header.data_start, header.shape, header.order)


def _bands(n_rows: int, n_items: int) -> Iterator[slice]:
    step = max(1, BAND_SCORES // n_items)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _by_row(
    original: Mapping[int, Collection[int]], direction: Direction
) -> dict[int, frozenset[int]]:
    """Return the original positives of each row of a run: its items, by number."""
    pairs = [(query, video) for query, videos in original.items() for video in videos]
    if direction is not _ROWS:
        pairs = [(video, query) for query, video in pairs]
    found: dict[int, set[int]] = {}
    for row, item in pairs:
        found.setdefault(row, set()).add(item)
    return {row: frozenset(items) for row, items in found.items()}


def _correct_of_transposed(grid: _Grid, positives: Mapping[int, Collection[int]], k: int) -> float:
    """Return C@k by original positives of the transpose of a square matrix.

    Its row r has the values of column r. The best of its positives is in the top k if at most k
    values of the column, with its own, are as great.
    """
    n_rows = len(grid.values)
    rows = np.array(sorted(positives))
    best = np.array([grid.values[sorted(positives[row]), row].max() for row in rows.tolist()])
    as_great = np.zeros(len(rows), np.int64)
    for band in _bands(n_rows, n_rows):
        as_great += np.count_nonzero(grid.values[band][:, rows] >= best, axis=0)
    return float(np.mean(as_great <= k))


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


READER: Final = RunReader(
    name="npy",
    title="NumPy matrix (.npy)",
    place=3,
    about="A similarity matrix (float16, float32, float64 or integers) with a row for each caption "
    "and a column for each video, in the order of the benchmark or with a file of their keys. In a "
    "matrix of videos × captions × videos, rows of −inf stand for captions that a video does not "
    "have. In a matrix of phrasings × captions × videos, part 0 is that of the captions, and rows "
    "of −inf stand for phrasings that a caption does not have. A matrix contains a run of each "
    "direction. The whole matrix is kept for measures that read all ranks.",
    fits=lambda head: Fit.SURE if head.start.startswith(MAGIC) else Fit.NO,
    read=lambda file, of: MatrixReader(of, file.source).read(file.path, file.progress),
    needs_original=True,
    is_matrix=True,
)
