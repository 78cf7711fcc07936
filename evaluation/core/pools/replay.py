"""Simulation of cheaper pools on a pool that is judged completely.

At the start, only the original positives are known. A strategy of `judging_orders` selects the next
pair, the label of this pair is revealed, and so on until the last pair of the pool. At a series of
budgets, all systems are scored with the labels revealed so far. The results are compared with the
scores from all labels: how large is the difference, and is the order of the systems the same? An
unrevealed pair counts as not relevant, as in any pool.

Every order has a random part: at least the order of the queries within a step. So one replay is one
random draw. `replay_seeds` makes several replays and computes only once what they have in common:
the steps of strategies without other random choices, and the scores. Between two budgets, a query's
value changes only if one of its positives is revealed, and it depends only on the revealed
positives. The revealed positives of a query are its state. Each state is scored once, and its value
is looked up for each budget. Judged@k changes with every revealed pair, but it needs only the
number of judged pairs in the top k.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Final

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.agreement import Estimate
from evaluation.core.pools.judging_orders import STRATEGIES, Strategy, depth_sizes, pooled_rows
from evaluation.core.pools.leave_out import PooledLabels, are_ranked
from evaluation.core.relevance.judged import MAX_GAIN, Judged
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.rank_stability import NOT_TWO_SYSTEMS
from evaluation.core.statistics.slices import kendall_tau_b
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists

SHARES: Final = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)

_GAINS: Final = MAX_GAIN + 1


@dataclass(frozen=True, slots=True)
class Budget:
    """The scores after a certain number of judged pairs.

    pairs: number of judged pairs. share: share of the pool that is judged. positives: number of
    judged pairs that are relevant. scores: score of each system. error: largest absolute difference
    between a score and the same score from all labels. tau: Kendall's tau-b between the scores and
    the scores from all labels.
    """

    pairs: int
    share: float
    positives: int
    scores: tuple[float, ...]
    error: float
    tau: Estimate


@dataclass(frozen=True, slots=True)
class Replay:
    """One replay of one strategy: its budgets, ascending, and the scores from all labels."""

    strategy: str
    measure: Measure
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    budgets: tuple[Budget, ...]

    def enough(self, error: float) -> Budget | None:
        """Return the smallest budget from which on all errors are at most `error`, or None.

        Only the replayed budgets are examined. A smaller budget between two of them can be enough.
        """
        close = takewhile(lambda budget: budget.error <= error, reversed(self.budgets))
        return min(close, key=lambda budget: budget.pairs, default=None)


def replay_seeds(
    pool: PooledLabels,
    measure: Measure,
    strategies: Mapping[str, Strategy] | None = None,
    shares: Iterable[float] = SHARES,
    *,
    seeds: int,
    rng: np.random.Generator,
    rel: int = 1,
) -> tuple[tuple[Replay, ...], ...]:
    """Replay each strategy `seeds` times on a pool that is judged completely.

    Return the replays of each strategy, in the order of `strategies`, one per seed.

    pool: the result of `gather_pool`. Runs are scored down to the depth of the pool, and only with
    the labels of pooled pairs and the original positives. Pooled pairs without a label are ignored.
    strategies: the strategies by name; None for all. shares: budgets as shares of the pool, 0
    to 1, rounded up to whole pairs. The sizes of all pools of smaller depth are budgets, too, so
    that strategies can be compared with these pools at the same cost. rel: the lowest gain that
    counts as relevant.

    Raises ValueError if there is no seed, no pair of the pool has a label, a share is out of
    bounds, or the measure is MedR, which can be undefined.

    Running time: let S be the number of systems, Q that of queries and P that of relevant pooled
    pairs. Each order of the positives needs S scorings of Q + P lists, and each budget S * Q
    look-ups. For Judged@k, an order needs no scorings.
    """
    if measure.kind.can("mean"):
        raise ValueError(f"{measure} can be undefined: replay another measure")
    if seeds < 1:
        raise ValueError("the number of seeds must be at least 1")
    pooled = pooled_rows(pool)
    if pooled.size == 0:
        raise ValueError("no pair of the pool has a label")
    sizes = np.union1d(_as_pairs(shares, len(pooled)), depth_sizes(pool)).astype(np.int64)
    # All strategies use the same seeds, so that a replay does not depend on the other strategies.
    drawn = rng.integers(1 << 62, size=seeds).tolist()
    make_scorer = _JudgedShares if measure.kind.counts_judged else _States
    replays = []
    for name, strategy in (STRATEGIES if strategies is None else strategies).items():
        draw, scorer = strategy(pool, rel), make_scorer(pool, measure, rel)
        orders = (draw(np.random.default_rng(seed)) for seed in drawn)
        replays.append(tuple(scorer.replay(name, place, sizes) for place in orders))
    return tuple(replays)


def _as_pairs(shares: Iterable[float], n_pairs: int) -> list[int]:
    """Return shares of the pool as numbers of pairs, rounded up."""
    requested = list(shares)
    if not all(0 <= share <= 1 for share in requested):
        raise ValueError("a share must be between 0 and 1")
    # 0.07 * 100 is 7.000000000000001 in floating point and must not be rounded up to 8.
    return [math.ceil(round(share * n_pairs, 6)) for share in requested]


# --- scores from revealed labels ------------------------------------------------------------------


class _States:
    """The values of all queries in all states. A state is a number of revealed pairs of a query.

    Only pairs that can change a value are counted, which are positives that are not original
    positives. The values of the previous order are reused if the order of a query's pairs is the
    same. This is frequent: with a strategy that does not choose pairs at random, the order is the
    same for every seed, and most queries have few positives.
    """

    def __init__(self, pool: PooledLabels, measure: Measure, rel: int) -> None:
        self._pool, self._measure, self._rel = pool, measure, rel
        counts = pool.labels.gains >= 1
        rows = pooled_rows(pool)
        self._varies = np.flatnonzero(counts[rows] & ~pool.is_original[rows])
        self._positives = np.flatnonzero(pool.labels.gains[rows] >= rel)
        self._rows = rows[self._varies]
        self._fixed = np.flatnonzero(counts & pool.is_original)
        self._query = pool.labels.space.queries(pool.labels.codes[self._rows])
        n_states = np.bincount(self._query, minlength=pool.labels.n_queries) + 1
        self._ends = np.cumsum(n_states)
        self._starts = self._ends - n_states
        self._query_of = np.repeat(np.arange(len(n_states)), n_states)
        self._sequence: IntArray | None = None
        # [S, Q + P]; the states of a query are adjacent.
        self._values = np.empty((len(pool.runs), len(self._query_of)))

    def replay(self, name: str, place: IntArray, sizes: IntArray) -> Replay:
        """Return the replay of one order.

        place: int64 [N], from a `judging_orders.DrawOrder`. sizes: ascending numbers of pairs, the
        budgets.
        """
        own = place[self._varies]
        # Sort by query and, within a query, by the order of revealing.
        sequence = np.argsort(self._query * len(place) + own)
        self._score(sequence)
        positives = np.searchsorted(np.sort(place[self._positives]), sizes)
        scores = self._means(own, sizes)
        return _as_replay(name, self._measure, tuple(self._pool.runs), sizes, positives, scores)

    def _means(self, place: IntArray, sizes: IntArray) -> FloatArray:
        """Return the mean value of each system at each budget, [B, S].

        place: int64 [P], the position of each pair that can change a value.
        """
        arrival = np.argsort(place)
        queries = self._query[arrival]
        state = self._starts.copy()
        means = np.empty((len(sizes), len(self._values)))
        done = 0
        for row, end in enumerate(np.searchsorted(place[arrival], sizes).tolist()):
            state += np.bincount(queries[done:end], minlength=len(state))
            means[row] = [values[state].mean() for values in self._values]
            done = end
        return means

    def _score(self, sequence: IntArray) -> None:
        """Score the states of this order that differ from those of the previous order.

        sequence: int64 [P], pairs sorted by query and, within a query, by the order of revealing.
        """
        if self._sequence is None:
            scored = np.arange(len(self._values[0]))
        else:
            changed = np.zeros(len(self._starts), dtype=np.bool_)
            changed[self._query[sequence[sequence != self._sequence]]] = True
            # The states before a query's first pair and after its last one are the same in all
            # orders.
            changed = changed[self._query_of]
            changed[self._starts] = changed[self._ends - 1] = False
            scored = np.flatnonzero(changed)
        self._sequence = sequence
        if scored.size == 0:
            return
        known, measure = self._known_labels(sequence, scored), self._measure
        for values, lists in zip(self._values, self._pool.runs.values(), strict=True):
            items = lists.items[self._query_of[scored], : self._pool.depth]
            ranked = RankedLists(items, lists.n_items)
            values[scored] = score_run(ranked, known, (measure,), self._rel).per_query(measure)

    def _known_labels(self, sequence: IntArray, scored: IntArray) -> Judged:
        """Return the labels that are known in each of these states.

        In the result, each state is a query. Its number is the index of the state in `scored`.
        """
        labels = self._pool.labels
        revealed, query = self._rows[sequence], self._query[sequence]
        of_fixed = labels.space.queries(labels.codes[self._fixed])
        # The n-th revealed pair of a query is known from the query's n-th state on. `+ query` is
        # needed because each earlier query has one state more than it has pairs.
        first = np.concatenate([self._starts[of_fixed], np.arange(len(query)) + query + 1])
        times = self._ends[np.concatenate([of_fixed, query])] - first
        rows = np.repeat(np.concatenate([self._fixed, revealed]), times)
        state = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times - first, times)
        number = np.full(len(self._query_of), -1, dtype=np.int64)
        number[scored] = np.arange(len(scored))
        state, is_scored = number[state], number[state] >= 0
        state, rows = state[is_scored], rows[is_scored]
        states = PairSpace(len(scored), labels.n_videos)
        codes = states.encode(state, labels.space.videos(labels.codes[rows]))
        # Code and gain are sorted as one key, because sorting by two keys is several times slower.
        codes, gains = np.divmod(np.sort(codes * _GAINS + labels.gains[rows]), _GAINS)
        return Judged(codes, gains.astype(np.int8), len(scored), labels.n_videos)


class _JudgedShares:
    """Judged@k of each query after each number of revealed pairs.

    The value is the number of judged pairs in the top k, divided by the length of the top k.
    """

    def __init__(self, pool: PooledLabels, measure: Measure, rel: int) -> None:
        labels, rows = pool.labels, pooled_rows(pool)
        depth = min(measure.cutoff or pool.depth, pool.depth)
        query = labels.space.queries(labels.codes)
        tops = [ranked.top(depth) for ranked in pool.runs.values()]
        in_top = np.stack([are_ranked(top, labels) for top in tops])
        self._measure, self._systems = measure, tuple(pool.runs)
        self._positives = np.flatnonzero(labels.gains[rows] >= rel)
        self._lengths = np.stack([np.maximum(top.lengths, 1) for top in tops])
        # [S, Q]: the number of judged pairs if only the original positives are known.
        originals = in_top & pool.is_original
        self._known = np.stack(
            [np.bincount(query[own], minlength=labels.n_queries) for own in originals]
        )
        # [S, N]: whether a pooled pair that is not an original positive is in the top k.
        self._in_top = in_top[:, rows] & ~pool.is_original[rows]
        self._query = query[rows]

    def replay(self, name: str, place: IntArray, sizes: IntArray) -> Replay:
        """Return the replay of one order. Arguments as in `_States.replay`."""
        arrival, counts = np.argsort(place), self._known.copy()
        scores, done = np.empty((len(sizes), len(counts))), 0
        for row, size in enumerate(sizes.tolist()):
            new, done = arrival[done:size], size
            for system, in_top in enumerate(self._in_top):
                queries = self._query[new[in_top[new]]]
                counts[system] += np.bincount(queries, minlength=counts.shape[1])
            scores[row] = [values.mean() for values in counts / self._lengths]
        positives = np.searchsorted(np.sort(place[self._positives]), sizes)
        return _as_replay(name, self._measure, self._systems, sizes, positives, scores)


def _as_replay(
    name: str,
    measure: Measure,
    systems: tuple[str, ...],
    sizes: IntArray,
    positives: IntArray,
    scores: FloatArray,
) -> Replay:
    """Return a replay from its budgets [B], numbers of positives [B] and scores [B, S]."""
    full = tuple(scores[-1].tolist())
    errors = np.abs(scores - scores[-1]).max(axis=1)
    ranks = [_ranks(row) for row in scores]
    budgets = tuple(
        Budget(size, size / int(sizes[-1]), count, tuple(row), error, _tau(ranks[-1], rank))
        for size, count, row, error, rank in zip(
            sizes.tolist(), positives.tolist(), scores.tolist(), errors.tolist(), ranks, strict=True
        )
    )
    return Replay(name, measure, systems, full, budgets)


def _ranks(scores: FloatArray) -> tuple[int, ...]:
    """Return the rank of each score. Scores that differ only by rounding errors share a rank."""
    return tuple(np.unique(scores.round(12), return_inverse=True)[1].tolist())


@lru_cache(maxsize=1024)
def _tau(full: tuple[int, ...], ranks: tuple[int, ...]) -> Estimate:
    """Return Kendall's tau-b of two rankings. It is cached, because the same rankings recur."""
    return kendall_tau_b(full, ranks) if len(full) > 1 else Estimate(None, NOT_TWO_SYSTEMS)
