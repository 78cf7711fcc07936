"""Judged query-video pairs and their relevance, as sorted arrays.

A pair is one integer, its code (`pooling.core.pair_space.PairSpace`). Sorted codes group the pairs
by query, need no lookup table, and merge in one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, GainArray, IntArray, whole_numbers
from pooling.core.direction import Direction
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists

UNJUDGED: Final = -1
"""The gain that `look_up_gains` and `gains_of` return for an unjudged pair.

No pair in `Judged` has this gain.
"""

MAX_GAIN: Final = 127

# The lookup table of a block of queries fits into the cache of a processor core. On the MSVD test
# split this is seven times as fast as one table for all queries. The table has at most this number
# of cells, or one row of videos if that is larger.
_TABLE_CELLS: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The judged pairs of one benchmark. All other pairs are unjudged.

    codes: int64 [J], strictly ascending, pair codes in `space`.
    gains: int8 [J], 0 = judged not relevant, 1 or more = relevant (the grade).

    Raises ValueError if the arrays differ in length, have another type, or are out of bounds.
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
        """Build judged pairs from three parallel sequences of integers [J], in any order.

        Raises ValueError if a number is out of bounds (gains: 0 to 127) or a pair occurs twice.
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
            raise ValueError(f"query {number} and video {other} occur twice")
        return cls(codes, gain[order].astype(np.int8), n_queries, n_videos)

    def facing(self, direction: Direction) -> Judged:
        """Return the judged pairs as seen in a direction.

        `self` must have the direction from text to video. In the result for the direction from
        video to text, the rows are videos and the items are captions: `n_queries` is then the
        number of videos, and `n_videos` the number of captions.
        """
        if direction is Direction.TEXT_TO_VIDEO:
            return self
        codes = self.space.transpose(self.codes)
        order = np.argsort(codes, kind="stable")
        return Judged(codes[order], self.gains[order], self.n_videos, self.n_queries)

    def empty(self) -> Judged:
        """Return the same benchmark without any judged pair."""
        return self.only(slice(0))

    def only(self, kept: BoolArray | slice) -> Judged:
        """Return some of the judged pairs, from flags [J] or a slice."""
        return Judged(self.codes[kept], self.gains[kept], self.n_queries, self.n_videos)

    @property
    def space(self) -> PairSpace:
        return PairSpace(self.n_queries, self.n_videos)

    @property
    def highest_gain(self) -> int:
        return int(self.gains.max(initial=0))

    def rows_of(self, start: int, stop: int) -> slice:
        """Return the slice of `codes` and `gains` for the queries `start` to `stop - 1`."""
        edges = self.space.encode(np.array([start, stop]), 0)
        return slice(*np.searchsorted(self.codes, edges).tolist())

    def positives(self, start: int = 0, stop: int | None = None) -> tuple[IntArray, GainArray]:
        """Return codes and gains of the pairs with a gain of 1 or more, ascending by code.

        Only pairs of the queries from `start` to `stop - 1` are returned. By default, these are all
        queries.
        """
        rows = self.rows_of(start, self.n_queries if stop is None else stop)
        gains = self.gains[rows]
        positive = np.flatnonzero(gains >= 1)
        return self.codes[rows][positive], gains[positive]

    def count_per_query(self, counted: BoolArray) -> IntArray:
        """Return the number of counted pairs (flags [J]) of each query, int64 [n_queries]."""
        query = self.space.queries(self.codes[counted])
        return np.bincount(query, minlength=self.n_queries)


def with_positives(judged: Judged, original: Judged) -> Judged:
    """Join the judged pairs of two sources. If both contain a pair, the higher gain counts.

    The FIRE study (see `measures`) treats original positives in this way: they count as judged and
    positive even if annotators judged them not relevant. Raises ValueError if the two belong to
    benchmarks of different size.
    """
    if (judged.n_queries, judged.n_videos) != (original.n_queries, original.n_videos):
        raise ValueError("the judged pairs belong to benchmarks of different size")
    # Merge the second set into the first, which is usually many times as long.
    place = np.searchsorted(judged.codes, original.codes)
    new = place == len(judged.codes)
    new[~new] = judged.codes[place[~new]] != original.codes[~new]
    both, old_gains = place[~new], judged.gains.copy()
    old_gains[both] = np.maximum(old_gains[both], original.gains[~new])
    # The index of each new pair in the result: its index in `judged` plus the new pairs before it.
    place = place[new] + np.arange(np.count_nonzero(new))
    is_old = np.ones(len(judged.codes) + len(place), dtype=np.bool_)
    is_old[place] = False
    codes, gains = np.empty(len(is_old), np.int64), np.empty(len(is_old), np.int8)
    codes[is_old], gains[is_old] = judged.codes, old_gains
    codes[place], gains[place] = original.codes[new], original.gains[new]
    return Judged(codes, gains, judged.n_queries, judged.n_videos)


def look_up_gains(lists: RankedLists, judged: Judged) -> GainArray:
    """Return the gain of every ranked video, int8 [n_queries, depth].

    Unjudged videos and padding have the gain UNJUDGED. Raises ValueError unless there is one list
    for each query, with the same videos as `judged`.

    For each block of queries, the function writes the judged pairs into a small dense table, reads
    the ranked videos from it, and clears the same cells. The time is linear in the number of judged
    pairs and in n_queries * depth. More videos only make the blocks shorter. A binary search for
    every ranked pair takes several times as long.
    """
    check_lists(lists, judged)
    gains = np.full(lists.items.shape, UNJUDGED, dtype=np.int8)
    if lists.items.size == 0 or judged.codes.size == 0:
        return gains
    (n_rows, depth), space = lists.items.shape, judged.space
    block = min(n_rows, max(1, _TABLE_CELLS // space.n_videos))
    cell_space = PairSpace(block, space.n_videos)
    table = np.full(cell_space.n_pairs, UNJUDGED, dtype=np.int8)
    row_starts = np.repeat(cell_space.encode(np.arange(block), 0), depth)
    for query in range(0, n_rows, block):
        part = lists.items[query : query + block]
        known = judged.rows_of(query, query + len(part))
        cells = judged.codes[known] - space.encode(query, 0)
        table[cells] = judged.gains[known]
        # Padding (-1) reads a cell of the row before. The last line of the function corrects this.
        values = table[part.reshape(-1) + row_starts[: part.size]]
        gains[query : query + block] = values.reshape(-1, depth)
        table[cells] = UNJUDGED
    if not lists.are_full:
        gains[lists.items < 0] = UNJUDGED
    return gains


def check_lists(lists: RankedLists, judged: Judged) -> None:
    """Raise ValueError unless there is one list for each query, with the videos of `judged`."""
    if lists.queries is not None or len(lists) != judged.n_queries:
        raise ValueError(f"ranked has {len(lists)} rows for {judged.n_queries} queries")
    if lists.n_items != judged.n_videos:
        raise ValueError(f"ranked has {lists.n_items} videos, and the labels {judged.n_videos}")


def gains_of(codes: IntArray, judged: Judged) -> IntArray:
    """Return the gain of each pair in `codes`, int64 [n]. An unjudged pair has UNJUDGED."""
    if not len(judged.codes):
        return np.full(len(codes), UNJUDGED, np.int64)
    place = np.minimum(np.searchsorted(judged.codes, codes), len(judged.codes) - 1)
    gains = judged.gains[place].astype(np.int64)
    return np.where(judged.codes[place] == codes, gains, UNJUDGED)
