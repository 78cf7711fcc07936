"""Building pools: the pairs to judge, from the ranked lists of runs or from imported judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from config.accounts.actors import Actor, account_of
from config.audit.services import record
from config.shared.bulk import copy_columns, lock_row, long_transaction, reserve_ids
from config.shared.errors import InvalidInput
from config.shared.limits import check_depth, check_seed
from config.shared.progress import Progress, no_progress
from pooling.core.equal_texts import text_pair_codes
from pooling.core.pool import new_codes, pair_codes, sample_queries, union_codes
from pooling.enums import PoolingAct, PoolStrategy
from pooling.models import Benchmark, Pair, Pool, Run
from pooling.policies import check_can_build_pool, check_can_pool
from pooling.selectors.arrays import query_ids, video_ids
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.pools import pair_arrays
from pooling.selectors.runs import find_runs, ranked_matrix

Int64Array = npt.NDArray[np.int64]


class PoolReport(TypedDict):
    """A built pool in the result of a job and in the output of `--json`."""

    pool: int
    pairs: int
    new_pairs: int
    tasks: int | None


@dataclass(frozen=True, slots=True)
class BuiltPool:
    """A pool. `created` is False if the same pool was already stored."""

    pool: Pool
    created: bool

    def report(self) -> PoolReport:
        return {
            "pool": self.pool.pk,
            "pairs": self.pool.n_pairs,
            "new_pairs": self.pool.n_new_pairs if self.created else 0,
            "tasks": self.pool.n_tasks,
        }


def build_pool(
    *,
    benchmark: Benchmark,
    depth: int,
    by: Actor,
    run_names: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> BuiltPool:
    """Pool the top `depth` of the named runs, or of all runs if none is named.

    Only pairs that no earlier pool contains are stored. `sample` limits the pool to that number of
    queries, drawn by a seeded hash.

    Raises `NotPermitted` if `by` may not build this pool. Raises `InvalidInput` if a run does not
    exist, if the benchmark has no run, or if an option is out of range.
    """
    check_can_pool(by, benchmark, runs=run_names, depth=depth, sample=sample)
    check_depth(depth)
    check_seed(seed)
    if sample is not None and not 1 <= sample <= benchmark.n_queries:
        raise InvalidInput(
            f"The sample must have 1 to {benchmark.n_queries:,} captions, not {sample:,}."
        )
    runs = find_runs(benchmark, run_names)
    if not runs:
        raise InvalidInput(f"{benchmark.key} has no run to pool. Import one with import_run.")
    codes = _pooled_codes(benchmark, runs, depth, sample, seed, progress)
    progress(len(runs), len(runs), "storing pairs")
    with long_transaction():
        lock_row(benchmark)
        fresh = new_codes(codes, pair_arrays(benchmark).codes)
        same = _same_pool(benchmark, runs, depth, sample, seed)
        n_tasks = _count_tasks(benchmark, codes)
        if same is not None and not len(fresh):
            if same.n_tasks is None:  # built before pools stored this count
                same.n_tasks = n_tasks
                same.save(update_fields=["n_tasks"])
            return BuiltPool(same, created=False)
        pool = Pool.objects.create(
            benchmark=benchmark,
            strategy=PoolStrategy.DEPTH_K,
            depth=depth,
            sample_size=sample,
            seed=seed,
            n_pairs=len(codes),
            n_new_pairs=len(fresh),
            n_tasks=n_tasks,
            created_by=account_of(by),
        )
        pool.runs.set(runs)
        _copy_pairs(pool, fresh)
        record(PoolingAct.POOL_BUILT, by=by, on=pool, after={"depth": depth, "pairs": len(codes)})
    return BuiltPool(pool, created=True)


def add_judged_pairs(
    *, benchmark: Benchmark, codes: Int64Array, by: Actor
) -> tuple[Pool, Int64Array]:
    """Store a pool of pairs that were judged elsewhere. Return it and the pairs' primary keys.

    The caller's transaction stores the judgments of these pairs as well.
    codes: int64 [n], ascending and unique. The keys are int64 [n] in the same order.
    """
    check_can_build_pool(by, benchmark)
    known = pair_arrays(benchmark)
    fresh = new_codes(codes, known.codes)
    pool = Pool.objects.create(
        benchmark=benchmark,
        strategy=PoolStrategy.JUDGED,
        n_pairs=len(codes),
        n_new_pairs=len(fresh),
        n_tasks=_count_tasks(benchmark, codes),
        created_by=account_of(by),
    )
    fresh_ids = _copy_pairs(pool, fresh)
    record(PoolingAct.POOL_BUILT, by=by, on=pool, after={"pairs": len(codes)})
    all_codes = np.concatenate([known.codes, fresh])
    all_ids = np.concatenate([known.ids, fresh_ids])
    order = np.argsort(all_codes, kind="stable")
    return pool, all_ids[order[np.searchsorted(all_codes, codes, sorter=order)]]


def _pooled_codes(
    benchmark: Benchmark,
    runs: Sequence[Run],
    depth: int,
    sample: int | None,
    seed: int,
    progress: Progress,
) -> Int64Array:
    drawn = None if sample is None else sample_queries(benchmark.n_queries, sample, seed)
    found = []
    for number, run in enumerate(runs):
        progress(number, len(runs), "pooling runs")
        ranked = ranked_matrix(run, depth)
        if drawn is not None:
            ranked = ranked[drawn]
        found.append(pair_codes(ranked, depth, benchmark.pair_space, drawn))
    return union_codes(found)


def _count_tasks(benchmark: Benchmark, codes: Int64Array) -> int:
    """Return the number of tasks for the pairs: one for each caption text and video."""
    text_pairs = text_pair_codes(codes, first_equal_captions(benchmark), benchmark.pair_space)
    return len(union_codes([text_pairs]))


def recount_tasks(benchmark: Benchmark) -> None:
    """Count the tasks of each pool again after the rule for equal texts has changed.

    The pairs of a pool of imported judgments are not stored with it, so its count becomes empty.
    """
    for pool in benchmark.pools.prefetch_related("runs"):
        pool.n_tasks = None
        if pool.depth is not None:
            size, seed = pool.sample_size, pool.seed
            runs = list(pool.runs.all())
            codes = _pooled_codes(benchmark, runs, pool.depth, size, seed, no_progress)
            pool.n_tasks = _count_tasks(benchmark, codes)
        pool.save(update_fields=["n_tasks"])


def _same_pool(
    benchmark: Benchmark, runs: Sequence[Run], depth: int, sample: int | None, seed: int
) -> Pool | None:
    """Return the stored pool of the same runs with the same options, if there is one."""
    wanted = {run.pk for run in runs}
    alike = Pool.objects.filter(
        benchmark=benchmark, depth=depth, sample_size=sample, seed=seed
    ).prefetch_related("runs")
    return next((pool for pool in alike if {run.pk for run in pool.runs.all()} == wanted), None)


def _copy_pairs(pool: Pool, codes: Int64Array) -> Int64Array:
    benchmark = pool.benchmark
    ids = reserve_ids(Pair, len(codes))
    queries, videos = benchmark.pair_space.decode(codes)
    copy_columns(
        Pair,
        {
            "id": ids,
            "query_id": query_ids(benchmark)[queries],
            "video_id": video_ids(benchmark)[videos],
            "pool_id": pool.pk,
        },
    )
    return ids
