"""Lists without gaps, and measures made for missing judgments.

`labels` are everywhere those that the scores are computed with, original positives joined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray
from evaluation.core.relevance.judged import Judged, check_ranked, look_up_gains

# trec_eval's INFAP_EPSILON, which keeps the share of relevant pairs defined where none is judged.
_INFERRED_EPSILON: Final = 1e-5

# So many queries at a time keep all arrays in the cache.
_BLOCK_QUERIES: Final = 1 << 12


def condense(ranked: npt.NDArray[Any], labels: Judged) -> npt.NDArray[Any]:
    """The lists without unjudged videos, moved up and padded with -1: shape and type of `ranked`.

    Scores of condensed lists are comparable among themselves only. They favour a system that was
    not pooled: its wrong videos are taken out, of which the pool would have kept some.
    """
    check_ranked(ranked, labels)
    judged = look_up_gains(ranked, labels) >= 0
    query, _ = np.nonzero(judged)
    place = np.cumsum(judged, axis=1)[judged] - 1
    condensed = np.full_like(ranked, -1)
    condensed[query, place] = ranked[judged]
    return condensed


def bpref(ranked: npt.NDArray[Any], labels: Judged, rel: int = 1) -> FloatArray:
    """Binary preference of each query, float64 [n_queries]; 0 without positives.

    With R positives and N pairs judged not relevant: the sum over the positives found of
    1 - min(negatives before it, R) / min(N, R), divided by R (Buckley and Voorhees, Retrieval
    evaluation with incomplete information, SIGIR 2004, as in trec_eval). Unjudged videos have no
    part in it.
    """
    relevant = labels.count_per_query(labels.gains >= rel)
    negative = labels.count_per_query(labels.gains < rel)

    def score(rows: slice, gains: GainArray) -> FloatArray:
        limit, most = relevant[rows, None], np.minimum(negative, relevant)[rows, None]
        before = _count_before((gains >= 0) & (gains < rel))
        kept = 1 - np.minimum(before, limit) / np.maximum(most, 1)
        return _sum_where(gains >= rel, kept) / np.maximum(relevant[rows], 1)

    return _by_block(ranked, labels, score)


def inferred_ap(
    ranked: npt.NDArray[Any], labels: Judged, pool_depth: int, rel: int = 1
) -> FloatArray:
    """Inferred average precision of each query, float64 [n_queries]; 0 without positives.

    For a pool of which a random part was judged (Yilmaz and Aslam, Estimating average precision
    with incomplete and imperfect judgments, CIKM 2006, as in trec_eval): the precision at a
    positive's rank is estimated from the judged videos above it. An unjudged video down to rank
    `pool_depth` counts as pooled; below it, as outside of the pool and not relevant.

    Not for a system that was not pooled: what it found alone is no random part of the pool.
    """
    relevant = labels.count_per_query(labels.gains >= rel)

    def score(rows: slice, gains: GainArray) -> FloatArray:
        hit, judged = gains >= rel, gains >= 0
        rank = np.arange(1, gains.shape[1] + 1)
        pooled = judged | (ranked[rows] >= 0) & (rank <= pool_depth)
        share = (_count_before(hit) + _INFERRED_EPSILON) / (
            _count_before(judged) + 2 * _INFERRED_EPSILON
        )
        precision = (1 + _count_before(pooled) * share) / rank
        return _sum_where(hit, precision) / np.maximum(relevant[rows], 1)

    return _by_block(ranked, labels, score)


def _by_block(
    ranked: npt.NDArray[Any], labels: Judged, score: Callable[[slice, GainArray], FloatArray]
) -> FloatArray:
    """`score` of the gains [B, depth] of each block of queries, float64 [n_queries]."""
    check_ranked(ranked, labels)
    values = np.empty(len(ranked), dtype=np.float64)
    for start in range(0, len(ranked), _BLOCK_QUERIES):
        rows = slice(start, start + _BLOCK_QUERIES)
        values[rows] = score(rows, look_up_gains(ranked[rows], labels, start))
    return values


def _count_before(flags: BoolArray) -> IntArray:
    """How many cells of the row are set before each one, [B, depth]."""
    return np.cumsum(flags, axis=1, dtype=np.int64) - flags


def _sum_where(kept: BoolArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.where(kept, values, 0.0).sum(axis=1), dtype=np.float64)
