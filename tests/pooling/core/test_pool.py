"""Pools compared with Python's sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooling.core.hashing import lowest
from pooling.core.pair_space import PairSpace
from pooling.core.pool import (
    NOT_RANKED,
    new_codes,
    pair_codes,
    ranks_of_pairs,
    union_codes,
)
from pooling.core.ranked_lists import RankedLists

N_VIDEOS = 7
SPACE = PairSpace(6, N_VIDEOS)


@st.composite
def ranked_lists(draw: st.DrawFn, n_queries: int = 4) -> RankedLists:
    """Draw lists of up to five distinct videos."""
    ranked = np.full((n_queries, 5), -1, dtype=np.int32)
    for row in ranked:
        videos = draw(st.lists(st.integers(0, N_VIDEOS - 1), unique=True, max_size=5))
        row[: len(videos)] = videos
    return RankedLists.of(ranked, N_VIDEOS)


def as_set(lists: RankedLists, depth: int) -> set[int]:
    rows = enumerate(lists.items)
    return {q * N_VIDEOS + int(v) for q, row in rows for v in row[:depth] if v >= 0}


@given(st.lists(ranked_lists(), min_size=1, max_size=4), st.integers(1, 6))
def test_union_equals_that_of_sets(runs: list[RankedLists], depth: int) -> None:
    codes = union_codes([pair_codes(ranked, depth) for ranked in runs])

    assert codes.tolist() == sorted(set().union(*(as_set(ranked, depth) for ranked in runs)))


@given(st.lists(ranked_lists(), min_size=1, max_size=4), st.integers(1, 6))
def test_pool_built_run_by_run_equals_pool_of_all_runs(runs: list[RankedLists], depth: int) -> None:
    pool = union_codes([])
    for ranked in runs:
        codes = pair_codes(ranked, depth)
        fresh = new_codes(codes, pool)
        assert set(fresh.tolist()) == set(codes.tolist()) - set(pool.tolist())
        pool = union_codes([pool, fresh])

    at_once = union_codes([pair_codes(ranked, depth) for ranked in runs])
    assert pool.tolist() == at_once.tolist()


def test_rows_can_be_a_selection_of_captions() -> None:
    ranked = np.array([[0, 6], [3, -1]], dtype=np.int32)
    codes = pair_codes(RankedLists.of(ranked, N_VIDEOS, queries=np.array([2, 5])), 2)

    assert codes.tolist() == [14, 20, 38]
    queries, videos = SPACE.decode(codes)
    assert (queries.tolist(), videos.tolist()) == ([2, 2, 5], [0, 6, 3])


def test_codes_do_not_overflow_32_bits() -> None:
    ranked = np.array([[99_999]], dtype=np.int32)
    lists = RankedLists.of(ranked, 100_000, queries=np.array([99_999]))
    assert pair_codes(lists, 1).tolist() == [9_999_999_999]


def test_samples_are_pinned_and_nested() -> None:
    def sample(size: int, seed: int) -> list[int]:
        return np.flatnonzero(lowest(np.arange(20), size, seed)).tolist()

    assert sample(5, seed=1) == [4, 8, 10, 14, 15]
    assert sample(6, seed=1) == [3, 4, 8, 10, 14, 15]
    assert sample(5, seed=2) == [4, 8, 15, 16, 19]


def test_ranks_of_pairs_in_small_lists() -> None:
    ranked = RankedLists.of(np.array([[2, 0, -1], [1, 2, 0]]), 3)
    codes = np.array([0, 1, 2, 3, 4, 5])
    assert ranks_of_pairs(ranked, codes).tolist() == [1, NOT_RANKED, 0, 2, 0, 1]
    nothing = RankedLists.of(np.full((2, 3), -1), 3)
    assert ranks_of_pairs(nothing, codes).tolist() == [NOT_RANKED] * 6
