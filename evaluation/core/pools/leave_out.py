"""What a system owes to having been pooled: its scores with and without the pairs it brought.

A pool holds the top k of several systems, and people judge it. A system that was not pooled finds
pairs that nobody judged. These count as not relevant, so that it scores lower than it would have
in the pool: the bias of pooling. How large it is shows when each pooled system is left out in turn
(Zobel, How reliable are the results of large-scale information retrieval experiments?, SIGIR 1998).

Original positives always count (`relevance.with_positives`), and stay judged whoever is left out.
So do pairs that were judged but stand in no system's top k.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray
from evaluation.core.people.agreement import Estimate
from evaluation.core.relevance.judged import Judged, check_ranked, with_positives
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.scoring import RunScores, score_run
from pooling.core.pair_space import PairSpace

# As in `relevance`: a table of so many cells stays in a core's own cache.
_TABLE_CELLS: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class PooledLabels:
    """J labels, and which of S systems brought each of their pairs in its top `depth`.

    runs: the ranked lists by name of system, each [n_queries, any depth].
    labels: judged pairs and original positives, joined.
    is_original: [J], the pair is an original positive.
    brought: [S, J], in the order of `runs`.
    """

    runs: Mapping[str, npt.NDArray[Any]]
    depth: int
    labels: Judged
    is_original: BoolArray
    brought: BoolArray

    def only(self, systems: Iterable[str]) -> PooledLabels:
        """What would be known if no other than these systems had been pooled.

        Pairs that only others brought become unjudged. Raises ValueError for an unknown system.
        """
        wanted = set(systems)
        unknown = wanted - self.runs.keys()
        if unknown:
            raise ValueError(f"not in the pool: {', '.join(sorted(unknown))}")
        chosen = np.array([system in wanted for system in self.runs], dtype=np.bool_)
        lost = self.brought[~chosen].any(axis=0) & ~self.brought[chosen].any(axis=0)
        kept = ~lost | self.is_original
        return PooledLabels(
            {system: ranked for system, ranked in self.runs.items() if system in wanted},
            self.depth,
            _select(self.labels, kept),
            self.is_original[kept],
            self.brought[chosen][:, kept],
        )

    def without(self, system: str) -> PooledLabels:
        """What would be known if this system had not been pooled."""
        return self.only(other for other in self.runs if other != system)

    def brought_alone(self, system: str) -> Judged:
        """The labels of the pairs that no other system brought, without the original positives."""
        return _select(self.labels, self.is_alone(system))

    def is_alone(self, system: str) -> BoolArray:
        """Flags [J] of these labels; all others are those of `without(system)`."""
        place = list(self.runs).index(system)
        others = np.delete(self.brought, place, axis=0).any(axis=0)
        return np.asarray(self.brought[place] & ~others & ~self.is_original)


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """One system, scored with all labels and without those of the pairs that it alone brought.

    pairs, positives: how many pairs it alone brought, and how many of these are relevant.
    """

    system: str
    pairs: int
    positives: int
    with_all: RunScores
    without: RunScores

    def bias(self, measure: Measure) -> Estimate:
        """Score without minus score with its pairs, in the measure's unit: mostly negative.

        For measures that divide by all positives (R, AP, nDCG) it can be positive, and for ranks
        (MedR, MeanR) a positive bias is a loss.
        """
        return _difference(self.without, self.with_all, measure)


@dataclass(frozen=True, slots=True)
class Growth:
    """Mean bias of one system that is not in the pool, over pools of `pooled` other systems.

    pools: how many such pools were scored, of `possible` ones.
    """

    system: str
    pooled: int
    pools: int
    possible: int
    bias: Mapping[Measure, Estimate]


def gather_pool(
    runs: Mapping[str, npt.NDArray[Any]], depth: int, judged: Judged, original: Judged
) -> PooledLabels:
    """Find out which systems brought each label.

    runs: ranked lists as for `score_run`, by name; their top `depth` was pooled. Scores are taken
    over the whole lists: cut these to `depth` where what lies below was not judged.

    Raises ValueError for a depth below 1, a malformed run and label sets of another benchmark.
    """
    if depth < 1:
        raise ValueError("the depth of a pool must be at least 1")
    labels = with_positives(judged, original)
    brought = np.zeros((len(runs), len(labels.codes)), dtype=np.bool_)
    for place, ranked in enumerate(runs.values()):
        check_ranked(ranked, labels)
        brought[place] = _are_ranked(ranked[:, :depth], labels)
    is_original = np.zeros(len(labels.codes), dtype=np.bool_)
    is_original[np.searchsorted(labels.codes, original.positives()[0])] = True
    return PooledLabels(dict(runs), depth, labels, is_original, brought)


def leave_one_out(
    pool: PooledLabels, measures: Iterable[Measure], rel: int = 1
) -> tuple[LeftOut, ...]:
    """Score each pooled system as it is, and as if it alone had not been pooled.

    rel: the gain from which on a pair is positive, as in `score_run`. Twice S scorings.
    """
    asked = tuple(measures)
    rows = []
    for system, ranked in pool.runs.items():
        alone = pool.is_alone(system)
        rows.append(
            LeftOut(
                system,
                pairs=int(np.count_nonzero(alone)),
                positives=int(np.count_nonzero(pool.labels.gains[alone] >= rel)),
                with_all=score_run(ranked, pool.labels, asked, rel),
                without=score_run(ranked, _select(pool.labels, ~alone), asked, rel),
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
    """How the bias of a system outside of the pool shrinks as more systems are pooled.

    For each system and each m from 1 to S - 1: its score with the labels of m others minus its
    score with all labels, its own included; the mean over all choices of the m others, or over
    `max_pools` different ones drawn at random where there are more. At m = S - 1 this is the bias
    of `leave_one_out`. Undefined as soon as one of the scores is.

    Up to S * (S - 1) * max_pools scorings. Raises ValueError for max_pools below 1.
    """
    if max_pools < 1:
        raise ValueError("max_pools must be at least 1")
    asked = tuple(measures)
    rows = []
    for system, ranked in pool.runs.items():
        with_all = score_run(ranked, pool.labels, asked, rel)
        others = [other for other in pool.runs if other != system]
        for pooled in range(1, len(others) + 1):
            chosen = _choose_pools(others, pooled, max_pools, rng)
            scores = [score_run(ranked, pool.only(names).labels, asked, rel) for names in chosen]
            bias = {
                measure: _mean([_difference(score, with_all, measure) for score in scores])
                for measure in asked
            }
            rows.append(Growth(system, pooled, len(chosen), comb(len(others), pooled), bias))
    return tuple(rows)


def _select(labels: Judged, kept: BoolArray) -> Judged:
    return Judged(labels.codes[kept], labels.gains[kept], labels.n_queries, labels.n_videos)


def _are_ranked(ranked: npt.NDArray[Any], labels: Judged) -> BoolArray:
    """Flags [J] of the labels whose pairs these lists hold.

    Block by block of queries, as in `relevance.look_up_gains`: ranked cells are marked in a small
    dense table, and the labels read there.
    """
    found = np.zeros(len(labels.codes), dtype=np.bool_)
    space = labels.space
    block = max(1, _TABLE_CELLS // max(1, space.n_videos))
    table = np.zeros(PairSpace(block, space.n_videos).n_pairs, dtype=np.bool_)
    for start in range(0, len(ranked), block):
        part = ranked[start : start + block]
        cells = space.encode(np.arange(len(part))[:, None], part)[part >= 0]
        known = labels.rows_of(start, start + len(part))
        table[cells] = True
        found[known] = table[labels.codes[known] - space.encode(start, 0)]
        table[cells] = False
    return found


def _choose_pools(
    systems: Sequence[str], size: int, limit: int, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """All choices of `size` systems, or `limit` different ones where there are more."""
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
    """Mean of at least one estimate, or the first reason why there is none."""
    values = [estimate.value for estimate in estimates if estimate.value is not None]
    if len(values) < len(estimates):
        return next(estimate for estimate in estimates if estimate.value is None)
    return Estimate(float(np.mean(values)))
