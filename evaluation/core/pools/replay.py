"""Simulation of cheaper pools on a pool that is judged completely.

At the start, only the original positives are known. A strategy selects the next pair, the label of
this pair is revealed, and so on until the last pair of the pool. At a series of budgets, all
systems are scored with the labels revealed so far. The results are compared with the scores from
all labels: how large is the difference, and is the order of the systems the same? An unrevealed
pair counts as not relevant, as in any pool.

A strategy computes an order of all pooled pairs:

depth          By the best rank in any run. At the sizes of `depth_sizes`, these are the pools of
               depth 1, 2, …
uniform        At random, as if a share of the pool was drawn.
move-to-front  Take pairs from the same run while they are relevant. A run loses one point for each
               pair that is not relevant. The next pair is from the run with the most points
               (Cormack, Palmer and Clarke, SIGIR 1998, the local variant: each query separately).
max-mean       Runs are the arms of a bandit, and relevant pairs are the reward. The next pair is
               from the run with the highest mean of its Beta posterior, (hits + 1) / (judged + 2)
               with a uniform prior (Losada, Parapar and Barreiro, Feeling lucky?, SAC 2016).
thompson       As max-mean, with a random number from each posterior instead of its mean. The code
               compares -ln(1 - x) instead of x, which has the same order. For x from
               Beta(h + 1, m + 1) it is the sum of E_i / (m + 1 + i) for i = 0 … h, with independent
               exponential numbers E_i (Renyi 1953, order statistics of uniform numbers).

Move-to-front and the bandits learn for each query separately. A revealed pair counts only for the
run from which it was taken. A run provides its highest-ranked unrevealed pair. If several runs are
equal, the first one in the query's own order is used. The order of query q begins with run q modulo
the number of runs, so that no system is preferred.

The budget is divided equally. In the first step, every query has one pair revealed, in the second
step a second pair, until the pool of a query is complete. For "depth", the steps are: rank 1 of
each query's first run, rank 1 of its second run, and so on. Within a step, queries are in random
order, because a budget can end within a step, and neighbouring queries are often captions of one
video.

Every order has a random part, so one replay is one random draw. `replay_seeds` makes several
replays and computes only once what they have in common: the steps of strategies that are not
random, and the scores. Between two budgets, a query's value changes only if one of its positives is
revealed, and it depends only on the revealed positives. Each such state of each query is therefore
scored once, and a budget looks up the values. Judged@k changes with every revealed pair, but it
needs only the number of judged pairs in the top k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.people.agreement import Estimate
from evaluation.core.pools.leave_out import PooledLabels, are_ranked
from evaluation.core.relevance.judged import MAX_GAIN, Judged
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.rank_stability import NOT_TWO_SYSTEMS
from evaluation.core.statistics.slices import kendall_tau_b
from pooling.core.pair_space import PairSpace

DrawOrder: TypeAlias = Callable[[np.random.Generator], IntArray]
"""A function from a generator to the position of each pooled pair in the order of judging: a
permutation of 0 … N - 1, int64 [N]. Pairs are numbered as in `pooled_rows`."""

Strategy: TypeAlias = Callable[[PooledLabels, int], DrawOrder]
"""A function from (pool, rel) to the function that draws an order. It does the work that all seeds
have in common."""

SHARES: Final = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)

# float32 is exact for counts of pairs and twice as fast.
_Points: TypeAlias = npt.NDArray[np.float32]

# A function from hits and misses to points, [S, B] each. Hits and misses are the numbers of
# relevant and of other pairs that were taken from each run.
_Preference: TypeAlias = Callable[[_Points, _Points], _Points]

_GAINS: Final = MAX_GAIN + 1

# Queries are processed in blocks whose data fits into the cache of a processor core.
_BLOCK_CELLS: Final = 1 << 17

# Completed queries are removed from a block when the share of other queries is below this.
_CROWDED: Final = 0.9


@dataclass(frozen=True, slots=True)
class Budget:
    """The scores after a certain number of judged pairs.

    pairs: number of judged pairs. share: share of the pool that is judged. positives: number of
    judged pairs that are relevant. scores: score of each system. error: largest absolute difference
    of a score to the same score from all labels. tau: Kendall's tau-b between the scores and the
    scores from all labels.
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
        """Return the smallest budget from which on no error exceeds `error`, or None.

        Only the replayed budgets are examined. A smaller budget between two of them can be enough.
        """
        close = takewhile(lambda budget: budget.error <= error, reversed(self.budgets))
        return min(close, key=lambda budget: budget.pairs, default=None)


def replay(
    pool: PooledLabels,
    measure: Measure,
    strategies: Mapping[str, Strategy] | None = None,
    shares: Iterable[float] = SHARES,
    *,
    rng: np.random.Generator,
    rel: int = 1,
) -> tuple[Replay, ...]:
    """Replay each strategy once. Arguments and errors as in `replay_seeds`."""
    replays = replay_seeds(pool, measure, strategies, shares, seeds=1, rng=rng, rel=rel)
    return tuple(one for (one,) in replays)


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

    pool: from `gather_pool`. Runs are scored down to the depth of the pool, and only with the
    labels of pooled pairs and the original positives. Pooled pairs without a label are ignored.
    strategies: by name; None for all. shares: budgets as shares of the pool, 0 to 1, rounded up to
    whole pairs. The sizes of all pools of smaller depth are budgets, too, so that strategies can be
    compared with these pools at the same cost. rel: the lowest gain that counts as relevant.

    Raises ValueError for fewer than one seed, for a pool without labels, for a share out of bounds,
    and for MedR, which can be undefined.

    Running time: let S be the number of systems, Q that of queries and P that of relevant pooled
    pairs. Each order of the positives needs S scorings of Q + P lists, and each budget S * Q
    look-ups. For Judged@k, an order needs no scorings.
    """
    if measure.name == "MedR":
        raise ValueError("MedR can be undefined: replay another measure")
    if seeds < 1:
        raise ValueError("the number of seeds must be at least 1")
    pooled = pooled_rows(pool)
    if pooled.size == 0:
        raise ValueError("no pair of the pool has a label")
    sizes = np.union1d(_as_pairs(shares, len(pooled)), depth_sizes(pool)).astype(np.int64)
    # All strategies use the same seeds, so that a replay does not depend on the other strategies.
    drawn = rng.integers(1 << 62, size=seeds).tolist()
    make_scorer = _JudgedShares if measure.name == "Judged" else _States
    replays = []
    for name, strategy in (STRATEGIES if strategies is None else strategies).items():
        draw, scorer = strategy(pool, rel), make_scorer(pool, measure, rel)
        orders = (draw(np.random.default_rng(one)) for one in drawn)
        replays.append(tuple(scorer.replay(name, place, sizes) for place in orders))
    return tuple(replays)


def _as_pairs(shares: Iterable[float], n_pairs: int) -> list[int]:
    """Return shares of the pool as numbers of pairs, rounded up."""
    requested = list(shares)
    if not all(0 <= share <= 1 for share in requested):
        raise ValueError("a share lies between 0 and 1")
    # 0.07 * 100 is 7.000000000000001 in floating point and must not be rounded up to 8.
    return [math.ceil(round(share * n_pairs, 6)) for share in requested]


# --- scores from revealed labels ------------------------------------------------------------------


class _States:
    """The values of all queries in all states. A state is a number of revealed pairs of a query.

    Only pairs that can change a value are counted, which are positives that are not original
    positives. The values of the last order are reused if the order of a query's pairs is the same.
    This is frequent: strategies that are not random have the same order for every seed, and most
    queries have few positives.
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

        place: int64 [N], from a `DrawOrder`. sizes: ascending numbers of pairs, the budgets.
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
        """Score the states of this order that differ from those of the last order.

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
            ranked = lists[self._query_of[scored], : self._pool.depth]
            values[scored] = score_run(ranked, known, (measure,), self._rel).per_query(measure)

    def _known_labels(self, sequence: IntArray, scored: IntArray) -> Judged:
        """Return the known labels in each of these states. Each state is a query of the result."""
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
        tops = [ranked[:, :depth] for ranked in pool.runs.values()]
        in_top = np.stack([are_ranked(top, labels) for top in tops])
        self._measure, self._systems = measure, tuple(pool.runs)
        self._positives = np.flatnonzero(labels.gains[rows] >= rel)
        self._lengths = np.stack([_lengths(top) for top in tops])
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


def _lengths(ranked: npt.NDArray[Any]) -> IntArray:
    """Return the length of each list, at least 1, int64 [n_queries]."""
    return np.maximum(np.count_nonzero(ranked >= 0, axis=1), 1)


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
    """Return ranks that can be compared. Scores that differ only by rounding errors tie."""
    return tuple(np.unique(scores.round(12), return_inverse=True)[1].tolist())


@lru_cache(maxsize=1024)
def _tau(full: tuple[int, ...], ranks: tuple[int, ...]) -> Estimate:
    """Return Kendall's tau-b of two rankings. It is cached, because the same rankings recur."""
    return kendall_tau_b(full, ranks) if len(full) > 1 else Estimate(None, NOT_TWO_SYSTEMS)


# --- strategies -----------------------------------------------------------------------------------


def order_by_depth(pool: PooledLabels, rel: int = 1) -> DrawOrder:
    """Strategy "depth": by best rank, then by the query's own order of the runs."""
    return _by_steps(pool, _first_cells(pool))


def order_at_random(pool: PooledLabels, rel: int = 1) -> DrawOrder:
    """Strategy "uniform": at random."""
    n_pairs = len(pooled_rows(pool))
    return lambda rng: rng.permutation(n_pairs)


def order_by_move_to_front(pool: PooledLabels, rel: int = 1) -> DrawOrder:
    """Strategy "move-to-front": from the run with the fewest misses."""
    steps = _judge(pool, [*_cells_by_block(pool)], lambda hits, misses: -misses, rel)
    return _by_steps(pool, steps)


def order_by_max_mean(pool: PooledLabels, rel: int = 1) -> DrawOrder:
    """Strategy "max-mean": from the run with the highest posterior mean."""
    blocks = [*_cells_by_block(pool)]
    steps = _judge(pool, blocks, lambda hits, misses: (hits + 1) / (hits + misses + 2), rel)
    return _by_steps(pool, steps)


def order_by_thompson(pool: PooledLabels, rel: int = 1) -> DrawOrder:
    """Strategy "thompson": from the run with the highest number drawn from its posterior."""
    blocks = [*_cells_by_block(pool)]

    def draw(rng: np.random.Generator) -> IntArray:
        steps = _judge(pool, blocks, lambda hits, misses: _posterior_draws(hits, misses, rng), rel)
        return _by_steps(pool, steps)(rng)

    return draw


def _posterior_draws(hits: _Points, misses: _Points, rng: np.random.Generator) -> _Points:
    """Return -ln(1 - x) for random x from Beta(hits + 1, misses + 1), by the module's formula."""
    points = _exponential(hits.shape, rng)
    points /= misses + np.float32(1)
    cell = np.flatnonzero(hits > 0)
    more_hits, more_misses = hits.reshape(-1)[cell], misses.reshape(-1)[cell]
    term = 1
    while cell.size:
        drawn = _exponential(len(cell), rng)
        points.reshape(-1)[cell] += drawn / (more_misses + np.float32(1 + term))
        term += 1
        has_term = more_hits >= term
        cell, more_hits, more_misses = cell[has_term], more_hits[has_term], more_misses[has_term]
    return points


def _exponential(shape: int | tuple[int, ...], rng: np.random.Generator) -> _Points:
    """Draw exponential numbers by inversion, which is faster than `rng.standard_exponential`."""
    drawn = rng.random(shape, np.float32)
    return np.asarray(-np.log(np.float32(1) - drawn))


STRATEGIES: Final[Mapping[str, Strategy]] = {
    "depth": order_by_depth,
    "uniform": order_at_random,
    "move-to-front": order_by_move_to_front,
    "max-mean": order_by_max_mean,
    "thompson": order_by_thompson,
}


def depth_sizes(pool: PooledLabels) -> IntArray:
    """Return the number of pairs of the pools of depth 1, 2, … up to the pool's own: int64 [depth].

    Only pairs with a label are counted.
    """
    rank = _first_cells(pool)[pooled_rows(pool)] // max(1, len(pool.runs))
    return np.cumsum(np.bincount(rank, minlength=pool.depth))


def pooled_rows(pool: PooledLabels) -> IntArray:
    """Return the indices of the labels of pooled pairs, int64 [N], ascending."""
    return np.flatnonzero(pool.contributed.any(axis=0))


def _by_steps(pool: PooledLabels, steps: IntArray) -> DrawOrder:
    """Order pooled pairs by their step, and within a step by a random order of the queries.

    steps: int64 [J], the step of each label, different for all pairs of a query.
    """
    rows, n_queries = pooled_rows(pool), pool.labels.n_queries
    query = pool.labels.space.queries(pool.labels.codes[rows])
    first_position = steps[rows] * n_queries
    n_positions = int(first_position.max(initial=0)) + n_queries

    def draw(rng: np.random.Generator) -> IntArray:
        position = first_position + rng.permutation(n_queries)[query]
        # All positions differ and few are empty, so counting is faster than sorting.
        occupied = np.zeros(n_positions, dtype=np.bool_)
        occupied[position] = True
        return np.asarray((np.cumsum(occupied) - 1)[position])

    return draw


def _first_cells(pool: PooledLabels) -> IntArray:
    """Return the first cell with each label's pair: best rank * runs + number of the run, [J].

    Ranks are counted from 0, and runs are numbered in the query's own order.
    """
    first = np.zeros(len(pool.labels.codes) + 2, dtype=np.int64)
    for cells in _cells_by_block(pool):
        n_runs, _, width = cells.shape
        # Backwards, so that the first cell overwrites the later ones.
        for place in reversed(range(n_runs * width)):
            rank, run = divmod(place, n_runs)
            first[cells[run, :, rank]] = place
    return first[:-2]


# --- strategies that learn which runs have relevant pairs -----------------------------------------


def _judge(
    pool: PooledLabels, blocks: Iterable[IntArray], prefer: _Preference, rel: int
) -> IntArray:
    """Return the step in which each pair is revealed in its query, from 0: int64 [J].

    In each step, every query reveals a pair of the run that has the most points by `prefer`.
    blocks: from `_cells_by_block`.
    """
    relevant = pool.labels.gains >= rel
    steps = np.zeros(len(relevant), dtype=np.int64)
    # Two further rows: "no label" always counts as revealed, and "end of the list" never does.
    revealed = np.append(np.zeros(len(relevant), dtype=np.bool_), [True, False])
    for cells in blocks:
        for step, rows in enumerate(_judge_block(cells, relevant, revealed, prefer)):
            steps[rows] = step
    return steps


def _judge_block(
    cells: IntArray, relevant: BoolArray, revealed: BoolArray, prefer: _Preference
) -> Iterator[IntArray]:
    """Yield the rows revealed in each step, at most one per query, and mark them in `revealed`."""
    flat, n_labels = cells.reshape(-1), len(relevant)
    hits, misses, penalty = np.zeros((3, *cells.shape[:2]), dtype=np.float32)
    # The position of each run in its list, and the row at this position, [S, B].
    at = np.arange(hits.size).reshape(hits.shape) * cells.shape[2]
    offered = flat[at]
    passed = revealed[offered]
    while True:
        _skip_revealed(flat, at, offered, passed, revealed)
        # A run at the end of its list is never selected, and its points no longer matter.
        ended = passed & (offered > n_labels)
        penalty[ended], hits[ended] = -np.inf, 0
        run = _first_highest(prefer(hits, misses) + penalty)
        query = np.arange(offered.shape[1])
        rows = offered[run, query]
        judged = rows < n_labels
        n_judged = np.count_nonzero(judged)
        if n_judged == 0:
            return
        if n_judged < _CROWDED * len(rows):
            at, offered, hits, misses, penalty = (
                np.compress(judged, values, axis=1)
                for values in (at, offered, hits, misses, penalty)
            )
            run, rows, query, judged = run[judged], rows[judged], query[:n_judged], judged[judged]
        passed = (offered == rows) & judged
        run, rows, query = run[judged], rows[judged], query[judged]
        revealed[rows] = True
        is_relevant = relevant[rows]
        hits[run, query] += is_relevant
        misses[run, query] += ~is_relevant
        yield rows


def _skip_revealed(
    flat: IntArray, at: IntArray, offered: IntArray, passed: BoolArray, revealed: BoolArray
) -> None:
    """Advance the runs `passed` [S, B] to their next unrevealed rows. Change `at` and `offered`."""
    at, offered = at.reshape(-1), offered.reshape(-1)
    cell = np.flatnonzero(passed)
    while cell.size:
        at[cell] += 1
        rows = flat[at[cell]]
        offered[cell] = rows
        cell = cell[revealed[rows]]


def _first_highest(points: _Points) -> IntArray:
    """Return the first run with the most points, [B] from [S, B].

    For few runs this is faster than `argmax`.
    """
    run, most = np.zeros(points.shape[1], dtype=np.int64), points[0].copy()
    for place, own in enumerate(points[1:], start=1):
        run[own > most] = place
        np.maximum(most, own, out=most)
    return run


def _cells_by_block(pool: PooledLabels) -> Iterator[IntArray]:
    """Yield the ranked lists of a block of B queries as indices of labels, [S, B, depth + 1].

    Runs are in each query's own order. The index J (the number of labels) means a pair without a
    label, or padding. The last column is J + 1, the end of the list.
    """
    block = max(1, _BLOCK_CELLS // (max(1, len(pool.runs)) * (pool.depth + 1)))
    for start in range(0, pool.labels.n_queries, block):
        yield _cells(pool, start, min(start + block, pool.labels.n_queries))


def _cells(pool: PooledLabels, start: int, stop: int) -> IntArray:
    """Return the block of the queries from `start` to `stop`, as `_cells_by_block` describes."""
    labels, n_runs = pool.labels, len(pool.runs)
    ranked = np.full((n_runs, stop - start, pool.depth), -1, dtype=np.int64)
    for lists, run in zip(ranked, pool.runs.values(), strict=True):
        top = run[start:stop, : pool.depth]
        lists[:, : top.shape[1]] = top
    query = np.arange(start, stop)
    ranked = ranked[(query + np.arange(n_runs)[:, None]) % max(1, n_runs), query - start]
    known = labels.rows_of(start, stop)
    codes = labels.codes[known]
    ranked_codes = labels.space.encode(query[:, None], ranked)
    place = np.searchsorted(codes, ranked_codes)
    missing = (ranked < 0) | (np.append(codes, -1)[place] != ranked_codes)
    cells = np.where(missing, len(labels.codes), known.start + place)
    ends = np.full((*cells.shape[:2], 1), len(labels.codes) + 1)
    return np.concatenate([cells, ends], axis=2)
