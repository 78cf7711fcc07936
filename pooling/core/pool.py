"""Pools as sorted sets of pair codes: `query number * n_videos + video number`, int64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pooling.core.arrays import Int32s, Int64s
from pooling.core.hashing import lowest

NOT_RANKED = int(np.iinfo(np.int32).max)


def pair_codes(ranked: Int32s, depth: int, n_videos: int, queries: Int32s | None = None) -> Int64s:
    """Codes of the pairs in the first `depth` columns, sorted, each once.

    `ranked` int32 [n, d] holds video numbers, -1 where a list has ended. Row i is the caption i, or
    `queries[i]` where `queries` is given.
    """
    top = ranked[:, :depth]
    rows = np.arange(len(ranked)) if queries is None else queries.astype(np.int64)
    codes = rows[:, None] * n_videos + top
    return _sorted_once(codes[top >= 0])


def union_codes(sets: Sequence[Int64s]) -> Int64s:
    """All codes that are in any of the sets, sorted, each once."""
    return _sorted_once(np.concatenate(sets)) if sets else np.empty(0, dtype=np.int64)


def new_codes(codes: Int64s, existing: Int64s) -> Int64s:
    """Those of `codes` that are not in `existing`; both sorted, each code once."""
    if not len(existing):
        return codes
    place = np.minimum(np.searchsorted(existing, codes), len(existing) - 1)
    fresh: Int64s = codes[existing[place] != codes]
    return fresh


def ranks_of_pairs(ranked: Int32s, codes: Int64s, n_videos: int) -> Int32s:
    """int32 [n]: the place from 0 at which a run has each pair, NOT_RANKED where it has not.

    `ranked` int32 [n_queries, depth] as in `pair_codes`; `codes` in any order.
    """
    listed = np.arange(len(ranked))[:, None] * n_videos + ranked
    places = np.broadcast_to(np.arange(ranked.shape[1], dtype=np.int32), ranked.shape)
    there = ranked >= 0
    order = np.argsort(listed[there], kind="stable")
    known, place_of = listed[there][order], places[there][order]
    ranks = np.full(len(codes), NOT_RANKED, dtype=np.int32)
    if len(known):
        at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        found = known[at] == codes
        ranks[found] = place_of[at[found]]
    return ranks


def sample_queries(n_queries: int, size: int, seed: int) -> Int32s:
    """`size` query numbers, ascending, the same for the same seed on every machine and version.

    Samples of one seed are nested: a larger one holds every smaller one.
    """
    return np.flatnonzero(lowest(np.arange(n_queries), size, seed)).astype(np.int32)


def _sorted_once(codes: Int64s) -> Int64s:
    """np.unique by hand: in numpy 2.4 that takes fifty times as long on int64."""
    codes = np.sort(codes)
    first = np.ones(len(codes), dtype=np.bool_)
    np.not_equal(codes[1:], codes[:-1], out=first[1:])
    return codes[first]
