"""Pools as sorted arrays of pair codes (see `PairSpace`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hearth.shared.arrays import sorted_once
from pooling.core.arrays import Int32s, Int64s
from pooling.core.ranked_lists import RankedLists

NOT_RANKED = int(np.iinfo(np.int32).max)


def pair_codes(lists: RankedLists, depth: int) -> Int64s:
    """Return the sorted codes of the pairs in the top `depth` of lists, without repetition."""
    top = lists.top(depth)
    return sorted_once(top.codes[top.is_item])


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


def ranks_of_pairs(lists: RankedLists, codes: Int64s) -> Int32s:
    """Return the rank of each pair in a run, int32 [n], from 0. `codes` can be in any order.

    The rank of a pair that the run does not contain is NOT_RANKED.
    """
    is_item, listed = lists.is_item, lists.codes
    columns = np.broadcast_to(np.arange(lists.depth, dtype=np.int32), listed.shape)
    order = np.argsort(listed[is_item], kind="stable")
    ranked_codes, rank_of = listed[is_item][order], columns[is_item][order]
    ranks = np.full(len(codes), NOT_RANKED, dtype=np.int32)
    if len(ranked_codes):
        at = np.minimum(np.searchsorted(ranked_codes, codes), len(ranked_codes) - 1)
        is_ranked = ranked_codes[at] == codes
        ranks[is_ranked] = rank_of[at[is_ranked]]
    return ranks
