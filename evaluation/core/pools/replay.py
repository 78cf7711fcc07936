"""Cheaper pools, tried out on one that was judged in full.

Nothing is taken to be judged but the original positives. A strategy says which pair it would have
had judged next, the label that people gave is revealed, and so on to the last pair of the pool. At
a series of budgets all systems are scored with what is known by then: how far are they from their
scores with all labels, and do they stand in the same order? A pair not revealed counts as not
relevant, as in any pool.

A strategy computes an order of all pooled pairs:

depth          by the best rank in any run: at the sizes of `depth_sizes`, pools of depth 1, 2, …
uniform        at random, as when a share of the pool is drawn
move-to-front  stay with a run as long as it brings relevant pairs. Each one that is not costs it
               one point, and the run with the highest number of points is asked next (Cormack,
               Palmer and Clarke, SIGIR 1998; the local variant, for each query on its own)
max-mean       runs are arms of a bandit, relevant pairs their reward. Ask the run with the highest
               mean of its Beta posterior, (hits + 1) / (asked + 2) from a uniform prior (Losada,
               Parapar and Barreiro, Feeling lucky?, SAC 2016)
thompson       the same with a number drawn from each posterior in place of its mean. The draws are
               compared as -ln(1 - x), which keeps their order: for x from Beta(h + 1, m + 1) it
               is the sum of E_i / (m + 1 + i) for i = 0 … h, where the E_i are independent
               exponential numbers (Renyi 1953, order statistics of uniform numbers)

Move-to-front and the bandits learn query by query, and only about the run they ask. It brings the
pair it ranks highest among those not revealed. Of equal runs the one whose turn comes first is
asked: query q begins with run q modulo the number of runs, so that no system's pairs come first.

The budget is shared fairly: all queries have their first pair revealed, then all of them their
second, until the pool of a query is used up; by depth, all queries their first run's first rank,
then their second run's. Within such a step queries come in a random order, for a budget ends
amid a step, and neighbouring queries often are captions of one video.

Every order has a random part, so one replay is one draw. `replay_seeds` draws several and computes
once what all of them share: the steps of the strategies without chance, and the scores. Between two
budgets only queries with a newly revealed positive change their value, and this value follows from
the positives that the query has so far. So each such state of each query is scored once, and a
budget only looks its values up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.people.agreement import Estimate
from evaluation.core.pools.leave_out import PooledLabels
from evaluation.core.relevance.judged import MAX_GAIN, Judged
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.rank_stability import NOT_TWO_SYSTEMS
from evaluation.core.statistics.slices import kendall_tau_b
from pooling.core.pair_space import PairSpace

Draw: TypeAlias = Callable[[np.random.Generator], IntArray]
"""rng -> the place of each pooled pair in the order of judging, a permutation of 0 … N - 1, int64
[N]. Pairs are ordered as in `pooled_rows`."""

Strategy: TypeAlias = Callable[[PooledLabels, int], Draw]
"""(pool, rel) -> the function that draws an order. Work that all seeds share is done once, here."""

SHARES: Final = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)

# float32 is exact for counts of pairs and twice as fast.
_Points: TypeAlias = npt.NDArray[np.float32]

# Points of each run [S, B], from pairs that it brought when asked: hits and misses, [S, B] each.
_Preference: TypeAlias = Callable[[_Points, _Points], _Points]

_GAINS: Final = MAX_GAIN + 1

# What all steps of a block of queries touch stays in a core's own cache.
_BLOCK_CELLS: Final = 1 << 17

# Finished queries are dropped if a smaller share than this has pairs left.
_CROWDED: Final = 0.9


@dataclass(frozen=True, slots=True)
class Budget:
    """What is known when so many pairs are judged.

    pairs: judged pairs, a `share` of the pool; positives: those of them that are relevant.
    scores: by system. error: the largest distance of one of them from its score with all labels.
    tau: Kendall's tau-b of the systems' scores with those with all labels.
    """

    pairs: int
    share: float
    positives: int
    scores: tuple[float, ...]
    error: float
    tau: Estimate


@dataclass(frozen=True, slots=True)
class Replay:
    """One strategy: its budgets, ascending, and the scores of the systems with all labels."""

    strategy: str
    measure: Measure
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    budgets: tuple[Budget, ...]

    def enough(self, error: float) -> Budget | None:
        """The smallest budget from which on no score is further off; None if there is none.

        Only the budgets that were replayed are known: one in between may do as well.
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
    """Replay each strategy once: `replay_seeds` with a single seed."""
    found = replay_seeds(pool, measure, strategies, shares, seeds=1, rng=rng, rel=rel)
    return tuple(one for (one,) in found)


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
    """Replay each strategy (None: all) `seeds` times on a pool that is judged in full.

    Return the replays of each strategy, in the order of `strategies`, one per seed.

    pool: as from `gather_pool`. Runs are scored down to the depth of the pool, with the labels of
    pooled pairs and the original positives alone: whatever else was judged is not the pool's. A
    pooled pair without a label cannot be replayed and is left out.
    shares: of the pool, 0 to 1, rounded up to pairs. The sizes of all pools of smaller depth are
    replayed, too, so that each strategy can be held against them at the same price.
    rel: the gain from which on a pair is relevant.

    Raises ValueError for fewer than one seed, for a pool without any label, for a share out of
    bounds, and for MedR, which can be undefined.

    With S systems and Q queries, P of whose pooled pairs are relevant: S scorings of Q + P lists
    for each order of the positives, and S * Q look-ups for each budget. Judged@k changes with each
    of the N pairs, so that P is N there.
    """
    if measure.name == "MedR":
        raise ValueError("MedR can be undefined: replay another measure")
    if seeds < 1:
        raise ValueError("the number of seeds must be at least 1")
    pooled = pooled_rows(pool)
    if pooled.size == 0:
        raise ValueError("no pair of the pool has a label")
    sizes = np.union1d(_as_pairs(shares, len(pooled)), depth_sizes(pool)).astype(np.int64)
    chosen = STRATEGIES if strategies is None else strategies
    # All strategies use the same seeds, so that a replay does not depend on the other strategies.
    drawn = rng.integers(1 << 62, size=seeds).tolist()
    replays = []
    for name, strategy in chosen.items():
        draw, scored = strategy(pool, rel), _States(pool, measure, rel)
        replays.append(
            tuple(scored.replay(name, draw(np.random.default_rng(one)), sizes) for one in drawn)
        )
    return tuple(replays)


def _as_pairs(shares: Iterable[float], n_pairs: int) -> list[int]:
    wanted = list(shares)
    if not all(0 <= share <= 1 for share in wanted):
        raise ValueError("a share lies between 0 and 1")
    # 0.07 * 100 is 7.000000000000001, which is not 8.
    return [math.ceil(round(share * n_pairs, 6)) for share in wanted]


# --- scores by what is revealed -------------------------------------------------------------------


class _States:
    """The values of all queries, by the number of their revealed pairs.

    Only pairs that can change a value are distinguished: the positives that are not original ones,
    and for Judged@k all pairs but the originals. The values of the last order are kept: strategies
    without chance reveal the pairs of a query in the same order for every seed, and most queries
    have few positives.
    """

    def __init__(self, pool: PooledLabels, measure: Measure, rel: int) -> None:
        self._pool, self._measure, self._rel = pool, measure, rel
        counts = pool.labels.gains >= (0 if measure.name == "Judged" else 1)
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
        # [S, Q + P], the states of a query one after another.
        self._values = np.empty((len(pool.runs), len(self._query_of)))

    def replay(self, name: str, place: IntArray, sizes: IntArray) -> Replay:
        """Return the replay of one order, as from a `Draw`, at these ascending numbers of pairs."""
        own = place[self._varies]
        # By query, and within it in the order of revealing.
        sequence = np.argsort(self._query * len(place) + own)
        self._score(sequence)
        found = np.searchsorted(np.sort(place[self._positives]), sizes)
        scores = self._means(own, sizes)
        return _as_replay(name, self._measure, tuple(self._pool.runs), sizes, found, scores)

    def _means(self, place: IntArray, sizes: IntArray) -> FloatArray:
        """Return mean values at each number of pairs: [B, S], by the place of each pair [P]."""
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
        """Score the states of this order of pairs, by query, that the last order did not have."""
        if self._sequence is None:
            scored = np.arange(len(self._values[0]))
        else:
            changed = np.zeros(len(self._starts), dtype=np.bool_)
            changed[self._query[sequence[sequence != self._sequence]]] = True
            # All orders have the same state before the first pair and after the last one.
            changed = changed[self._query_of]
            changed[self._starts] = changed[self._ends - 1] = False
            scored = np.flatnonzero(changed)
        self._sequence = sequence
        if scored.size == 0:
            return
        known, measure = self._known(sequence, scored), self._measure
        for values, lists in zip(self._values, self._pool.runs.values(), strict=True):
            ranked = lists[self._query_of[scored], : self._pool.depth]
            values[scored] = score_run(ranked, known, (measure,), self._rel).per_query(measure)

    def _known(self, sequence: IntArray, scored: IntArray) -> Judged:
        """Return the known labels in each of these states; states take the place of queries."""
        labels = self._pool.labels
        revealed, query = self._rows[sequence], self._query[sequence]
        of_fixed = labels.space.queries(labels.codes[self._fixed])
        # The n-th revealed pair of a query is known from its n-th state on. Each earlier query has
        # one state more than pairs.
        first = np.concatenate([self._starts[of_fixed], np.arange(len(query)) + query + 1])
        times = self._ends[np.concatenate([of_fixed, query])] - first
        rows = np.repeat(np.concatenate([self._fixed, revealed]), times)
        state = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times - first, times)
        number = np.full(len(self._query_of), -1, dtype=np.int64)
        number[scored] = np.arange(len(scored))
        state, kept = number[state], number[state] >= 0
        state, rows = state[kept], rows[kept]
        states = PairSpace(len(scored), labels.n_videos)
        codes = states.encode(state, labels.space.videos(labels.codes[rows]))
        # Sorting one key is several times as fast as sorting by several.
        codes, gains = np.divmod(np.sort(codes * _GAINS + labels.gains[rows]), _GAINS)
        return Judged(codes, gains.astype(np.int8), len(scored), labels.n_videos)


def _as_replay(
    name: str,
    measure: Measure,
    systems: tuple[str, ...],
    sizes: IntArray,
    positives: IntArray,
    scores: FloatArray,
) -> Replay:
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
    """Return the systems' ranks. Scores that differ only by rounding are tied."""
    return tuple(np.unique(scores.round(12), return_inverse=True)[1].tolist())


@lru_cache(maxsize=1024)
def _tau(full: tuple[int, ...], ranks: tuple[int, ...]) -> Estimate:
    """Return Kendall's tau-b by ranks. Few different ranks recur at most budgets."""
    return kendall_tau_b(full, ranks) if len(full) > 1 else Estimate(None, NOT_TWO_SYSTEMS)


# --- strategies -----------------------------------------------------------------------------------


def order_by_depth(pool: PooledLabels, rel: int = 1) -> Draw:
    """Strategy "depth": by best rank; pairs of equal best rank in the turn of their runs."""
    steps = _first_cells(pool)
    return _by_steps(pool, steps)


def order_at_random(pool: PooledLabels, rel: int = 1) -> Draw:
    """Strategy "uniform"."""
    n_pairs = len(pooled_rows(pool))
    return lambda rng: rng.permutation(n_pairs)


def order_by_move_to_front(pool: PooledLabels, rel: int = 1) -> Draw:
    """Strategy "move-to-front"."""
    steps = _ask(pool, [*_cells_by_block(pool)], lambda hits, misses: -misses, rel)
    return _by_steps(pool, steps)


def order_by_max_mean(pool: PooledLabels, rel: int = 1) -> Draw:
    """Strategy "max-mean"."""
    blocks = [*_cells_by_block(pool)]
    steps = _ask(pool, blocks, lambda hits, misses: (hits + 1) / (hits + misses + 2), rel)
    return _by_steps(pool, steps)


def order_by_thompson(pool: PooledLabels, rel: int = 1) -> Draw:
    """Strategy "thompson"."""
    blocks = [*_cells_by_block(pool)]

    def draw(rng: np.random.Generator) -> IntArray:
        steps = _ask(pool, blocks, lambda hits, misses: _posterior_draws(hits, misses, rng), rel)
        return _by_steps(pool, steps)(rng)

    return draw


def _posterior_draws(hits: _Points, misses: _Points, rng: np.random.Generator) -> _Points:
    """Return -ln(1 - x) for x drawn from Beta(hits + 1, misses + 1), see the module."""
    points = _exponential(hits.shape, rng)
    points /= misses + np.float32(1)
    cell = np.flatnonzero(hits > 0)
    more_hits, more_misses = hits.reshape(-1)[cell], misses.reshape(-1)[cell]
    term = 1
    while cell.size:
        drawn = _exponential(len(cell), rng)
        points.reshape(-1)[cell] += drawn / (more_misses + np.float32(1 + term))
        term += 1
        kept = more_hits >= term
        cell, more_hits, more_misses = cell[kept], more_hits[kept], more_misses[kept]
    return points


def _exponential(shape: int | tuple[int, ...], rng: np.random.Generator) -> _Points:
    """Draw exponential numbers by inversion: faster than `Generator.standard_exponential`."""
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
    """How many pairs the pools of depth 1, 2, … down to the pool's own have: int64 [depth]."""
    rank = _first_cells(pool)[pooled_rows(pool)] // max(1, len(pool.runs))
    return np.cumsum(np.bincount(rank, minlength=pool.depth))


def pooled_rows(pool: PooledLabels) -> IntArray:
    """Rows of the labels whose pairs a run brought, ascending."""
    return np.flatnonzero(pool.brought.any(axis=0))


def _by_steps(pool: PooledLabels, steps: IntArray) -> Draw:
    """Pooled pairs by their step, and within a step by a random order of the queries.

    steps: int64 [J], none twice in a query.
    """
    rows, n_queries = pooled_rows(pool), pool.labels.n_queries
    query = pool.labels.space.queries(pool.labels.codes[rows])
    first_seat = steps[rows] * n_queries
    n_seats = int(first_seat.max(initial=0)) + n_queries

    def draw(rng: np.random.Generator) -> IntArray:
        seat = first_seat + rng.permutation(n_queries)[query]
        # No place is taken twice, and few are empty, so counting them is faster than sorting.
        taken = np.zeros(n_seats, dtype=np.bool_)
        taken[seat] = True
        return np.asarray((np.cumsum(taken) - 1)[seat])

    return draw


def _first_cells(pool: PooledLabels) -> IntArray:
    """Where each label's pair comes first: best rank (from 0) * runs + turn of the run, [J]."""
    first = np.zeros(len(pool.labels.codes) + 2, dtype=np.int64)
    for cells in _cells_by_block(pool):
        n_runs, _, width = cells.shape
        # From the last cell to the first, so that the first one stays.
        for place in reversed(range(n_runs * width)):
            rank, turn = divmod(place, n_runs)
            first[cells[turn, :, rank]] = place
    return first[:-2]


# --- runs that are asked for pairs ----------------------------------------------------------------


def _ask(pool: PooledLabels, blocks: Iterable[IntArray], prefer: _Preference, rel: int) -> IntArray:
    """The step, from 0, in which each label's query has its pair revealed: int64 [J].

    In each step every query asks the run that `prefer` gives the most points. blocks: as from
    `_cells_by_block`.
    """
    relevant = pool.labels.gains >= rel
    steps = np.zeros(len(relevant), dtype=np.int64)
    # The two rows behind the labels stand for "no label", always passed over, and for "no more".
    told = np.append(np.zeros(len(relevant), dtype=np.bool_), [True, False])
    for cells in blocks:
        for step, rows in enumerate(_ask_block(cells, relevant, told, prefer)):
            steps[rows] = step
    return steps


def _ask_block(
    cells: IntArray, relevant: BoolArray, told: BoolArray, prefer: _Preference
) -> Iterator[IntArray]:
    """The rows revealed in each step, at most one for each of B queries; marks them in `told`."""
    flat, n_labels = cells.reshape(-1), len(relevant)
    hits, misses, bar = np.zeros((3, *cells.shape[:2]), dtype=np.float32)
    # The place of each run in its list, and the row that it offers there, [S, B].
    at = np.arange(hits.size).reshape(hits.shape) * cells.shape[2]
    offered = flat[at]
    passed = told[offered]
    while True:
        _pass_over(flat, at, offered, passed, told)
        # A run without more pairs is never chosen, and its earlier pairs no longer matter.
        ended = passed & (offered > n_labels)
        bar[ended], hits[ended] = -np.inf, 0
        run = _first_highest(prefer(hits, misses) + bar)
        query = np.arange(offered.shape[1])
        rows = offered[run, query]
        asked = rows < n_labels
        n_asked = np.count_nonzero(asked)
        if n_asked == 0:
            return
        if n_asked < _CROWDED * len(rows):
            at, offered, hits, misses, bar = (
                np.compress(asked, values, axis=1) for values in (at, offered, hits, misses, bar)
            )
            run, rows, query, asked = run[asked], rows[asked], query[:n_asked], asked[asked]
        passed = (offered == rows) & asked
        run, rows, query = run[asked], rows[asked], query[asked]
        told[rows] = True
        found = relevant[rows]
        hits[run, query] += found
        misses[run, query] += ~found
        yield rows


def _pass_over(
    flat: IntArray, at: IntArray, offered: IntArray, passed: BoolArray, told: BoolArray
) -> None:
    """Move the runs `passed` [S, B] on to their next unrevealed rows, in `at` and `offered`."""
    at, offered = at.reshape(-1), offered.reshape(-1)
    cell = np.flatnonzero(passed)
    while cell.size:
        at[cell] += 1
        rows = flat[at[cell]]
        offered[cell] = rows
        cell = cell[told[rows]]


def _first_highest(points: _Points) -> IntArray:
    """Return the first run with the most points: [B] from [S, B]. Argmax is slower for few rows."""
    run, most = np.zeros(points.shape[1], dtype=np.int64), points[0].copy()
    for place, own in enumerate(points[1:], start=1):
        run[own > most] = place
        np.maximum(most, own, out=most)
    return run


def _cells_by_block(pool: PooledLabels) -> Iterator[IntArray]:
    """The runs' lists as rows of `pool.labels`, [S, B, depth + 1], for B queries at a time.

    Runs stand in the turn of each query. J (the number of labels) stands for a pair without a label
    and for padding, J + 1 in the last column for the end of the list.
    """
    block = max(1, _BLOCK_CELLS // (max(1, len(pool.runs)) * (pool.depth + 1)))
    for start in range(0, pool.labels.n_queries, block):
        yield _cells(pool, start, min(start + block, pool.labels.n_queries))


def _cells(pool: PooledLabels, start: int, stop: int) -> IntArray:
    labels, n_runs = pool.labels, len(pool.runs)
    ranked = np.full((n_runs, stop - start, pool.depth), -1, dtype=np.int64)
    for lists, run in zip(ranked, pool.runs.values(), strict=True):
        top = run[start:stop, : pool.depth]
        lists[:, : top.shape[1]] = top
    query = np.arange(start, stop)
    ranked = ranked[(query + np.arange(n_runs)[:, None]) % max(1, n_runs), query - start]
    known = labels.rows_of(start, stop)
    codes = labels.codes[known]
    wanted = labels.space.encode(query[:, None], ranked)
    place = np.searchsorted(codes, wanted)
    missing = (ranked < 0) | (np.append(codes, -1)[place] != wanted)
    cells = np.where(missing, len(labels.codes), known.start + place)
    ends = np.full((*cells.shape[:2], 1), len(labels.codes) + 1)
    return np.concatenate([cells, ends], axis=2)
