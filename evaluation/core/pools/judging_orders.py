"""The orders in which a simulation of cheaper pools judges the pairs of a pool.

A strategy computes an order of all pooled pairs:

depth          By the best rank in any run. Cut at the sizes of `depth_sizes`, this order gives the
               pools of depth 1, 2, …
uniform        At random, as if a share of the pool were drawn.
move-to-front  Take pairs from the same run while they are relevant. A run loses one point for each
               pair that is not relevant. The next pair is from the run with the most points
               (Cormack, Palmer and Clarke, SIGIR 1998, the local variant: each query separately).
max-mean       Runs are the arms of a bandit, and relevant pairs are the reward. The next pair is
               from the run with the highest mean of its Beta posterior, (hits + 1) / (judged + 2)
               with a uniform prior (Losada, Parapar and Barreiro, Feeling lucky?, SAC 2016).
thompson       As max-mean, with a random number x from each posterior instead of its mean. The code
               compares -ln(1 - x), which has the same order as x. For h hits and m misses, x is
               from Beta(h + 1, m + 1), and -ln(1 - x) is the sum of E_i / (m + 1 + i) for
               i = 0 … h, with independent exponential numbers E_i (Renyi 1953, order statistics of
               uniform numbers).

Move-to-front and the bandits learn for each query separately. A revealed pair counts only for the
run from which it was taken. A run provides its highest-ranked unrevealed pair. If several runs are
equal, the first one in the query's own order is used. The order of query q begins with run q modulo
the number of runs, so that no system is preferred.

The budget is divided equally among the queries. Each step reveals one pair of every query whose
pool is not complete. For "depth", the steps are: rank 1 of each query's first run, rank 1 of its
second run, and so on. Within a step, queries are in random order, because a budget can end within a
step, and neighbouring queries are often captions of one video.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.pools.leave_out import PooledLabels

DrawOrder: TypeAlias = Callable[[np.random.Generator], IntArray]
"""A function from a generator to the position of each pooled pair in the order of judging: a
permutation of 0 … N - 1, int64 [N]. Pairs are numbered as in `pooled_rows`."""

Strategy: TypeAlias = Callable[[PooledLabels, int], DrawOrder]
"""A function from (pool, rel) to a function that draws an order. The outer function does the work
that is the same for all seeds."""

# float32 is exact for counts of pairs and twice as fast.
_Points: TypeAlias = npt.NDArray[np.float32]

# A function from hits and misses to points, [S, B] each, for S runs and a block of B queries. Hits
# and misses are the numbers of relevant and of other pairs that were taken from each run.
_Preference: TypeAlias = Callable[[_Points, _Points], _Points]

# Queries are processed in blocks whose data fits into the cache of a processor core.
_BLOCK_CELLS: Final = 1 << 17

# Completed queries are removed from a block when the share of incomplete queries is below this.
_MIN_INCOMPLETE: Final = 0.9


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
    """Return the sizes of the pools of depth 1, 2, … up to the depth of this pool, int64 [depth].

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
    """Return, for each label, the number of the first cell that contains its pair, int64 [J].

    A cell is a rank of a run. Its number is rank * number of runs + number of the run. Ranks are
    counted from 0, and runs are numbered in the query's own order.
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
    blocks: the result of `_cells_by_block`.
    """
    relevant = pool.labels.gains >= rel
    steps = np.zeros(len(relevant), dtype=np.int64)
    # Two additional rows: "no label" always counts as revealed, and "end of the list" never does.
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
        if n_judged < _MIN_INCOMPLETE * len(rows):
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
        top = run.items[start:stop, : pool.depth]
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
