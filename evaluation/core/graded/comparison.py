"""Figures of relevance matrices: numbers of pairs above thresholds, and correlations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.graded.means import NO_VARIATION, QueryValues
from evaluation.core.graded.rankings import Matrix, blocks, check_shapes

# The bits of -0.0 in half precision.
_NEGATIVE_ZERO: Final = 1 << 15


@dataclass(frozen=True, slots=True)
class PairsAbove:
    """The pairs whose relevance is at least the threshold.

    pairs: number of these pairs. own: number of those that belong together in the data set.
    lonely_queries, lonely_items: numbers of queries and of items that have no such pair except
    those that belong together.
    """

    threshold: float
    pairs: int
    own: int
    lonely_queries: int
    lonely_items: int


def pairs_above(
    relevance: Matrix, own: tuple[IntArray, IntArray], thresholds: Sequence[float]
) -> list[PairsAbove]:
    """Return counts of the pairs whose relevance is at least T, for each threshold T.

    Figure 4 of Wray et al. 2021 shows their mean number per query. relevance: [n_queries, n_items].
    own: the queries and the items of the pairs that belong together.
    """
    # Thresholds are rounded to the type of the matrix. Otherwise a relevance that was stored as 0.8
    # in half precision would be below the threshold 0.8.
    limits = np.asarray(thresholds).astype(relevance.dtype)
    # The highest relevance of each query and of each item, except for pairs that belong together.
    best_of_query = np.full(relevance.shape[0], -1.0)
    best_of_item = np.full(relevance.shape[1], -1.0)
    counts = np.zeros(len(limits), np.int64)
    for block in blocks(relevance.shape):
        rows = np.ascontiguousarray(relevance[block])
        counts += count_at_least(rows, limits)
        mine = (own[0] >= block.start) & (own[0] < block.stop)
        rows = rows.astype(np.float64)  # numpy compares half precision slowly
        rows[own[0][mine] - block.start, own[1][mine]] = -1
        best_of_query[block] = rows.max(axis=1)
        np.maximum(best_of_item, rows.max(axis=0, initial=-1), out=best_of_item)
    of_own = relevance[own] if len(own[0]) else np.empty(0, relevance.dtype)
    return [
        PairsAbove(
            threshold,
            int(count),
            int(np.count_nonzero(of_own >= limit)),
            int(np.count_nonzero(best_of_query < limit)),
            int(np.count_nonzero(best_of_item < limit)),
        )
        for threshold, limit, count in zip(thresholds, limits, counts, strict=True)
    ]


def count_at_least(values: Matrix, limits: Matrix) -> IntArray:
    """Return the number of values that are at least as high as each limit, int64 [n_limits].

    values: an array of any shape, without negative numbers. limits: an array of the same type.
    """
    if values.dtype == np.float16:
        # The bits of positive half-precision numbers ascend as the numbers do.
        bits = np.ascontiguousarray(values).reshape(-1).view(np.uint16)
        counts = np.bincount(bits, minlength=1 << 16)
        counts[0] += counts[_NEGATIVE_ZERO]
        counts[_NEGATIVE_ZERO] = 0
        at_least = np.cumsum(counts[::-1])[::-1]
        return np.asarray(at_least[limits.view(np.uint16)])
    ordered = np.sort(values, axis=None)
    return np.asarray(ordered.size - np.searchsorted(ordered, limits), np.int64)


def correlate(first: Matrix, second: Matrix) -> QueryValues:
    """Return Pearson's correlation of two proxies over the items of each query.

    The source is supplement B of Wray et al. 2021, which reports the mean over the queries. first,
    second: [n_queries, n_items]. A query is left out if one of the proxies has equal values for all
    its items. Raises ValueError if the shapes differ.
    """
    check_shapes(first, second)
    found, defined = [], []
    for block in blocks(first.shape):
        values, is_defined = _correlations(
            first[block].astype(np.float64), second[block].astype(np.float64)
        )
        found.append(values)
        defined.append(is_defined)
    return QueryValues.of(np.concatenate(found), np.concatenate(defined), NO_VARIATION)


def _correlations(first: FloatArray, second: FloatArray) -> tuple[FloatArray, BoolArray]:
    varies = (np.ptp(first, axis=1) > 0) & (np.ptp(second, axis=1) > 0)
    one = first - first.mean(axis=1, keepdims=True)
    other = second - second.mean(axis=1, keepdims=True)
    lengths = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    return (one * other).sum(axis=1) / np.where(varies, lengths, 1), varies
