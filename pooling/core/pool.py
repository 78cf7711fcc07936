"""Pools as sorted arrays of pair codes (see `PairSpace`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hearth.shared.arrays import sorted_once
from pooling.core.arrays import Int32s, Int64s
from pooling.core.hashing import lowest
from pooling.core.pair_space import PairSpace

NOT_RANKED = int(np.iinfo(np.int32).max)


def pair_codes(
    ranked: Int32s, depth: int, space: PairSpace, queries: Int32s | None = None
) -> Int64s:
    """Return the sorted codes of the pairs in the first `depth` columns, without repetition.

    `ranked` is int32 [n, d] with video numbers, padded with -1. Row i belongs to the query
    `queries[i]`, or to query i if `queries` is None.
    """
    top = ranked[:, :depth]
    rows = np.arange(len(ranked)) if queries is None else queries
    codes = space.encode(rows[:, None], top)
    return sorted_once(codes[top >= 0])


def union_codes(sets: Sequence[Int64s]) -> Int64s:
    """Return the union of the sets as sorted codes without repetition."""
    return sorted_once(np.concatenate(sets)) if sets else np.empty(0, dtype=np.int64)


def new_codes(codes: Int64s, existing: Int64s) -> Int64s:
    """Return the codes that are not in `existing`. Both are sorted and without repetition."""
    if not len(existing):
        return codes
    place = np.minimum(np.searchsorted(existing, codes), len(existing) - 1)
    fresh: Int64s = codes[existing[place] != codes]
    return fresh


def ranks_of_pairs(
    ranked: Int32s, codes: Int64s, space: PairSpace, queries: Int64s | None = None
) -> Int32s:
    """Return the rank of each pair in a run, int32 [n], from 0.

    The rank of a pair that the run does not contain is NOT_RANKED.

    `ranked` is int32 [n, depth], and `queries` the query of each row, as in `pair_codes`. `codes`
    can be in any order.
    """
    rows = np.arange(len(ranked)) if queries is None else queries
    listed = space.encode(rows[:, None], ranked)
    columns = np.broadcast_to(np.arange(ranked.shape[1], dtype=np.int32), ranked.shape)
    is_video = ranked >= 0
    order = np.argsort(listed[is_video], kind="stable")
    ranked_codes, rank_of = listed[is_video][order], columns[is_video][order]
    ranks = np.full(len(codes), NOT_RANKED, dtype=np.int32)
    if len(ranked_codes):
        at = np.minimum(np.searchsorted(ranked_codes, codes), len(ranked_codes) - 1)
        is_ranked = ranked_codes[at] == codes
        ranks[is_ranked] = rank_of[at[is_ranked]]
    return ranks


def sample_queries(n_queries: int, size: int, seed: int) -> Int32s:
    """Return `size` query numbers, ascending, which depend only on the arguments.

    Samples of one seed are nested: a larger sample contains every smaller one.
    """
    return np.flatnonzero(lowest(np.arange(n_queries), size, seed)).astype(np.int32)
