"""Condensed lists, and measures that are designed for missing judgments.

In all functions, `labels` are the labels by which runs are scored, including the original
positives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, GainArray
from evaluation.core.pools.extremes import before
from evaluation.core.relevance.judged import Judged, look_up_gains
from evaluation.core.relevance.measures import INFERRED_EPSILON
from pooling.core.ranked_lists import NO_ITEM, RankedLists

# All arrays of a block of this number of queries fit into the cache.
_BLOCK_QUERIES: Final = 1 << 12


def condense(ranked: RankedLists, labels: Judged) -> RankedLists:
    """Return the lists without their unjudged videos.

    Judged videos move up, and the end is padded with -1 (Sakai, Alternatives to Bpref, SIGIR 2007).
    Compare scores of condensed lists only with each other. They favour a system that was not
    pooled, because condensing removes all its unjudged videos, and most of these are not relevant.
    """
    judged = look_up_gains(ranked, labels) >= 0
    query, _ = np.nonzero(judged)
    place = np.cumsum(judged, axis=1)[judged] - 1
    condensed = np.full_like(ranked.items, NO_ITEM)
    condensed[query, place] = ranked.items[judged]
    return RankedLists(condensed, ranked.n_items)


def bpref(ranked: RankedLists, labels: Judged, rel: int = 1) -> FloatArray:
    """Return bpref (binary preference) of each query, float64 [n_queries]; 0 without positives.

    Let a query have R positives and N pairs judged not relevant. For each listed positive, let n be
    the number of videos above it that are judged not relevant. bpref is the sum over the listed
    positives of 1 - min(n, R) / min(N, R), divided by R (Buckley and Voorhees, Retrieval evaluation
    with incomplete information, SIGIR 2004, as in trec_eval). Unjudged videos are ignored.
    """
    relevant = labels.count_per_query(labels.gains >= rel)
    negative = labels.count_per_query(labels.gains < rel)

    def score(rows: slice, gains: GainArray) -> FloatArray:
        limit, most = relevant[rows, None], np.minimum(negative, relevant)[rows, None]
        above = before((gains >= 0) & (gains < rel))
        kept = 1 - np.minimum(above, limit) / np.maximum(most, 1)
        return _sum_where(gains >= rel, kept) / np.maximum(relevant[rows], 1)

    return _by_block(ranked, labels, score)


def inferred_ap(ranked: RankedLists, labels: Judged, pool_depth: int, rel: int = 1) -> FloatArray:
    """Return the inferred average precision of each query, float64 [n_queries].

    It is 0 for a query without positives. The measure assumes that a random part of the pool was
    judged. It estimates the precision at the rank of a positive from the judged videos above it
    (Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM
    2006, as in trec_eval). An unjudged video in the top `pool_depth` of a list counts as pooled. At
    a later rank it counts as not relevant.

    Let a positive be at rank k, and let p, j and r be the numbers of pooled, judged and relevant
    videos above it. With e = 0.00001, its estimated precision is (1 + p (r + e) / (j + 2 e)) / k.
    The sum over the listed positives is divided by the number of all positives.

    Do not use the measure for a system that was not pooled. The unjudged videos of such a system
    are not a random part of the pool.
    """
    relevant, is_item = labels.count_per_query(labels.gains >= rel), ranked.is_item

    def score(rows: slice, gains: GainArray) -> FloatArray:
        hit, judged = gains >= rel, gains >= 0
        rank = np.arange(1, gains.shape[1] + 1)
        pooled = judged | is_item[rows] & (rank <= pool_depth)
        share = (before(hit) + INFERRED_EPSILON) / (before(judged) + 2 * INFERRED_EPSILON)
        precision = (1 + before(pooled) * share) / rank
        return _sum_where(hit, precision) / np.maximum(relevant[rows], 1)

    return _by_block(ranked, labels, score)


def _by_block(
    ranked: RankedLists, labels: Judged, score: Callable[[slice, GainArray], FloatArray]
) -> FloatArray:
    """Apply `score` to the gains [B, depth] of each block of queries: float64 [n_queries]."""
    gains = look_up_gains(ranked, labels)
    values = np.empty(len(ranked), dtype=np.float64)
    for start in range(0, len(ranked), _BLOCK_QUERIES):
        rows = slice(start, start + _BLOCK_QUERIES)
        values[rows] = score(rows, gains[rows])
    return values


def _sum_where(kept: BoolArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.where(kept, values, 0.0).sum(axis=1), dtype=np.float64)
