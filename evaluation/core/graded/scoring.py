"""nDCG and average precision of rankings under graded relevance.

========================  =========================================================================
nDCG                      DCG / IDCG. DCG is the sum of gain / log2(rank + 1) over the first k
                          ranks, IDCG is that of the best order, and k is the number of items with a
                          relevance above 0. Wray et al. 2021, equations 2 and 3.
gain `linear`             the relevance, as in the published code and the EPIC-KITCHENS challenge
gain `paper`              2^relevance - 1, as in equation 2
random                    the exact mean of nDCG over all orders of the items: the mean gain of all
                          items, times the sum of 1 / log2(rank + 1) over the first k ranks, / IDCG
above random              (nDCG - random) / (1 - random): 0 for a random order, 1 for the best one
mAP (EPIC code)           an item is a hit if its relevance is 1. Mean over the hits of (sum of the
                          relevances up to the rank of the hit) / rank. The sum includes the
                          relevance of items that are not hits, so the result is never below AP at
                          R = 1.
AP at R = 1               average precision with the same hits
========================  =========================================================================

Ranked lists of depth d are scored to this depth: the sums of DCG and random end at rank d, but IDCG
and the number of hits do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.graded.means import NO_FULL, NO_QUERY_LEFT, NO_RELEVANT, QueryValues
from evaluation.core.graded.rankings import (
    Matrix,
    blocks,
    check_shapes,
    values_in_order,
)
from evaluation.core.relevance.scoring import Score
from hearth.shared.progress import Progress, no_progress
from pooling.core.ranked_lists import RankedLists

ALL_EQUAL: Final = "every order of the items has the same nDCG"
EPIC_MAP: Final = "mAP (EPIC code)"
FULL_AP: Final = "AP at R = 1"

# The names of the values of a block. The name of a gain is appended to the first two.
_NDCG: Final = "nDCG "
_RANDOM: Final = "random "
_N_RELEVANT: Final = "n relevant"
_N_FULL: Final = "n full"


class Gain(StrEnum):
    """The gain of an item with relevance R."""

    LINEAR = "linear"
    PAPER = "paper"

    def of(self, relevance: FloatArray) -> FloatArray:
        return relevance if self is Gain.LINEAR else np.exp2(relevance) - 1


@dataclass(frozen=True, slots=True, eq=False)
class DirectionScores:
    """The scores of a ranking in one direction, by gain or by name.

    depth: the number of ranks that were read.
    precision: EPIC_MAP and FULL_AP.
    """

    n_queries: int
    n_items: int
    depth: int
    ndcg: Mapping[Gain, QueryValues]
    random: Mapping[Gain, QueryValues]
    precision: Mapping[str, QueryValues]

    def above_random(self, gain: Gain) -> Score:
        """Return (nDCG - random) / (1 - random) of the means."""
        return above_random(self.ndcg[gain].mean(), self.random[gain].mean())


@dataclass(frozen=True, slots=True, eq=False)
class BothDirections:
    """The scores of a ranking of the columns for each row, and of the rows for each column."""

    rows: DirectionScores
    columns: DirectionScores

    def ndcg(self, gain: Gain) -> Score:
        """Return the mean of the mean nDCG of each direction. Both directions count equally."""
        return mean_of_directions(self.rows.ndcg[gain].mean(), self.columns.ndcg[gain].mean())

    def random(self, gain: Gain) -> Score:
        """Return the mean of the random expectations of the two directions."""
        return mean_of_directions(self.rows.random[gain].mean(), self.columns.random[gain].mean())

    def precision(self, name: str) -> Score:
        """Return the mean of EPIC_MAP or FULL_AP of the two directions."""
        rows, columns = self.rows.precision[name], self.columns.precision[name]
        return mean_of_directions(rows.mean(), columns.mean())

    def above_random(self, gain: Gain) -> Score:
        """Return (nDCG - random) / (1 - random) of the means."""
        return above_random(self.ndcg(gain), self.random(gain))


def mean_of_directions(rows: Score, columns: Score) -> Score:
    """Return the mean of two scores. It is undefined if one of them is."""
    if rows.value is None or columns.value is None:
        return Score(None, rows.n + columns.n, NO_QUERY_LEFT)
    return Score((rows.value + columns.value) / 2, rows.n + columns.n)


def above_random(score: Score, random: Score) -> Score:
    """Return the score on a scale from 0, for a random order, to 1, for the best order."""
    if score.value is None or random.value is None:
        return Score(None, score.n, NO_QUERY_LEFT)
    if random.value >= 1:
        return Score(None, score.n, ALL_EQUAL)
    return Score((score.value - random.value) / (1 - random.value), score.n)


def score_ranking(
    relevance: Matrix, ranking: RankedLists, progress: Progress = no_progress
) -> DirectionScores:
    """Compute all scores of one direction, as `score_rankings` does."""
    return score_rankings(relevance, [ranking], progress)[0]


def score_rankings(
    relevance: Matrix, rankings: Sequence[RankedLists], progress: Progress = no_progress
) -> list[DirectionScores]:
    """Compute all scores of one direction for each ranking. The best order is computed once.

    relevance: [n_queries, n_items], 0 to 1. Raises ValueError if the shapes differ.
    """
    for ranking in rankings:
        check_shapes(relevance, ranking)
    n_queries, n_items = relevance.shape
    found: list[list[dict[str, FloatArray]]] = [[] for _ in rankings]
    for block in blocks(relevance.shape):
        progress(block.start, n_queries, "scoring")
        best = _Best.of(relevance[block].astype(np.float64))
        for parts, ranking in zip(found, rankings, strict=True):
            parts.append(_score(best, ranking.items[block].astype(np.int64)))
    return [
        _joined(n_items, ranking.depth, parts)
        for ranking, parts in zip(rankings, found, strict=True)
    ]


def _joined(n_items: int, depth: int, parts: list[dict[str, FloatArray]]) -> DirectionScores:
    """Return the scores of all queries from those of the blocks."""
    values = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    is_relevant, has_full = values[_N_RELEVANT] > 0, values[_N_FULL] > 0
    return DirectionScores(
        len(is_relevant),
        n_items,
        depth,
        {gain: QueryValues.of(values[_NDCG + gain], is_relevant, NO_RELEVANT) for gain in Gain},
        {gain: QueryValues.of(values[_RANDOM + gain], is_relevant, NO_RELEVANT) for gain in Gain},
        {name: QueryValues.of(values[name], has_full, NO_FULL) for name in (EPIC_MAP, FULL_AP)},
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    """Values of a block of B queries that do not depend on the ranking.

    relevance: float64 [B, items].
    n_relevant, n_full: the number of items with a relevance above 0, and of 1, int64 [B].
    ideal, mean_gain: IDCG, or 1 if it is 0, and the mean gain of all items, float64 [B] each.
    """

    relevance: FloatArray
    n_relevant: IntArray
    n_full: IntArray
    ideal: Mapping[Gain, FloatArray]
    mean_gain: Mapping[Gain, FloatArray]

    @classmethod
    def of(cls, relevance: FloatArray) -> _Best:
        n_relevant = np.count_nonzero(relevance > 0, axis=1)
        # Items with a relevance of 0 are last and have no gain, so the sum over all ranks equals
        # the sum over the first k.
        order = np.sort(relevance, axis=1)[:, ::-1]
        gains = {gain: gain.of(order) for gain in Gain}
        discounts = _discounts(relevance.shape[1])
        return cls(
            relevance,
            n_relevant,
            np.count_nonzero(relevance == 1, axis=1),
            {gain: np.where(n_relevant > 0, g @ discounts, 1) for gain, g in gains.items()},
            {gain: g.mean(axis=1) for gain, g in gains.items()},
        )


def _discounts(n_ranks: int) -> FloatArray:
    return 1 / np.log2(np.arange(n_ranks) + 2)


def _score(best: _Best, items: IntArray) -> dict[str, FloatArray]:
    """Return all values of a ranking by name, float64 [B] each."""
    ranked = values_in_order(best.relevance, items)
    values = _precisions(ranked, best.n_full) | _ndcg(best, ranked)
    counts = {_N_RELEVANT: best.n_relevant, _N_FULL: best.n_full}
    return values | {name: count.astype(np.float64) for name, count in counts.items()}


def _ndcg(best: _Best, ranked: FloatArray) -> dict[str, FloatArray]:
    depth = ranked.shape[1]
    discounts = _discounts(depth)
    top = np.where(np.arange(depth) < best.n_relevant[:, None], ranked, 0)
    sums = np.concatenate([[0], np.cumsum(discounts)])[np.minimum(best.n_relevant, depth)]
    values = {}
    for gain in Gain:
        values[_NDCG + gain] = gain.of(top) @ discounts / best.ideal[gain]
        values[_RANDOM + gain] = best.mean_gain[gain] * sums / best.ideal[gain]
    return values


def _precisions(ranked: FloatArray, n_full: IntArray) -> dict[str, FloatArray]:
    queries, columns = np.nonzero(ranked == 1)
    # The number of each hit within its list, from 1.
    counts = np.bincount(queries, minlength=len(ranked))
    hits = np.arange(1, len(queries) + 1) - np.repeat(np.cumsum(counts) - counts, counts)
    sums = {EPIC_MAP: np.cumsum(ranked, axis=1)[queries, columns], FULL_AP: hits}
    return {
        name: np.bincount(queries, found / (columns + 1), len(ranked)) / np.maximum(n_full, 1)
        for name, found in sums.items()
    }


def score_both(
    relevance: Matrix, rows: RankedLists, columns: RankedLists, progress: Progress = no_progress
) -> BothDirections:
    """Compute all scores of both directions.

    relevance: [n_rows, n_columns]. rows: a ranking of the columns for each row. columns: a ranking
    of the rows for each column.
    """
    return BothDirections(
        score_ranking(relevance, rows, progress), score_ranking(relevance.T, columns, progress)
    )
