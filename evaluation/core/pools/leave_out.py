"""The bias of pooling: scores of a system with and without the pairs that only it contributed.

A pool contains the top k of several systems, and annotators judge it. The lists of a system that
was not pooled contain unjudged pairs. These count as not relevant, so the system scores lower than
it would if it had been pooled. To measure this bias, each pooled system is left out in turn (Zobel,
How reliable are the results of large-scale information retrieval experiments?, SIGIR 1998).

Original positives always count (`relevance.judged.with_positives`), whichever system is left out.
Judged pairs that are in no system's top k also stay judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray
from evaluation.core.people.agreement import Estimate
from evaluation.core.relevance.judged import Judged, check_lists, with_positives
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.scoring import RunScores, score_run
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists

# As in `relevance.judged`, a table with this number of cells fits into the cache of a processor
# core.
_TABLE_CELLS: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class PooledLabels:
    """J labels of a pool, and the systems that contributed their pairs.

    runs: the ranked lists by name of system, of any depth.
    depth: a system contributes the top `depth` of its lists.
    labels: the judged pairs joined with the original positives.
    is_original: bool [J], whether the pair is an original positive.
    contributed: bool [S, J], whether the system contributed the pair; systems in the order of
    `runs`.
    """

    runs: Mapping[str, RankedLists]
    depth: int
    labels: Judged
    is_original: BoolArray
    contributed: BoolArray

    def only(self, systems: Iterable[str]) -> PooledLabels:
        """Return the pool and its labels as if only these systems had been pooled.

        Pairs that only other systems contributed become unjudged. Raises ValueError if a system is
        unknown.
        """
        pooled = set(systems)
        unknown = pooled - self.runs.keys()
        if unknown:
            raise ValueError(f"not in the pool: {', '.join(sorted(unknown))}")
        rows = np.array([system in pooled for system in self.runs], dtype=np.bool_)
        lost = self.contributed[~rows].any(axis=0) & ~self.contributed[rows].any(axis=0)
        kept = ~lost | self.is_original
        return PooledLabels(
            {system: ranked for system, ranked in self.runs.items() if system in pooled},
            self.depth,
            self.labels.only(kept),
            self.is_original[kept],
            self.contributed[rows][:, kept],
        )

    def without(self, system: str) -> PooledLabels:
        """Return the pool and its labels as if this system had not been pooled."""
        return self.only(other for other in self.runs if other != system)

    def unique_pairs(self, system: str) -> Judged:
        """Return the labels of the pairs that only this system contributed.

        Original positives are not included.
        """
        return self.labels.only(self.is_unique(system))

    def is_unique(self, system: str) -> BoolArray:
        """Return flags [J] of the labels in `unique_pairs`. `without` keeps all other labels."""
        place = list(self.runs).index(system)
        by_others = np.delete(self.contributed, place, axis=0).any(axis=0)
        return np.asarray(self.contributed[place] & ~by_others & ~self.is_original)


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """The scores of one system with all labels, and without the labels of its unique pairs.

    pairs, positives: number of pairs that only this system contributed, and of relevant ones among
    them. with_all, without: the scores with all labels, and without the labels of these pairs.
    """

    system: str
    pairs: int
    positives: int
    with_all: RunScores
    without: RunScores

    def bias(self, measure: Measure) -> Estimate:
        """Return the score without the unique pairs minus the score with all labels.

        The unit is that of the measure. The bias is usually negative. It can be positive for
        measures that divide by all positives (R, AP, nDCG). For measures that are ranks (MedR,
        MeanR), a positive bias is a loss.
        """
        return _difference(self.without, self.with_all, measure)


@dataclass(frozen=True, slots=True)
class Growth:
    """The mean bias of one system that is not in the pool, over pools of `pooled` other systems.

    pools: number of pools that were scored. possible: number of pools of this size that exist.
    """

    system: str
    pooled: int
    pools: int
    possible: int
    bias: Mapping[Measure, Estimate]


def gather_pool(
    runs: Mapping[str, RankedLists], depth: int, judged: Judged, original: Judged
) -> PooledLabels:
    """Return the labels of a pool with the systems that contributed each pair.

    runs: ranked lists by name. Their top `depth` was pooled. Scores use the
    whole lists, so pass lists that end at `depth` if deeper ranks were not judged.

    Raises ValueError if the depth is below 1, or if the runs, `judged` and `original` belong to
    benchmarks of different size.
    """
    if depth < 1:
        raise ValueError("the depth of a pool must be at least 1")
    labels = with_positives(judged, original)
    contributed = np.zeros((len(runs), len(labels.codes)), dtype=np.bool_)
    for place, ranked in enumerate(runs.values()):
        contributed[place] = are_ranked(ranked.top(depth), labels)
    is_original = np.zeros(len(labels.codes), dtype=np.bool_)
    is_original[np.searchsorted(labels.codes, original.positives()[0])] = True
    return PooledLabels(dict(runs), depth, labels, is_original, contributed)


def leave_one_out(
    pool: PooledLabels, measures: Iterable[Measure], rel: int = 1
) -> tuple[LeftOut, ...]:
    """Score each pooled system with all labels, and as if only this system had not been pooled.

    rel: the lowest gain of a positive, as in `score_run`. Each system is scored twice.
    """
    measures = tuple(measures)
    rows = []
    for system, ranked in pool.runs.items():
        unique = pool.is_unique(system)
        rows.append(
            LeftOut(
                system,
                pairs=int(np.count_nonzero(unique)),
                positives=int(np.count_nonzero(pool.labels.gains[unique] >= rel)),
                with_all=score_run(ranked, pool.labels, measures, rel),
                without=score_run(ranked, pool.labels.only(~unique), measures, rel),
            )
        )
    return tuple(rows)


def grow_pool(
    pool: PooledLabels,
    measures: Iterable[Measure],
    *,
    rng: np.random.Generator,
    max_pools: int = 20,
    rel: int = 1,
) -> tuple[Growth, ...]:
    """Return the bias of each system in pools of other systems, for each number of these systems.

    For each system and each m from 1 to S - 1, the bias is the score with the labels of m other
    systems minus the score with all labels. It is a mean over all choices of the m systems. If
    there are more than `max_pools` choices, it is a mean over `max_pools` different ones drawn at
    random. For m = S - 1 it equals the bias of `leave_one_out`. The bias is undefined if one of the
    scores is.

    For S systems, the cost is at most S * ((S - 1) * max_pools + 1) scorings. Raises ValueError if
    `max_pools` is below 1.
    """
    if max_pools < 1:
        raise ValueError("max_pools must be at least 1")
    measures = tuple(measures)
    rows = []
    for system, ranked in pool.runs.items():
        with_all = score_run(ranked, pool.labels, measures, rel)
        others = [other for other in pool.runs if other != system]
        for pooled in range(1, len(others) + 1):
            pools = _choose_pools(others, pooled, max_pools, rng)
            scores = [score_run(ranked, pool.only(names).labels, measures, rel) for names in pools]
            bias = {
                measure: _mean([_difference(score, with_all, measure) for score in scores])
                for measure in measures
            }
            rows.append(Growth(system, pooled, len(pools), comb(len(others), pooled), bias))
    return tuple(rows)


def are_ranked(ranked: RankedLists, labels: Judged) -> BoolArray:
    """Return flags [J] of the labels whose pairs are in these lists.

    As in `relevance.judged.look_up_gains`, ranked cells are marked in a small dense table, one
    block of queries at a time. The flags of the labels are read from this table.
    """
    check_lists(ranked, labels)
    flags = np.zeros(len(labels.codes), dtype=np.bool_)
    space = labels.space
    block = max(1, _TABLE_CELLS // max(1, space.n_videos))
    table = np.zeros(PairSpace(block, space.n_videos).n_pairs, dtype=np.bool_)
    for start in range(0, len(ranked), block):
        part = ranked.items[start : start + block]
        cells = space.encode(np.arange(len(part))[:, None], part)[part >= 0]
        known = labels.rows_of(start, start + len(part))
        table[cells] = True
        flags[known] = table[labels.codes[known] - space.encode(start, 0)]
        table[cells] = False
    return flags


def _choose_pools(
    systems: Sequence[str], size: int, limit: int, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """Return all choices of `size` systems, or `limit` different ones if there are more."""
    if comb(len(systems), size) <= limit:
        return list(combinations(systems, size))
    chosen: dict[tuple[int, ...], None] = {}
    while len(chosen) < limit:
        places = rng.choice(len(systems), size, replace=False)
        chosen[tuple(sorted(places.tolist()))] = None
    return [tuple(systems[place] for place in places) for places in chosen]


def _difference(scores: RunScores, reference: RunScores, measure: Measure) -> Estimate:
    score, known = scores.mean(measure), reference.mean(measure)
    if score.value is None or known.value is None:
        return Estimate(None, score.undefined or known.undefined)
    return Estimate(score.value - known.value)


def _mean(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of one or more estimates, or the first undefined estimate."""
    values = [estimate.value for estimate in estimates if estimate.value is not None]
    if len(values) < len(estimates):
        return next(estimate for estimate in estimates if estimate.value is None)
    return Estimate(float(np.mean(values)))
