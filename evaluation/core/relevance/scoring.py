"""Scores of a run under a set of judged pairs; what each measure means stands in `measures`.

All measures follow from the ranks of the positives that a run found. These are looked up once and
kept sparse, so that a measure costs a few sums over the positives and not a walk over the lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray
from evaluation.core.relevance.judged import Judged, check_ranked, look_up_gains
from evaluation.core.relevance.measures import Measure

NO_QUERIES: Final = "no queries"
MEDIAN_BEYOND_DEPTH: Final = "half of the queries or more have no positive within the depth"

# So many queries at a time keep all arrays in the cache; in one piece, ten times the queries
# would cost fourteen times as much.
_BLOCK_QUERIES: Final = 1 << 14


@dataclass(frozen=True, slots=True)
class Score:
    """A mean over `n` queries, or the reason by name why there is none (exactly one of both)."""

    value: float | None
    n: int
    undefined: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RunScores:
    """Scores of one run.

    not_retrieved: number of queries whose list holds no positive, those without any included.
    """

    n_queries: int
    depth: int
    not_retrieved: int
    values: Mapping[Measure, FloatArray]

    def per_query(self, measure: Measure) -> FloatArray:
        """float64 [n_queries], by query number; ranks for MedR and MeanR, else shares.

        Raises ValueError for a measure that was not asked for.
        """
        try:
            return self.values[measure]
        except KeyError:
            raise ValueError(f"measure {str(measure)!r} was not computed") from None

    def mean(self, measure: Measure) -> Score:
        """Mean over all queries; the median for MedR.

        Where a list holds no positive, its rank counts as depth + 1. So MeanR is a lower bound of
        the mean rank unless `not_retrieved` is 0; publish both. MedR is exact or undefined.
        """
        values = self.per_query(measure)
        if self.n_queries == 0:
            return Score(None, 0, NO_QUERIES)
        if measure.name != "MedR":
            return Score(float(values.mean()), self.n_queries)
        # With exactly half of an even number missing, the median would lie between a known rank
        # and an unknown one.
        if 2 * self.not_retrieved >= self.n_queries:
            return Score(None, self.n_queries, MEDIAN_BEYOND_DEPTH)
        return Score(float(np.median(values)), self.n_queries)


def score_run(
    ranked: npt.NDArray[Any], judged: Judged, measures: Iterable[Measure], rel: int = 1
) -> RunScores:
    """Compute `measures` of one run.

    ranked: [n_queries, depth] of a signed integer type, video numbers best first, -1 at the end.
    rel: the gain from which on a pair is positive. nDCG uses all gains, whatever `rel`.

    Raises ValueError if `ranked` is malformed or does not fit `judged`, or if `rel` < 1.

    Cost: each ranked cell and each judged pair is touched once (`look_up_gains`); all that follows
    grows with the positives and with the queries, not with the depth.
    """
    if rel < 1:
        raise ValueError("rel must be at least 1; 0 is the gain of what was judged not relevant")
    check_ranked(ranked, judged)
    n_queries, depth = ranked.shape
    asked = tuple(dict.fromkeys(measures))
    values = np.empty((len(asked), n_queries), dtype=np.float64)
    not_retrieved = 0
    cutoffs = {None, *(measure.cutoff for measure in asked)}
    for start in range(0, n_queries, _BLOCK_QUERIES):
        rows = slice(start, start + _BLOCK_QUERIES)
        facts = _gather_facts(ranked[rows], judged, start, cutoffs, rel)
        not_retrieved += int(np.count_nonzero(facts.found[None] == 0))
        for place, measure in enumerate(asked):
            values[place, rows] = _CALCULATIONS[measure.name](facts, measure.cutoff)
    return RunScores(n_queries, depth, not_retrieved, dict(zip(asked, values, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class _Hits:
    """The positives H that a block's lists hold, ordered by query and rank."""

    query: IntArray  # [H], row in the block
    rank: IntArray  # [H], from 1
    nth: IntArray  # [H], from 1: the how-manieth positive of its list
    gain: GainArray  # [H]


@dataclass(frozen=True, slots=True, eq=False)
class _Facts:
    """All that the measures share about a block of B queries, computed once."""

    ranked: npt.NDArray[Any]  # [B, depth]
    gains: GainArray  # [B, depth]
    hits: _Hits  # gain >= rel
    found: Mapping[int | None, IntArray]  # positives in the top k, [B], by cutoff; None: whole list
    first_query: IntArray  # queries whose list holds a positive, ascending
    first_rank: IntArray  # rank of the first positive of each of them, from 1
    positives: IntArray  # [B], known positives, found or not
    graded_hits: _Hits  # gain >= 1
    graded_query: IntArray  # [P], query of each known pair with gain >= 1, ascending
    graded_gain: GainArray  # [P], descending within a query
    graded_place: IntArray  # [P], from 0: place in the best possible list

    @property
    def n_queries(self) -> int:
        return int(self.gains.shape[0])


def _gather_facts(
    ranked: npt.NDArray[Any],
    judged: Judged,
    first_query: int,
    cutoffs: Iterable[int | None],
    rel: int,
) -> _Facts:
    n_queries = len(ranked)
    gains = look_up_gains(ranked, judged, first_query)
    graded_hits = _find_hits(gains, 1)
    hits = graded_hits if rel == 1 else _find_hits(gains, rel)
    first = hits.nth == 1
    codes, gain = judged.positives(first_query, first_query + n_queries)
    query = judged.space.queries(codes) - first_query
    return _Facts(
        ranked=ranked,
        gains=gains,
        hits=hits,
        found={k: _count_per_query(hits.query, _within(hits, k), n_queries) for k in cutoffs},
        first_query=hits.query[first],
        first_rank=hits.rank[first],
        positives=_count_per_query(query, None if rel == 1 else gain >= rel, n_queries),
        graded_hits=graded_hits,
        graded_query=query,
        graded_gain=_sort_gains_within_queries(query, gain),
        graded_place=_places_within_queries(np.bincount(query, minlength=n_queries)),
    )


def _find_hits(gains: GainArray, rel: int) -> _Hits:
    # Cells in reading order are ordered by query and rank already: no sort.
    cells = np.flatnonzero(gains >= rel)
    query, column = np.divmod(cells, max(1, gains.shape[1]))
    nth = _places_within_queries(np.bincount(query, minlength=len(gains))) + 1
    return _Hits(query, column + 1, nth, gains.reshape(-1)[cells])


def _places_within_queries(counts: IntArray) -> IntArray:
    """0, 1, 2, … anew for each query, for rows that are grouped by query: [sum of counts]."""
    before = np.cumsum(counts) - counts
    return np.arange(counts.sum()) - np.repeat(before, counts)


def _sort_gains_within_queries(query: IntArray, gain: GainArray) -> GainArray:
    """Gains [P] sorted best first within each query; `query` must ascend."""
    if gain.size == 0 or gain.min() == gain.max():
        return gain
    # One key of query and inverted gain sorts many times faster than two keys.
    key = np.sort(query * 128 + (127 - gain.astype(np.int64)))
    return (127 - key % 128).astype(np.int8)


def _within(hits: _Hits, cutoff: int | None) -> BoolArray | None:
    """Flags of the hits in the top k; None stands for all."""
    return None if cutoff is None else hits.rank <= cutoff


def _count_per_query(query: IntArray, kept: BoolArray | None, n_queries: int) -> IntArray:
    """Number of kept rows (None: all) of each query, int64 [n_queries]."""
    return np.bincount(query if kept is None else query[kept], minlength=n_queries)


def _sum_per_query(
    query: IntArray, weight: FloatArray, kept: BoolArray | None, n_queries: int
) -> FloatArray:
    """Sum of `weight` over the kept rows (None: all) of each query, float64 [n_queries]."""
    if kept is not None:
        query, weight = query[kept], weight[kept]
    return np.asarray(np.bincount(query, weights=weight, minlength=n_queries), dtype=np.float64)


def _divide(dividend: npt.NDArray[Any], divisor: npt.NDArray[Any]) -> FloatArray:
    """Element by element, 0 where the divisor is 0."""
    quotient = np.zeros(dividend.shape, dtype=np.float64)
    np.divide(dividend, divisor, out=quotient, where=divisor != 0)
    return quotient


def _correct(facts: _Facts, cutoff: int | None) -> FloatArray:
    return (facts.found[cutoff] > 0).astype(np.float64)


def _recall(facts: _Facts, cutoff: int | None) -> FloatArray:
    return _divide(facts.found[cutoff], facts.positives)


def _precision(facts: _Facts, cutoff: int | None) -> FloatArray:
    return facts.found[cutoff] / float(cutoff or 1)


def _precision_sum(facts: _Facts, cutoff: int | None) -> FloatArray:
    """Sum over the positives found of the precision at their ranks."""
    hits = facts.hits
    return _sum_per_query(hits.query, hits.nth / hits.rank, _within(hits, cutoff), facts.n_queries)


def _average_precision(facts: _Facts, cutoff: int | None) -> FloatArray:
    return _divide(_precision_sum(facts, cutoff), facts.positives)


def _average_precision_found(facts: _Facts, cutoff: int | None) -> FloatArray:
    return _divide(_precision_sum(facts, cutoff), facts.found[cutoff])


def _reciprocal_rank(facts: _Facts, cutoff: int | None) -> FloatArray:
    scores = np.zeros(facts.n_queries, dtype=np.float64)
    scores[facts.first_query] = 1.0 / facts.first_rank
    return scores if cutoff is None else np.where(facts.found[cutoff] > 0, scores, 0.0)


def _first_rank(facts: _Facts, _cutoff: int | None) -> FloatArray:
    ranks = np.full(facts.n_queries, facts.gains.shape[1] + 1, dtype=np.float64)
    ranks[facts.first_query] = facts.first_rank
    return ranks


def _linear(gain: GainArray) -> FloatArray:
    return gain.astype(np.float64)


def _exponential(gain: GainArray) -> FloatArray:
    return np.exp2(gain.astype(np.float64)) - 1.0


def _ndcg(
    facts: _Facts, cutoff: int | None, value: Callable[[GainArray], FloatArray]
) -> FloatArray:
    hits = facts.graded_hits
    weight = value(hits.gain) / np.log2(hits.rank + 1)
    reached = _sum_per_query(hits.query, weight, _within(hits, cutoff), facts.n_queries)
    best_weight = value(facts.graded_gain) / np.log2(facts.graded_place + 2)
    kept = None if cutoff is None else facts.graded_place < cutoff
    best = _sum_per_query(facts.graded_query, best_weight, kept, facts.n_queries)
    return _divide(reached, best)


def _ndcg_linear(facts: _Facts, cutoff: int | None) -> FloatArray:
    return _ndcg(facts, cutoff, _linear)


def _ndcg_exponential(facts: _Facts, cutoff: int | None) -> FloatArray:
    return _ndcg(facts, cutoff, _exponential)


def _judged_share(facts: _Facts, cutoff: int | None) -> FloatArray:
    return _divide(
        _count_per_row(facts.gains[:, :cutoff] >= 0), _count_per_row(facts.ranked[:, :cutoff] >= 0)
    )


def _count_per_row(flags: BoolArray) -> IntArray:
    """True values per row. Summed over contiguous columns: numpy is slow along short rows."""
    return np.asarray(np.ascontiguousarray(flags.T).sum(axis=0), dtype=np.int64)


_CALCULATIONS: Final[Mapping[str, Callable[[_Facts, int | None], FloatArray]]] = {
    "C": _correct,
    "R": _recall,
    "P": _precision,
    "AP": _average_precision,
    "AP(found)": _average_precision_found,
    "RR": _reciprocal_rank,
    "nDCG": _ndcg_linear,
    "nDCG(exp)": _ndcg_exponential,
    "MedR": _first_rank,
    "MeanR": _first_rank,
    "Judged": _judged_share,
}
