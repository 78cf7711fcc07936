"""Recall of the own items, and its limits if similar items are equivalent.

Figure 5 of Wray et al. 2021: items whose relevance for a query is above a threshold could also have
been the query's own item. The best and the worst rank among them and the own item give an upper
and a lower limit of recall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.graded.means import NO_OWN, NO_QUERY_LEFT, QueryValues
from evaluation.core.graded.rankings import Matrix, blocks, check_shapes, values_in_order
from evaluation.core.relevance.measure import Score
from hearth.shared.progress import Progress, no_progress
from pooling.core.ranked_lists import RankedLists

CUTOFFS: Final = (1, 5, 10)


@dataclass(frozen=True, slots=True, eq=False)
class Recall:
    """The recall of each query that has an own item, by cutoff: 1 if a rank is within it, else 0.

    The rank is that of the own item, or the best or the worst one of `recall_limits`.
    """

    at: Mapping[int, QueryValues]

    def geometric_mean(self) -> Score:
        """Return the geometric mean of the recalls at all cutoffs."""
        scores = [values.mean() for values in self.at.values()]
        known = [score.value for score in scores if score.value is not None]
        if not known:
            return Score(None, 0, NO_QUERY_LEFT)
        return Score(float(np.prod(known) ** (1 / len(known))), scores[0].n)


@dataclass(frozen=True, slots=True, eq=False)
class RecallLimits:
    """Recall of the own items, and its limits.

    equivalent: mean number of equivalent items of a query, including its own items.
    """

    own: Recall
    lower: Recall
    upper: Recall
    equivalent: Score


def recall_limits(
    relevance: Matrix,
    ranking: RankedLists,
    own: tuple[IntArray, IntArray],
    threshold: float,
    *,
    cutoffs: Sequence[int] = CUTOFFS,
    progress: Progress = no_progress,
) -> RecallLimits:
    """Return the recall of the own items, and its limits with items above `threshold`.

    relevance: [n_queries, n_items]. own: the queries and the items of the pairs that belong
    together. If a query has several own items, the one with the best rank counts. The limits use
    the best and the worst rank among this item and all equivalent items that are not own ones.
    Raises ValueError if the shapes differ, or if a cutoff is beyond the depth of a ranking that
    does not contain all items.
    """
    check_shapes(relevance, ranking)
    if ranking.depth < min(max(cutoffs), relevance.shape[1]):
        raise ValueError(f"the lists have {ranking.depth} ranks, but recall needs {max(cutoffs)}")
    ranks = np.zeros((4, relevance.shape[0]), np.int64)
    for block in blocks(relevance.shape):
        progress(block.start, relevance.shape[0], "scoring")
        ranks[:, block] = _ranks(relevance, ranking, own, threshold, block)
    first, best, worst, count = ranks
    has_own = first > 0
    found = QueryValues.of(count.astype(np.float64), has_own, NO_OWN)
    own_rank, lower, upper = (
        Recall({k: QueryValues.of((r <= k).astype(np.float64), has_own, NO_OWN) for k in cutoffs})
        for r in (first, worst, best)
    )
    return RecallLimits(own_rank, lower, upper, found.mean())


def _ranks(
    relevance: Matrix,
    ranking: RankedLists,
    own: tuple[IntArray, IntArray],
    threshold: float,
    block: slice,
) -> IntArray:
    """Return three ranks and a count for each query of a block, int64 [4, queries].

    The rows are the rank of the first own item, the best and the worst rank among this item and the
    other equivalent items, and the number of equivalent items including all own ones. All are 0 for
    a query without an own item.
    """
    rows = relevance[block]
    queries, items = own
    some = (queries >= block.start) & (queries < block.stop)
    is_own = np.zeros(rows.shape, np.bool_)
    is_own[queries[some] - block.start, items[some]] = True
    # numpy rounds the threshold to the type of the matrix. A relevance that was stored as 0.8 is
    # therefore not above the threshold 0.8.
    is_other = ~is_own & (rows > threshold)
    ranked = ranking.items[block].astype(np.int64)
    first, _ = _first_and_last(is_own, ranked)
    best, worst = _first_and_last(is_other, ranked)
    n_equivalent = np.count_nonzero(is_own | is_other, axis=1)
    found = [first, np.minimum(first, best), np.maximum(first, worst), n_equivalent]
    return np.array(found) * is_own.any(axis=1)


def _first_and_last(is_chosen: BoolArray, ranked: IntArray) -> tuple[IntArray, IntArray]:
    """Return the best and the worst rank of the chosen items, from 1, int64 [queries] each.

    is_chosen: [queries, n_items]. ranked: the items of each query, [queries, depth]. An item that
    the list lacks has the rank n_items + 1. If no item is chosen, the best rank is n_items + 1, and
    the worst is 0.
    """
    found = values_in_order(is_chosen, ranked)
    depth, beyond = found.shape[1], is_chosen.shape[1] + 1
    is_found = found.any(axis=1)
    is_complete = np.count_nonzero(found, axis=1) == np.count_nonzero(is_chosen, axis=1)
    worst = np.where(is_found, depth - found[:, ::-1].argmax(axis=1), 0)
    return (
        np.where(is_found, found.argmax(axis=1) + 1, beyond),
        np.where(is_complete, worst, beyond),
    )
