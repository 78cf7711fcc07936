"""Building pools: the pairs to judge, from runs and proxies or from imported judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import copy_columns, lock_row, long_transaction, reserve_ids
from hearth.shared.errors import Outdated
from hearth.shared.options import as_params
from hearth.shared.progress import Progress, no_progress
from hearth.shared.words import counted
from pooling.core.pool import new_codes
from pooling.core.pool_options import PoolOptions
from pooling.core.strata import Stratum, pack_stratum
from pooling.enums import PoolingAct, PoolStrategy
from pooling.models import Benchmark, Pair, Pool, PoolStratum, Run
from pooling.policies import check_can_build_pool, check_can_pool
from pooling.selectors import pool_plan
from pooling.selectors.arrays import query_ids, video_ids
from pooling.selectors.pools import pair_arrays
from pooling.selectors.proxies import get_proxy
from pooling.signals import pool_built

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
    options: PoolOptions,
    by: Actor,
    expected: str = "",
    progress: Progress = no_progress,
) -> BuiltPool:
    """Store the pool that these options select, with the pairs that no pool contains yet.

    expected: the `sha256` of the preview that the person has seen; empty if there was none.

    Raises `NotPermitted` if `by` may not build this pool. Raises `InvalidInput` if a run does not
    exist or is withdrawn, if the options need a run and the benchmark has none, or if an option is
    out of range. Raises `Outdated` if the new pairs are not those of the preview.
    """
    check_can_pool(by, benchmark, options)
    candidates = pool_plan.find_candidates(benchmark, options, progress)
    progress(1, 1, "storing pairs")
    with long_transaction():
        lock_row(benchmark)
        built = _previewed_pool(benchmark, expected)
        if built is not None:  # the job was interrupted after its commit
            return BuiltPool(built, created=False)
        plan = pool_plan.plan_of(candidates)
        if expected and expected != plan.sha256:
            raise Outdated(
                "The runs or pools have changed since the preview. This pool would now have "
                f"{counted(len(plan.new), 'new pair')}. Look at the preview again."
            )
        same = _same_pool(benchmark, plan.runs, options)
        if same is not None and not len(plan.new):
            if same.n_tasks is None:  # built before pools stored this count
                same.n_tasks = plan.n_tasks
                same.save(update_fields=["n_tasks"])
            return BuiltPool(same, created=False)
        pool = _store_pool(benchmark, plan, options, by)
    return BuiltPool(pool, created=True)


def _store_pool(
    benchmark: Benchmark, plan: pool_plan.PoolPlan, options: PoolOptions, by: Actor
) -> Pool:
    pool = Pool.objects.create(
        benchmark=benchmark,
        strategy=PoolStrategy.DEPTH_K,
        sha256=plan.sha256,
        n_pairs=len(plan.codes),
        n_new_pairs=len(plan.new),
        n_tasks=plan.n_tasks,
        created_by=account_of(by),
        **_columns(benchmark, options),
    )
    pool.runs.set(plan.runs)
    _copy_pairs(pool, plan.new)
    _store_strata(pool, plan.strata)
    after: dict[str, Any] = {"depth": options.depth, "pairs": len(plan.codes)}
    if pool.limits:
        after["limits"] = pool.limits
    record(PoolingAct.POOL_BUILT, by=by, on=pool, after=after)
    pool_built.send(Pool, benchmark=benchmark)
    return pool


def _columns(benchmark: Benchmark, options: PoolOptions) -> dict[str, Any]:
    values = as_params(options)
    values["sample_size"] = values.pop("sample")
    values["proxy"] = get_proxy(benchmark, options.proxy) if options.proxy else None
    values["strata"] = " ".join(map(str, options.ranks))
    del values["runs"]
    return values


def add_judged_pairs(
    *,
    benchmark: Benchmark,
    codes: Int64Array,
    by: Actor,
    strategy: PoolStrategy = PoolStrategy.JUDGED,
    strata: Sequence[Stratum] = (),
) -> tuple[Pool, Int64Array]:
    """Store a pool of pairs that no runs select. Return it and the pairs' primary keys.

    The caller's transaction stores the judgments or the tasks of these pairs as well. strategy: why
    the pool has these pairs. strata: those of the pairs, if judgments state them.
    codes: int64 [n], ascending and unique. The primary keys are int64 [n] in the same order.
    """
    check_can_build_pool(by, benchmark)
    known = pair_arrays(benchmark)
    fresh = new_codes(codes, known.codes)
    pool = Pool.objects.create(
        benchmark=benchmark,
        strategy=strategy,
        n_pairs=len(codes),
        n_new_pairs=len(fresh),
        n_tasks=len(pool_plan.text_pairs_of(benchmark, codes)),
        created_by=account_of(by),
    )
    fresh_ids = _copy_pairs(pool, fresh)
    _store_strata(pool, strata)
    record(PoolingAct.POOL_BUILT, by=by, on=pool, after={"pairs": len(codes)})
    all_codes = np.concatenate([known.codes, fresh])
    all_ids = np.concatenate([known.ids, fresh_ids])
    order = np.argsort(all_codes, kind="stable")
    return pool, all_ids[order[np.searchsorted(all_codes, codes, sorter=order)]]


def recount_tasks(benchmark: Benchmark) -> None:
    """Count the tasks of each pool again after the rule for equal texts has changed.

    The count of a pool of imported judgments becomes None, because only the new pairs of such a
    pool are stored.
    """
    for pool in benchmark.pools.prefetch_related("runs"):
        codes = pool_plan.codes_of_pool(pool)
        pool.n_tasks = None if codes is None else len(pool_plan.text_pairs_of(benchmark, codes))
        pool.save(update_fields=["n_tasks"])


def _previewed_pool(benchmark: Benchmark, expected: str) -> Pool | None:
    """Return the stored pool with the new pairs of a preview, if there is one."""
    if not expected:
        return None
    return benchmark.pools.filter(sha256=expected, n_new_pairs__gt=0).first()


def _same_pool(benchmark: Benchmark, runs: Sequence[Run], options: PoolOptions) -> Pool | None:
    """Return the stored pool of the same runs with the same options, if there is one."""
    wanted = {run.pk for run in runs}
    alike = Pool.objects.filter(
        benchmark=benchmark, **_columns(benchmark, options)
    ).prefetch_related("runs")
    return next((pool for pool in alike if {run.pk for run in pool.runs.all()} == wanted), None)


def _store_strata(pool: Pool, strata: Sequence[Stratum]) -> None:
    rows = []
    for position, stratum in enumerate(strata):
        codes, drawn = pack_stratum(stratum)
        ranks = stratum.ranks
        rows.append(
            PoolStratum(
                pool=pool,
                position=position,
                name=stratum.name,
                first_rank=None if ranks is None else ranks.first,
                last_rank=None if ranks is None else ranks.last,
                rate=None if ranks is None else ranks.rate,
                n_pairs=len(stratum.codes),
                n_drawn=stratum.n_drawn,
                codes=codes,
                drawn=drawn,
            )
        )
    PoolStratum.objects.bulk_create(rows)


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
