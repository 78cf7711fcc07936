"""Cheaper pools, tried out on one that was judged in full.

Nothing is taken to be judged but the original positives. A strategy says which pair it would have
had judged next, the label that people gave is revealed, and so on to the last pair of the pool. At
a series of budgets all systems are scored with what is known by then: how far are they from their
scores with all labels, and do they stand in the same order? A pair not revealed counts as not
relevant, as in any pool.

A strategy answers with an order of all pooled pairs:

depth          by the best rank in any run: at the sizes of `depth_sizes`, pools of depth 1, 2, …
uniform        at random, as when a share of the pool is drawn
move-to-front  stay with a run as long as it brings relevant pairs. Each one that is not costs it
               one point, and the run with the highest number of points is asked next (Cormack,
               Palmer and Clarke, SIGIR 1998; the local variant, for each query on its own)
max-mean       runs are arms of a bandit, relevant pairs their reward. Ask the run with the highest
               mean of its Beta posterior, (hits + 1) / (asked + 2) from a uniform prior (Losada,
               Parapar and Barreiro, Feeling lucky?, SAC 2016)
thompson       the same with a number drawn from each posterior in place of its mean

Move-to-front and the bandits learn query by query, and only about the run they ask. It brings the
pair it ranks highest among those not revealed. Of equal runs the one whose turn comes first is
asked: query q begins with run q modulo the number of runs, so that no system's pairs come first.

The budget is shared fairly: all queries have their first pair revealed, then all of them their
second, until the pool of a query is used up; by depth, all queries their first run's first rank,
then their second run's. Within such a step queries come in a random order, for a budget ends
amid a step, and neighbouring queries often are captions of one video.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.core.agreement import Estimate
from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.leave_out import PooledLabels
from evaluation.core.measures import Measure
from evaluation.core.rank_stability import NOT_TWO_SYSTEMS
from evaluation.core.relevance import Judged
from evaluation.core.scoring import score_run
from evaluation.core.slices import kendall_tau_b

Strategy: TypeAlias = Callable[[PooledLabels, np.random.Generator, int], IntArray]
"""(pool, rng, rel) -> rows of `pool.labels`, int64 [N], those of all pooled pairs in the order in
which they are judged. `pool.labels.codes[rows]` are the pairs."""

SHARES: Final = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)

# Points of each run [S, B], from pairs that it brought when asked: hits and misses, [S, B] each.
_Preference: TypeAlias = Callable[[IntArray, IntArray], npt.NDArray[Any]]

# What all steps of a block of queries touch stays in a core's own cache.
_BLOCK_CELLS: Final = 1 << 17


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
    """Replay the strategies (None: all) on a pool that is judged in full.

    pool: as from `gather_pool`. Runs are scored down to the depth of the pool, with the labels of
    pooled pairs and the original positives alone: whatever else was judged is not the pool's. A
    pooled pair without a label cannot be replayed and is left out.
    shares: of the pool, 0 to 1, rounded up to pairs. The sizes of all pools of smaller depth are
    replayed, too, so that each strategy can be held against them at the same price.
    rel: the gain from which on a pair is relevant.

    Raises ValueError for a pool without any label, for a share out of bounds, and for MedR, which
    can be undefined.

    With S systems, N pairs and B budgets: S * B scorings for each strategy, beside which the
    orders cost little.
    """
    if measure.name == "MedR":
        raise ValueError("MedR can be undefined: replay another measure")
    pooled = _pooled_rows(pool)
    if pooled.size == 0:
        raise ValueError("no pair of the pool has a label")
    sizes = sorted({*_as_pairs(shares, len(pooled)), *depth_sizes(pool).tolist()})
    full = _score(pool, _known(pool, pooled, measure), measure, rel)
    chosen = STRATEGIES if strategies is None else strategies
    # One seed for all, so that a replay does not hang on which others are asked for.
    seed = int(rng.integers(1 << 62))
    replays = []
    for name, strategy in chosen.items():
        order = strategy(pool, np.random.default_rng(seed), rel)
        budgets = tuple(_reveal(pool, order, size, full, measure, rel) for size in sizes)
        replays.append(Replay(name, measure, tuple(pool.runs), full, budgets))
    return tuple(replays)


def _as_pairs(shares: Iterable[float], n_pairs: int) -> list[int]:
    wanted = list(shares)
    if not all(0 <= share <= 1 for share in wanted):
        raise ValueError("a share lies between 0 and 1")
    # 0.07 * 100 is 7.000000000000001, which is not 8.
    return [math.ceil(round(share * n_pairs, 6)) for share in wanted]


def _reveal(
    pool: PooledLabels,
    order: IntArray,
    size: int,
    full: Sequence[float],
    measure: Measure,
    rel: int,
) -> Budget:
    rows = order[:size]
    scores = _score(pool, _known(pool, rows, measure), measure, rel)
    undefined = Estimate(None, NOT_TWO_SYSTEMS)
    return Budget(
        pairs=size,
        share=size / len(order),
        positives=int(np.count_nonzero(pool.labels.gains[rows] >= rel)),
        scores=scores,
        error=max(abs(score - known) for score, known in zip(scores, full, strict=True)),
        tau=kendall_tau_b(full, scores) if len(full) > 1 else undefined,
    )


def _known(pool: PooledLabels, rows: IntArray, measure: Measure) -> Judged:
    """The original positives and the labels in these rows, as far as `measure` asks for them.

    To all but Judged@k a pair that is not relevant is one without a label, and there are ten times
    as many of these.
    """
    labels, kept = pool.labels, pool.is_original.copy()
    kept[rows] = True
    if measure.name != "Judged":
        kept &= labels.gains >= 1
    return Judged(labels.codes[kept], labels.gains[kept], labels.n_queries, labels.n_videos)


def _score(pool: PooledLabels, known: Judged, measure: Measure, rel: int) -> tuple[float, ...]:
    ranked = (lists[:, : pool.depth] for lists in pool.runs.values())
    scores = (score_run(lists, known, (measure,), rel) for lists in ranked)
    return tuple(float(score.per_query(measure).mean()) for score in scores)


# --- strategies -----------------------------------------------------------------------------------


def order_by_depth(pool: PooledLabels, rng: np.random.Generator, rel: int = 1) -> IntArray:
    """Strategy "depth": by best rank; pairs of equal best rank in the turn of their runs."""
    return _in_steps(pool, _first_cells(pool), rng)


def order_at_random(pool: PooledLabels, rng: np.random.Generator, rel: int = 1) -> IntArray:
    """Strategy "uniform"."""
    return rng.permutation(_pooled_rows(pool))


def order_by_move_to_front(pool: PooledLabels, rng: np.random.Generator, rel: int = 1) -> IntArray:
    """Strategy "move-to-front"."""
    return _in_steps(pool, _ask(pool, lambda hits, misses: -misses, rel), rng)


def order_by_max_mean(pool: PooledLabels, rng: np.random.Generator, rel: int = 1) -> IntArray:
    """Strategy "max-mean"."""
    steps = _ask(pool, lambda hits, misses: (hits + 1) / (hits + misses + 2), rel)
    return _in_steps(pool, steps, rng)


def order_by_thompson(pool: PooledLabels, rng: np.random.Generator, rel: int = 1) -> IntArray:
    """Strategy "thompson"."""
    steps = _ask(pool, lambda hits, misses: rng.beta(hits + 1, misses + 1), rel)
    return _in_steps(pool, steps, rng)


STRATEGIES: Final[Mapping[str, Strategy]] = {
    "depth": order_by_depth,
    "uniform": order_at_random,
    "move-to-front": order_by_move_to_front,
    "max-mean": order_by_max_mean,
    "thompson": order_by_thompson,
}


def depth_sizes(pool: PooledLabels) -> IntArray:
    """How many pairs the pools of depth 1, 2, … down to the pool's own have: int64 [depth]."""
    rank = _first_cells(pool)[_pooled_rows(pool)] // max(1, len(pool.runs))
    return np.cumsum(np.bincount(rank, minlength=pool.depth))


def _pooled_rows(pool: PooledLabels) -> IntArray:
    """Rows of the labels whose pairs a run brought, ascending."""
    return np.flatnonzero(pool.brought.any(axis=0))


def _in_steps(pool: PooledLabels, steps: IntArray, rng: np.random.Generator) -> IntArray:
    """The pooled rows by their step, and within a step by a random order of the queries.

    steps: int64 [J], none twice in a query.
    """
    rows = _pooled_rows(pool)
    query = pool.labels.codes[rows] // pool.labels.n_videos
    seat = rng.permutation(pool.labels.n_queries)
    return rows[np.argsort(steps[rows] * len(seat) + seat[query])]


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


def _ask(pool: PooledLabels, prefer: _Preference, rel: int) -> IntArray:
    """The step, from 0, in which each label's query has its pair revealed: int64 [J].

    In each step every query asks the run that `prefer` gives the most points.
    """
    relevant = pool.labels.gains >= rel
    steps = np.zeros(len(relevant), dtype=np.int64)
    # The two rows behind the labels stand for "no label", always passed over, and for "no more".
    told = np.append(np.zeros(len(relevant), dtype=np.bool_), [True, False])
    for cells in _cells_by_block(pool):
        for step, rows in enumerate(_ask_block(cells, relevant, told, prefer)):
            steps[rows] = step
    return steps


def _ask_block(
    cells: IntArray, relevant: BoolArray, told: BoolArray, prefer: _Preference
) -> Iterator[IntArray]:
    """The rows revealed in each step, at most one for each of B queries; marks them in `told`."""
    rank, hits, misses = np.zeros((3, *cells.shape[:2]), dtype=np.int64)
    while True:
        offered = _next_untold(cells, rank, told)
        points = np.where(offered < len(relevant), prefer(hits, misses), -np.inf)
        run = points.argmax(axis=0)
        rows = offered[run, np.arange(len(run))]
        query = np.flatnonzero(rows < len(relevant))
        if query.size == 0:
            return
        run, rows = run[query], rows[query]
        told[rows] = True
        hits[run, query] += relevant[rows]
        misses[run, query] += ~relevant[rows]
        yield rows


def _next_untold(cells: IntArray, rank: IntArray, told: BoolArray) -> IntArray:
    """What each run offers each query next, [S, B]; moves `rank` [S, B] on to where it stands."""
    starts = np.arange(rank.size).reshape(rank.shape) * cells.shape[2]
    while True:
        offered: IntArray = cells.reshape(-1)[starts + rank]
        passed = told[offered]
        if not passed.any():
            return offered
        rank += passed


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
    wanted = query[:, None] * labels.n_videos + ranked
    place = np.searchsorted(codes, wanted)
    missing = (ranked < 0) | (np.append(codes, -1)[place] != wanted)
    cells = np.where(missing, len(labels.codes), known.start + place)
    ends = np.full((*cells.shape[:2], 1), len(labels.codes) + 1)
    return np.concatenate([cells, ends], axis=2)
