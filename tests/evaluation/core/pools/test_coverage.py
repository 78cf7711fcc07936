"""Judged shares by rank and by depth, and numbers of pairs in pools of each depth."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.pools.coverage import PoolDepth, cover_ranks, judged_shares, pool_depths
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.scoring import score_run
from tests.evaluation.core.lists import lists_of

JUDGED = Judged.from_pairs([0, 0, 1, 1], [0, 2, 0, 3], [1, 0, 0, 2], n_queries=2, n_videos=4)
FIRST = lists_of([[0, 1, 2], [3, -1, -1]], 4)
SECOND = lists_of([[2, 0, 3], [1, 3, 0]], 4)


def test_cover_ranks() -> None:
    coverage = cover_ranks(FIRST, JUDGED)
    assert coverage.filled.tolist() == [2, 1, 1]
    assert coverage.judged.tolist() == [2, 0, 1]
    assert coverage.relevant.tolist() == [2, 0, 0]
    assert coverage.shares.tolist() == [1, 0, 1]


def test_judged_shares_equal_the_measure_at_each_depth() -> None:
    # For query 0, videos 0 and 2 are judged, and video 1 is not. For query 1, the only video is
    # judged.
    assert judged_shares(FIRST, JUDGED).tolist() == pytest.approx([1, 3 / 4, 5 / 6])
    lists = lists_of([[2, 1, 3], [-1, -1, -1]], 4)
    shares = [Measure("Judged", depth) for depth in (1, 2, 3)]
    scores = score_run(lists, JUDGED, shares)
    expected = [scores.mean(share).value for share in shares]
    assert judged_shares(lists, JUDGED).tolist() == pytest.approx(expected)
    nothing = Judged.from_pairs([], [], [], n_queries=0, n_videos=4)
    assert judged_shares(lists_of(np.empty((0, 2)), 4), nothing).tolist() == [0, 0]


def test_pools_of_each_depth() -> None:
    # Best ranks of query 0: videos 0 and 2 at rank 1, video 1 at 2, video 3 at 3. Of query 1:
    # videos 3 and 1 at rank 1, video 0 at 3.
    assert pool_depths({"first": FIRST, "second": SECOND}, JUDGED, 3) == (
        PoolDepth(1, 4, 3, 2),
        PoolDepth(2, 5, 3, 2),
        PoolDepth(3, 7, 4, 2),
    )


def test_pools_without_judgments_or_runs() -> None:
    nothing = Judged.from_pairs([], [], [], n_queries=2, n_videos=4)
    assert pool_depths({"first": FIRST}, nothing, 1) == (PoolDepth(1, 2, 0, 0),)
    assert pool_depths({}, JUDGED, 2) == (PoolDepth(1, 0, 0, 0), PoolDepth(2, 0, 0, 0))
    with pytest.raises(ValueError, match="at least 1"):
        pool_depths({"first": FIRST}, JUDGED, 0)
