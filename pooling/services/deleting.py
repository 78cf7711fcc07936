"""Deleting benchmarks, runs, pools, proxies, train captions and tags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import connection, transaction

from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.bulk import lock_row
from hearth.shared.deleting import Plan, deletion
from hearth.shared.errors import Conflict
from pooling.enums import PoolingAct
from pooling.models import Benchmark, Pair, Pool, Proxy, Run, Tag, TrainSplit
from pooling.policies import (
    check_can_build_pool,
    check_can_delete_proxy,
    check_can_delete_run,
    check_can_import_metadata,
    check_can_manage_benchmark,
)


def delete_run(*, run: Run, by: Actor) -> Plan:
    """Delete a run with its ranked lists and scores. Return what was deleted.

    Raises `NotPermitted` if `by` may not change the run, and `Conflict` if a pool contains it.
    """
    check_can_delete_run(by, run)
    with deletion(run, lock=run.benchmark) as plan:
        before = {"name": run.name, "sha256": run.sha256}
        record(PoolingAct.RUN_DELETED, by=by, on=run, before=before, after=plan.facts)
        plan.carry_out()
    return plan


def delete_pool(*, pool: Pool, by: Actor) -> Plan:
    """Delete a pool that no campaign uses, with its pairs. Return what was deleted.

    Raises `NotPermitted` if `by` may not build pools, and `Conflict` if a campaign or a later pool
    depends on its pairs.
    """
    check_can_build_pool(by, pool.benchmark)
    with deletion(pool, lock=pool.benchmark) as plan:
        before = {"depth": pool.depth, "pairs": pool.n_pairs}
        record(PoolingAct.POOL_DELETED, by=by, on=pool, before=before, after=plan.facts)
        plan.carry_out()
    return plan


def delete_proxy(*, proxy: Proxy, by: Actor) -> Plan:
    """Delete a proxy with its file. Return what was deleted."""
    check_can_delete_proxy(by, proxy)
    with deletion(proxy, lock=proxy.benchmark) as plan:
        before = {"name": proxy.name, "sha256": proxy.sha256}
        record(PoolingAct.PROXY_DELETED, by=by, on=proxy, before=before, after=plan.facts)
        plan.carry_out()
    return plan


def delete_train_split(*, split: TrainSplit, by: Actor) -> Plan:
    """Delete train captions. Return what was deleted."""
    check_can_import_metadata(by, split.benchmark)
    with deletion(split, lock=split.benchmark) as plan:
        before = {"name": split.name, "sha256": split.sha256}
        act = PoolingAct.TRAIN_CAPTIONS_DELETED
        record(act, by=by, on=split, before=before, after=plan.facts)
        plan.carry_out()
    return plan


@transaction.atomic
def delete_tags(*, benchmark: Benchmark, imported_at: datetime, by: Actor) -> int:
    """Delete the tags that were imported together at this time. Return their number.

    Tags that the import replaced are not restored. Raises `Conflict` if no such tags are left.
    """
    check_can_import_metadata(by, benchmark)
    lock_row(benchmark)
    number, _ = Tag.objects.filter(benchmark=benchmark, created_at=imported_at).delete()
    if not number:
        raise Conflict("These tags are already deleted or replaced.")
    record(PoolingAct.TAGS_DELETED, by=by, on=benchmark, before={"tags": number})
    return number


def delete_benchmark(*, benchmark: Benchmark, by: Actor) -> Plan:
    """Delete a benchmark that has no judgments and no label sets, with all its data and files.

    Return what was deleted. The roles of people in the benchmark stay. Raises `NotPermitted` if
    `by` does not lead the benchmark, and `Conflict` if an obstacle exists.
    """
    check_can_manage_benchmark(by, benchmark)
    with deletion(benchmark, lock=benchmark) as plan:
        before = {"key": benchmark.key, "name": benchmark.name}
        record(PoolingAct.BENCHMARK_DELETED, by=by, on=benchmark, before=before, after=plan.facts)
        with _index_of_pairs():
            plan.carry_out()
    return plan


@contextmanager
def _index_of_pairs() -> Iterator[None]:
    """Index the pairs by video while videos are deleted.

    For each deleted video, the database looks for pairs that refer to it. `Pair.video` has no
    index, because it would slow down the building of pools. Without an index, each lookup would
    read the whole table.
    """
    table = connection.ops.quote_name(Pair._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # PostgreSQL cannot create an index while deferred checks of the table are pending.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"CREATE INDEX pair_video_of_deletion ON {table} (video_id)")
        yield
        cursor.execute("DROP INDEX pair_video_of_deletion")
