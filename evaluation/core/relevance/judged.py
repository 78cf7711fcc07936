"""What is known about the relevance of query-video pairs, as sorted arrays.

A pair is one whole number, its code (`pooling.core.pair_space.PairSpace`). Sorted codes
group the pairs by query, need no look-up table, and merge in one pass.

The ranked lists of a run are a plain integer array `ranked` of shape [n_queries, depth]: video
numbers, best first, padded with -1 at the end. A query missing from the run is a row of -1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, GainArray, IntArray, whole_numbers
from pooling.core.pair_space import PairSpace

UNJUDGED: Final = -1
"""Stands for "nobody judged this pair" in the answer of `look_up_gains`, never in `Judged`."""

MAX_GAIN: Final = 127

# The look-up table of a block of queries stays within a core's own cache: on the MSVD test split
# that is seven times as fast as one table for all queries, and the table never grows beyond this
# or a single row of videos.
_TABLE_CELLS: Final = 1 << 20

# For the same reason lists are checked by the block.
_CHECKED_ROWS: Final = 1 << 13


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The judged pairs of one benchmark; a pair that is not here is unjudged.

    codes: int64 [J], strictly ascending codes of pairs in `space`.
    gains: int8 [J], 0 = judged not relevant, 1 and more = relevant (the grade).

    Raises ValueError where the arrays contradict each other or the bounds.
    """

    codes: IntArray
    gains: GainArray
    n_queries: int
    n_videos: int

    def __post_init__(self) -> None:
        if self.n_queries < 0 or self.n_videos < 0:
            raise ValueError("n_queries and n_videos must not be negative")
        if self.codes.dtype != np.int64 or self.gains.dtype != np.int8:
            raise ValueError("codes must be int64 and gains int8")
        if self.codes.ndim != 1 or self.codes.shape != self.gains.shape:
            raise ValueError("codes and gains must be one-dimensional and of the same length")
        if self.codes.size == 0:
            return
        if np.any(self.codes[1:] <= self.codes[:-1]):
            raise ValueError("codes must be strictly ascending")
        if self.codes[0] < 0 or int(self.codes[-1]) >= self.space.n_pairs:
            raise ValueError("a code is outside of the benchmark's queries and videos")
        if self.gains.min() < 0:
            raise ValueError("a gain is negative")

    @classmethod
    def from_pairs(
        cls,
        queries: npt.ArrayLike,
        videos: npt.ArrayLike,
        gains: npt.ArrayLike,
        *,
        n_queries: int,
        n_videos: int,
    ) -> Judged:
        """Build from three parallel sequences of whole numbers, in any order.

        Raises ValueError for a number out of bounds (gains: 0 to 127) and for a pair given twice.
        """
        query = whole_numbers(queries, "queries", n_queries - 1)
        video = whole_numbers(videos, "videos", n_videos - 1)
        gain = whole_numbers(gains, "gains", MAX_GAIN)
        if not len(query) == len(video) == len(gain):
            raise ValueError("queries, videos and gains must be of the same length")
        space = PairSpace(n_queries, n_videos)
        codes = space.encode(query, video)
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        twice = np.flatnonzero(codes[1:] == codes[:-1])
        if twice.size:
            number, other = space.decode(int(codes[twice[0]]))
            raise ValueError(f"query {number} and video {other} are given twice")
        return cls(codes, gain[order].astype(np.int8), n_queries, n_videos)

    def nothing(self) -> Judged:
        """Of the same benchmark, nothing judged."""
        return Judged(self.codes[:0], self.gains[:0], self.n_queries, self.n_videos)

    @property
    def space(self) -> PairSpace:
        return PairSpace(self.n_queries, self.n_videos)

    @property
    def highest_gain(self) -> int:
        return int(self.gains.max(initial=0))

    def rows_of(self, start: int, stop: int) -> slice:
        """Where in `codes` and `gains` the pairs of the queries `start` to `stop - 1` stand."""
        edges = self.space.encode(np.array([start, stop]), 0)
        return slice(*np.searchsorted(self.codes, edges).tolist())

    def positives(self, start: int = 0, stop: int | None = None) -> tuple[IntArray, GainArray]:
        """Codes and gains of the pairs with a gain of 1 and more, ascending by code.

        Of all queries, or of the queries `start` to `stop - 1`.
        """
        rows = self.rows_of(start, self.n_queries if stop is None else stop)
        gains = self.gains[rows]
        kept = np.flatnonzero(gains >= 1)
        return self.codes[rows][kept], gains[kept]

    def count_per_query(self, kept: BoolArray) -> IntArray:
        """Number of kept pairs (flags [J]) of each query, int64 [n_queries]."""
        query = self.space.queries(self.codes[kept])
        return np.bincount(query, minlength=self.n_queries)


def with_positives(judged: Judged, original: Judged) -> Judged:
    """Join label sets; where both have a pair, the higher gain counts.

    This is the convention of the FIRE study for the positives that came with the captioning
    dataset: they count as judged and as positive even where people judged them not relevant.
    Raises ValueError if the two belong to benchmarks of different size.
    """
    if (judged.n_queries, judged.n_videos) != (original.n_queries, original.n_videos):
        raise ValueError("the label sets belong to benchmarks of different size")
    # The second is put into the first, which mostly is many times as long.
    place = np.searchsorted(judged.codes, original.codes)
    new = place == len(judged.codes)
    new[~new] = judged.codes[place[~new]] != original.codes[~new]
    both, old_gains = place[~new], judged.gains.copy()
    old_gains[both] = np.maximum(old_gains[both], original.gains[~new])
    # Where each new pair comes to stand: after those it was put before, and the new ones so far.
    place = place[new] + np.arange(np.count_nonzero(new))
    is_old = np.ones(len(judged.codes) + len(place), dtype=np.bool_)
    is_old[place] = False
    codes, gains = np.empty(len(is_old), np.int64), np.empty(len(is_old), np.int8)
    codes[is_old], gains[is_old] = judged.codes, old_gains
    codes[place], gains[place] = original.codes[new], original.gains[new]
    return Judged(codes, gains, judged.n_queries, judged.n_videos)


def check_ranked(ranked: npt.NDArray[Any], judged: Judged) -> None:
    """Raise ValueError unless `ranked` is a run of the benchmark that `judged` belongs to.

    Shape [n_queries, depth], whole numbers from -1 to n_videos - 1, padding only at the end of a
    row, no video twice in a row (a positive found twice would lift a score above one).
    """
    if ranked.ndim != 2 or not np.issubdtype(ranked.dtype, np.signedinteger):
        raise ValueError("ranked must be a two-dimensional array of signed whole numbers")
    if ranked.shape[0] != judged.n_queries:
        raise ValueError(f"ranked has {ranked.shape[0]} rows for {judged.n_queries} queries")
    if ranked.size == 0:
        return
    for start in range(0, len(ranked), _CHECKED_ROWS):
        _check_rows(ranked[start : start + _CHECKED_ROWS], judged.n_videos, start)


def _check_rows(ranked: npt.NDArray[Any], n_videos: int, first_query: int) -> None:
    if ranked.min() < -1 or ranked.max() >= n_videos:
        raise ValueError(f"ranked holds a video number outside of -1 to {n_videos - 1}")
    if np.any(_in_neighbours(ranked, lambda before, after: (before < 0) & (after >= 0))):
        raise ValueError("ranked has padding before a video")
    ordered = np.sort(ranked, axis=1)
    twice = _in_neighbours(ordered, lambda before, after: (before == after) & (after >= 0))
    if np.any(twice):
        query = first_query + int(np.argmax(twice)) // ranked.shape[1]
        raise ValueError(f"query {query} has a video twice in its ranked list")


def _in_neighbours(
    ranked: npt.NDArray[Any],
    holds: Callable[[npt.NDArray[Any], npt.NDArray[Any]], BoolArray],
) -> BoolArray:
    """Where `holds` is true of a cell and the next one in its row, for all cells but the last.

    One long comparison with the row ends taken out: numpy pays per row, and rows are short.
    """
    flat = ranked.reshape(-1)
    flags = holds(flat[:-1], flat[1:])
    flags[ranked.shape[1] - 1 :: ranked.shape[1]] = False
    return flags


def look_up_gains(ranked: npt.NDArray[Any], judged: Judged, first_query: int = 0) -> GainArray:
    """Gain of every ranked video: int8 like `ranked`, UNJUDGED where nobody judged it.

    Row i belongs to the query `first_query + i`. Padding is UNJUDGED, too. `ranked` must have
    passed `check_ranked`.

    Block by block of queries the judged pairs are scattered into a small dense table, the ranked
    videos read from it, and the same cells wiped again. So the time grows with the judged pairs and
    with n_queries * depth; more videos only make the blocks shorter. A binary search of every
    ranked pair takes several times as long, and comparing each positive with its query's list does
    not tell what was judged.
    """
    gains = np.full(ranked.shape, UNJUDGED, dtype=np.int8)
    if ranked.size == 0 or judged.codes.size == 0:
        return gains
    (n_rows, depth), space = ranked.shape, judged.space
    block = min(n_rows, max(1, _TABLE_CELLS // space.n_videos))
    cell_space = PairSpace(block, space.n_videos)
    table = np.full(cell_space.n_pairs, UNJUDGED, dtype=np.int8)
    row_starts = np.repeat(cell_space.encode(np.arange(block), 0), depth)
    for row in range(0, n_rows, block):
        part = ranked[row : row + block]
        query = first_query + row
        known = judged.rows_of(query, query + len(part))
        cells = judged.codes[known] - space.encode(query, 0)
        table[cells] = judged.gains[known]
        # Padding (-1) reads a cell of the row before; it is put right below.
        found = table[part.reshape(-1) + row_starts[: part.size]]
        gains[row : row + block] = found.reshape(-1, depth)
        table[cells] = UNJUDGED
    gains[ranked < 0] = UNJUDGED
    return gains


def gains_of(codes: IntArray, judged: Judged) -> IntArray:
    """Return the gain of each pair of `codes`, int64 [n]; UNJUDGED if it is unjudged."""
    if not len(judged.codes):
        return np.full(len(codes), UNJUDGED, np.int64)
    place = np.minimum(np.searchsorted(judged.codes, codes), len(judged.codes) - 1)
    found = judged.gains[place].astype(np.int64)
    return np.where(judged.codes[place] == codes, found, UNJUDGED)
