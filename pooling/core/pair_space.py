"""Pairs of a query and a video as single integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Int64s

Integers: TypeAlias = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class PairSpace:
    """All pairs of `n_queries` queries and `n_videos` videos, each with one integer as its code.

    The code of a pair is `query number * n_videos + video number`. Codes run from 0 to
    `n_pairs - 1`, and ascending codes order the pairs by query and then by video. Arrays of codes
    are int64, because n_pairs can exceed 32 bits. The numbers are not checked against the bounds.
    """

    n_queries: int
    n_videos: int

    @property
    def n_pairs(self) -> int:
        return self.n_queries * self.n_videos

    @overload
    def encode(self, queries: int, videos: int) -> int: ...
    @overload
    def encode(self, queries: Integers, videos: Integers | int) -> Int64s: ...
    @overload
    def encode(self, queries: int, videos: Integers) -> Int64s: ...
    def encode(self, queries: Integers | int, videos: Integers | int) -> Int64s | int:
        """Return the codes of pairs.

        queries, videos: integers of any type, whose shapes broadcast against each other. Returns
        int64 of the common shape, or an int for two ints. The first code of a query is that of its
        video 0, and `encode(n_queries, 0)` is `n_pairs`.
        """
        if isinstance(queries, int) and isinstance(videos, int):
            return queries * self.n_videos + videos
        # The sum is int64 as well, without a copy of `videos`.
        codes: Int64s = np.asarray(queries, dtype=np.int64) * self.n_videos + videos
        return codes

    @overload
    def decode(self, codes: int) -> tuple[int, int]: ...
    @overload
    def decode(self, codes: Int64s) -> tuple[Int64s, Int64s]: ...
    def decode(self, codes: Int64s | int) -> tuple[Int64s, Int64s] | tuple[int, int]:
        """Return the query numbers and the video numbers of codes.

        codes: int64 of any shape. Returns two int64 arrays of that shape, or two ints for an int.
        """
        # np.divmod takes longer than the fast division by a constant and a subtraction.
        queries = self.queries(codes)
        return queries, codes - queries * self.n_videos  # type: ignore[return-value]

    @overload
    def queries(self, codes: int) -> int: ...
    @overload
    def queries(self, codes: Int64s) -> Int64s: ...
    def queries(self, codes: Int64s | int) -> Int64s | int:
        """Return the query numbers of codes, with the shapes and types of `decode`."""
        return codes // max(1, self.n_videos)  # a space without videos has empty arrays of codes

    @overload
    def videos(self, codes: int) -> int: ...
    @overload
    def videos(self, codes: Int64s) -> Int64s: ...
    def videos(self, codes: Int64s | int) -> Int64s | int:
        """Return the video numbers of codes, with the shapes and types of `decode`."""
        return codes % max(1, self.n_videos)

    @property
    def transposed(self) -> PairSpace:
        """The space in which videos retrieve captions: its rows are videos."""
        return PairSpace(n_queries=self.n_videos, n_videos=self.n_queries)

    @overload
    def transpose(self, codes: int) -> int: ...
    @overload
    def transpose(self, codes: Int64s) -> Int64s: ...
    def transpose(self, codes: Int64s | int) -> Int64s | int:
        """Return the codes of the same pairs in the transposed space, in the order of `codes`.

        Ascending codes do not stay ascending. codes: int64 of any shape, or an int.
        """
        queries, videos = self.decode(codes)
        return self.transposed.encode(videos, queries)
