"""Measures of ranked lists under graded relevance. The module `relevance.measures` defines them.

A query for which a measure is undefined is left out of the mean and counted. Ranked lists of depth
d are scored to this depth: the sums of DCG and of the random expectation end at rank d, but IDCG
and the number of hits do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.graded.means import NO_FULL, NO_QUERY_LEFT, NO_RELEVANT, QueryValues
from evaluation.core.graded.rankings import Matrix, blocks, check_shapes, values_in_order
from evaluation.core.relevance.measure import Measure, Score
from evaluation.core.relevance.measures import parse_measure
from hearth.shared.progress import Progress, no_progress
from pooling.core.ranked_lists import RankedLists

Value = Callable[[FloatArray], FloatArray]

ALL_EQUAL: Final = "every order of the items has the same nDCG"


class Gain(StrEnum):
    """The gain of an item with relevance R: R itself, or 2^R - 1."""

    LINEAR = "linear"
    PAPER = "paper"

    @property
    def ndcg(self) -> Measure:
        return _NDCG[self][0]

    @property
    def random(self) -> Measure:
        """The mean nDCG over all orders of the items."""
        return _NDCG[self][1]


_NDCG: Final = {
    gain: (parse_measure(f"nDCG(gain={name})"), parse_measure(f"nDCG(gain={name},order=random)"))
    for gain, name in ((Gain.LINEAR, "linear"), (Gain.PAPER, "exp"))
}
EPIC_MAP: Final = parse_measure("mAP(epic)")
FULL_AP: Final = parse_measure("AP")
MEASURES: Final = (*_NDCG[Gain.LINEAR], *_NDCG[Gain.PAPER], EPIC_MAP, FULL_AP)


@dataclass(frozen=True, slots=True, eq=False)
class GradedScores:
    """The scores of a ranking in one direction. depth: the number of ranks that were read."""

    n_queries: int
    n_items: int
    depth: int
    values: Mapping[Measure, QueryValues]

    def mean(self, measure: Measure) -> Score:
        """Return the mean over the queries for which the measure is defined."""
        return self.values[measure].mean()


@dataclass(frozen=True, slots=True, eq=False)
class BothDirections:
    """The scores of a ranking of the columns for each row, and of the rows for each column."""

    rows: GradedScores
    columns: GradedScores

    def mean(self, measure: Measure) -> Score:
        """Return the mean of the two directions, which count equally.

        It is undefined if that of one direction is.
        """
        rows, columns = self.rows.mean(measure), self.columns.mean(measure)
        if rows.value is None or columns.value is None:
            return Score(None, rows.n + columns.n, NO_QUERY_LEFT)
        return Score((rows.value + columns.value) / 2, rows.n + columns.n)


def above_random(scores: GradedScores | BothDirections, gain: Gain) -> Score:
    """Return nDCG on a scale from 0, for a random order, to 1, for the best order."""
    score, random = scores.mean(gain.ndcg), scores.mean(gain.random)
    if score.value is None or random.value is None:
        return Score(None, score.n, NO_QUERY_LEFT)
    if random.value >= 1:
        return Score(None, score.n, ALL_EQUAL)
    return Score((score.value - random.value) / (1 - random.value), score.n)


def score_rankings(
    relevance: Matrix,
    rankings: Sequence[RankedLists],
    progress: Progress = no_progress,
    measures: Sequence[Measure] = MEASURES,
) -> list[GradedScores]:
    """Compute measures of one direction for each ranking. The best order is computed once.

    relevance: [n_queries, n_items], 0 to 1. Raises ValueError if the shapes differ, or if a measure
    has a cutoff.
    """
    if any(measure.cutoff for measure in measures):
        raise ValueError("under graded relevance, each query has its own cutoff")
    for ranking in rankings:
        check_shapes(relevance, ranking)
    n_queries, n_items = relevance.shape
    found: list[list[FloatArray]] = [[] for _ in rankings]
    defined: list[BoolArray] = []
    for block in blocks(relevance.shape):
        progress(block.start, n_queries, "scoring")
        best = BestOrder(relevance[block].astype(np.float64))
        defined.append(np.stack([best.n_relevant > 0, best.n_full > 0]))
        for parts, ranking in zip(found, rankings, strict=True):
            lists = GradedLists(best, ranking.items[block].astype(np.int64))
            parts.append(np.stack([measure.kind.grade(lists, measure) for measure in measures]))
    is_relevant, has_full = np.concatenate(defined, axis=1)
    scores = []
    for ranking, parts in zip(rankings, found, strict=True):
        values = {
            measure: QueryValues.of(own, has_full, NO_FULL)
            if measure.kind.grades_hits
            else QueryValues.of(own, is_relevant, NO_RELEVANT)
            for measure, own in zip(measures, np.concatenate(parts, axis=1), strict=True)
        }
        scores.append(GradedScores(n_queries, n_items, ranking.depth, values))
    return scores


@dataclass(frozen=True, eq=False)
class BestOrder:
    """Values of a block of B queries that do not depend on the ranking.

    relevance: float64 [B, items].
    """

    relevance: FloatArray
    _gains: dict[Value, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @cached_property
    def n_relevant(self) -> IntArray:
        """The number of items with a relevance above 0, int64 [B]."""
        return np.asarray(np.count_nonzero(self.relevance > 0, axis=1))

    @cached_property
    def n_full(self) -> IntArray:
        """The number of items with a relevance of 1, int64 [B]."""
        return np.asarray(np.count_nonzero(self.relevance == 1, axis=1))

    @cached_property
    def _order(self) -> FloatArray:
        return np.sort(self.relevance, axis=1)[:, ::-1]

    def gains(self, value: Value) -> tuple[FloatArray, FloatArray]:
        """Return IDCG, or 1 if it is 0, and the mean gain of all items, float64 [B] each.

        value: the function from relevance to gains.
        """
        if value not in self._gains:
            # Items with a relevance of 0 are last and have no gain, so the sum over all ranks
            # equals the sum over the first k.
            gains = value(self._order)
            ideal = np.where(self.n_relevant > 0, gains @ _discounts(gains.shape[1]), 1)
            self._gains[value] = ideal, gains.mean(axis=1)
        return self._gains[value]


@dataclass(frozen=True, eq=False)
class GradedLists:
    """The ranked items of a block of B queries. items: int64 [B, depth], padded with NO_ITEM."""

    best: BestOrder
    items: IntArray

    @cached_property
    def ranked(self) -> FloatArray:
        """The relevance of each item, float64 [B, depth]; 0 for padding."""
        return values_in_order(self.best.relevance, self.items)

    @cached_property
    def top(self) -> FloatArray:
        """The relevance of the first k items, and 0 for others, [B, depth].

        k is the number of items with a relevance above 0.
        """
        ranks = np.arange(self.items.shape[1])
        return np.where(ranks < self.best.n_relevant[:, None], self.ranked, 0)

    @property
    def discounts(self) -> FloatArray:
        """The value 1 / log2(rank + 1) of each rank, float64 [depth]."""
        return _discounts(self.items.shape[1])

    @property
    def discount_sums(self) -> FloatArray:
        """The sum of the discounts of the first k ranks, float64 [B]."""
        sums = np.concatenate([[0], np.cumsum(self.discounts)])
        return np.asarray(sums[np.minimum(self.best.n_relevant, self.items.shape[1])])

    @cached_property
    def _hits(self) -> tuple[IntArray, IntArray]:
        """The query and the column of each hit, which is an item with a relevance of 1."""
        queries, columns = np.nonzero(self.ranked == 1)
        return queries, columns

    @property
    def hit_numbers(self) -> IntArray:
        """The number of each hit within its list, from 1."""
        counts = np.bincount(self._hits[0], minlength=len(self.items))
        before = np.repeat(np.cumsum(counts) - counts, counts)
        return np.arange(1, len(before) + 1) - before

    @property
    def relevance_sums(self) -> FloatArray:
        """The sum of the relevance down to each hit."""
        return np.asarray(np.cumsum(self.ranked, axis=1)[self._hits])

    def mean_over_hits(self, sums: FloatArray | IntArray) -> FloatArray:
        """Return the mean of sum / rank over all hits, also those beyond the depth, [B]."""
        queries, columns = self._hits
        total = np.bincount(queries, sums / (columns + 1), len(self.items))
        return np.asarray(total / np.maximum(self.best.n_full, 1))


def _discounts(n_ranks: int) -> FloatArray:
    return 1 / np.log2(np.arange(n_ranks) + 2)
