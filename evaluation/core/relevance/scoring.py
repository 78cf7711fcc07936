"""The scores of a run under a set of judged pairs. The module `measures` defines the measures.

All measures are computed from the ranks of the positives in the run. These ranks are looked up once
and stored as sparse arrays, so that a measure needs a few sums over the positives instead of a pass
over all lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray
from evaluation.core.relevance.judged import Judged, look_up_gains
from evaluation.core.relevance.measure import NO_QUERIES, Score
from evaluation.core.relevance.measures import Measure, check_labels_suffice
from evaluation.core.relevance.strata import Strata, StratifiedLists, stratify
from pooling.core.ranked_lists import RankedLists

# All arrays of a block of this size fit into the cache. Without blocks, ten times as many queries
# take fourteen times as long. For long lists, the number of cells limits a block, to save memory.
_BLOCK_QUERIES: Final = 1 << 14
_BLOCK_CELLS: Final = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class RunScores:
    """The scores of one run.

    not_retrieved: number of queries whose list contains no positive. It includes queries that have
    no positive at all. values: float64 [n_queries] for each measure.
    """

    n_queries: int
    depth: int
    not_retrieved: int
    values: Mapping[Measure, FloatArray]

    def per_query(self, measure: Measure) -> FloatArray:
        """Return the values of the queries by query number, float64 [n_queries].

        The values are ranks for MedR and MeanR, and shares from 0 to 1 for all other measures.
        Raises ValueError if the measure was not computed.
        """
        try:
            return self.values[measure]
        except KeyError:
            raise ValueError(f"measure {str(measure)!r} was not computed") from None

    def mean(self, measure: Measure) -> Score:
        """Return the mean over all queries. For MedR it is the median, which can be undefined."""
        values = self.per_query(measure)
        if self.n_queries == 0:
            return Score(None, 0, NO_QUERIES)
        return measure.kind.mean(values, self.not_retrieved)


def score_run(
    lists: RankedLists,
    judged: Judged,
    measures: Iterable[Measure],
    rel: int = 1,
    strata: Strata | None = None,
) -> RunScores:
    """Compute `measures` for one run.

    rel: the lowest gain of a positive. nDCG uses all gains, regardless of `rel`. strata: those of
    the pool, which some measures need.

    Raises ValueError if `lists` does not match `judged`, or if `rel` < 1, and InvalidInput if a
    measure needs more than these labels.

    Cost: `look_up_gains` reads each ranked cell and each judged pair once. The time of all later
    steps depends on the number of positives and queries, not on the depth.
    """
    if rel < 1:
        raise ValueError("rel must be at least 1; 0 is the gain of a pair judged not relevant")
    n_queries, depth = len(lists), lists.depth
    gains = look_up_gains(lists, judged)
    lengths = lists.lengths
    distinct = tuple(dict.fromkeys(measures))
    for measure in distinct:
        check_labels_suffice(measure, has_strata=strata is not None)
    labels = (judged.codes, judged.gains)
    sampled = None if strata is None else stratify(lists, strata, gains, labels, rel)
    values = np.empty((len(distinct), n_queries), dtype=np.float64)
    not_retrieved = 0
    cutoffs = {None, *(measure.cutoff for measure in distinct)}
    step = max(1, min(_BLOCK_QUERIES, _BLOCK_CELLS // max(1, depth)))
    for start in range(0, n_queries, step):
        rows = slice(start, start + step)
        found = _gather_statistics(gains[rows], lengths[rows], judged, start, cutoffs, rel)
        if sampled is not None:
            found = replace(found, sampled=sampled.rows(rows))
        not_retrieved += int(np.count_nonzero(found.n_hits[None] == 0))
        for place, measure in enumerate(distinct):
            values[place, rows] = measure.kind.score(found, measure)
    return RunScores(n_queries, depth, not_retrieved, dict(zip(distinct, values, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The H positives in the lists of a block, ordered by query and rank. All arrays are [H].

    query: the row in the block. rank: the rank of the positive, from 1. nth: the number of the
    positive within its list, from 1. gain: the gain of the positive.
    """

    query: IntArray
    rank: IntArray
    nth: IntArray
    gain: GainArray


@dataclass(frozen=True, eq=False)
class ListStatistics:
    """Statistics from which the measures of a block of B queries are computed.

    gains: [B, depth], the gains of the listed videos. lengths: the length of each list, [B].
    hits: the listed pairs with a gain of `rel` or more.
    n_hits: number of positives in the top k of each list, [B], by cutoff; None: in the whole list.
    first_query: queries with a positive in their list, ascending. first_rank: the rank of the first
    positive of each of these queries, from 1.
    n_positives: number of known positives of each query, listed or not, [B].
    graded_hits: the listed pairs with a gain of 1 or more.
    graded_query, graded_gain: [P], the known pairs with a gain of 1 or more. Queries ascend, and
    gains descend within a query. graded_place: [P], the index in the best possible list, from 0.
    sampled: the strata of the listed videos, if the pool has strata.
    """

    gains: GainArray
    lengths: IntArray
    hits: Hits
    n_hits: Mapping[int | None, IntArray]
    first_query: IntArray
    first_rank: IntArray
    n_positives: IntArray
    graded_hits: Hits
    graded_query: IntArray
    graded_gain: GainArray
    graded_place: IntArray
    sampled: StratifiedLists | None = None

    @property
    def n_queries(self) -> int:
        return int(self.gains.shape[0])

    @cached_property
    def _discounts(self) -> FloatArray:
        return np.asarray(np.log2(self.graded_hits.rank + 1))

    @cached_property
    def _best_discounts(self) -> FloatArray:
        return np.asarray(np.log2(self.graded_place + 2))

    def sum_over_hits(self, weight: FloatArray, cutoff: int | None) -> FloatArray:
        """Return the sum of the weights [H] of the positives in the top k, float64 [B]."""
        return _sum_per_query(self.hits.query, weight, _within(self.hits, cutoff), self.n_queries)

    def discounted_gains(
        self, cutoff: int | None, value: Callable[[GainArray], FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the DCG of each list, and that of the best possible list, [B] each."""
        hits = self.graded_hits
        weight = value(hits.gain) / self._discounts
        reached = _sum_per_query(hits.query, weight, _within(hits, cutoff), self.n_queries)
        best_weight = value(self.graded_gain) / self._best_discounts
        kept = None if cutoff is None else self.graded_place < cutoff
        return reached, _sum_per_query(self.graded_query, best_weight, kept, self.n_queries)


def _gather_statistics(
    gains: GainArray,
    lengths: IntArray,
    judged: Judged,
    start: int,
    cutoffs: Iterable[int | None],
    rel: int,
) -> ListStatistics:
    """Return the statistics of a block of lists. start: the number of the first query."""
    n_queries = len(gains)
    graded_hits = _find_hits(gains, 1)
    hits = graded_hits if rel == 1 else _find_hits(gains, rel)
    first = hits.nth == 1
    codes, gain = judged.positives(start, start + n_queries)
    query = judged.space.queries(codes) - start
    return ListStatistics(
        gains=gains,
        lengths=lengths,
        hits=hits,
        n_hits={k: _count_per_query(hits.query, _within(hits, k), n_queries) for k in cutoffs},
        first_query=hits.query[first],
        first_rank=hits.rank[first],
        n_positives=_count_per_query(query, None if rel == 1 else gain >= rel, n_queries),
        graded_hits=graded_hits,
        graded_query=query,
        graded_gain=_sort_gains_within_queries(query, gain),
        graded_place=_places_within_queries(np.bincount(query, minlength=n_queries)),
    )


def _find_hits(gains: GainArray, rel: int) -> Hits:
    # flatnonzero returns the cells ordered by query and rank, so no sort is needed.
    cells = np.flatnonzero(gains >= rel)
    query, column = np.divmod(cells, max(1, gains.shape[1]))
    nth = _places_within_queries(np.bincount(query, minlength=len(gains))) + 1
    return Hits(query, column + 1, nth, gains.reshape(-1)[cells])


def _places_within_queries(counts: IntArray) -> IntArray:
    """Return 0, 1, 2, … for the rows of each query in turn, int64 [sum of counts].

    counts: the number of rows of each query, [B].
    """
    before = np.cumsum(counts) - counts
    return np.arange(counts.sum()) - np.repeat(before, counts)


def _sort_gains_within_queries(query: IntArray, gain: GainArray) -> GainArray:
    """Return the gains [P], sorted best first within each query. `query` must ascend."""
    if gain.size == 0 or gain.min() == gain.max():
        return gain
    # One key, made of the query and the inverted gain, sorts many times faster than two keys.
    key = np.sort(query * 128 + (127 - gain.astype(np.int64)))
    return (127 - key % 128).astype(np.int8)


def _within(hits: Hits, cutoff: int | None) -> BoolArray | None:
    """Return flags of the hits in the top k, or None, which means all."""
    return None if cutoff is None else hits.rank <= cutoff


def _count_per_query(query: IntArray, kept: BoolArray | None, n_queries: int) -> IntArray:
    """Return the number of kept rows (None: all) of each query, int64 [n_queries]."""
    return np.bincount(query if kept is None else query[kept], minlength=n_queries)


def _sum_per_query(
    query: IntArray, weight: FloatArray, kept: BoolArray | None, n_queries: int
) -> FloatArray:
    """Return the sum of `weight` over the kept rows (None: all) of each query.

    float64 [n_queries].
    """
    if kept is not None:
        query, weight = query[kept], weight[kept]
    return np.asarray(np.bincount(query, weights=weight, minlength=n_queries), dtype=np.float64)
