"""Deleting benchmarks, runs, pools, proxies, train captions and tags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import connection, transaction
from django.urls import reverse

from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.jobs.deleting import Target, deletable
from hearth.shared.bulk import lock_row
from hearth.shared.errors import Conflict
from pooling import policies
from pooling.enums import PoolingAct
from pooling.models import Benchmark, Pair, Pool, Proxy, Run, Tag, TrainSplit

ROLES_STAY = (
    "The roles of people in this benchmark stay. They apply again if a benchmark is imported under "
    "the same key."
)


@deletable(Run, PoolingAct.RUN_DELETED, policies.check_can_delete_run, in_job=True)
def run_to_delete(run: Run) -> Target:
    key = run.benchmark.key
    change = reverse("run-change", args=[key, run.pk])
    return Target(
        noun="run",
        title=run.name,
        before={"name": run.name, "sha256": run.sha256},
        back=change,
        done=reverse("benchmark-runs", args=[key]),
        instead=("", "") if run.is_withdrawn else (change + "#withdraw", "Withdraw it instead"),
    )


@deletable(
    Pool,
    PoolingAct.POOL_DELETED,
    lambda by, pool: policies.check_can_build_pool(by, pool.benchmark),
    in_job=True,
)
def pool_to_delete(pool: Pool) -> Target:
    pools = reverse("benchmark-campaigns", args=[pool.benchmark.key]) + "#pools"
    before = {"depth": pool.depth, "pairs": pool.n_pairs}
    return Target(noun="pool", title=str(pool), before=before, back=pools, done=pools)


@deletable(Proxy, PoolingAct.PROXY_DELETED, policies.check_can_delete_proxy)
def proxy_to_delete(proxy: Proxy) -> Target:
    key = proxy.benchmark.key
    return Target(
        noun="proxy",
        title=proxy.name,
        before={"name": proxy.name, "sha256": proxy.sha256},
        back=reverse("proxy", args=[key, proxy.pk]),
        done=reverse("proxies", args=[key]),
        notes=("The file with the values is deleted, too.",),
    )


@deletable(
    TrainSplit,
    PoolingAct.TRAIN_CAPTIONS_DELETED,
    lambda by, split: policies.check_can_import_metadata(by, split.benchmark),
)
def train_split_to_delete(split: TrainSplit) -> Target:
    captions = reverse("benchmark-captions", args=[split.benchmark.key]) + "#metadata"
    before = {"name": split.name, "sha256": split.sha256}
    return Target(noun="train split", title=split.name, before=before, back=captions, done=captions)


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


@deletable(
    Benchmark,
    PoolingAct.BENCHMARK_DELETED,
    policies.check_can_manage_benchmark,
    in_job=True,
    around=_index_of_pairs,
    identified_by="key",
)
def benchmark_to_delete(benchmark: Benchmark) -> Target:
    change = reverse("benchmark-change", args=[benchmark.key])
    is_archived = benchmark.is_archived
    return Target(
        noun="benchmark",
        title=benchmark.name,
        before={"key": benchmark.key, "name": benchmark.name},
        back=change,
        done=reverse("home"),
        instead=("", "") if is_archived else (change + "#archive", "Archive it instead"),
        notes=(ROLES_STAY,),
    )


@transaction.atomic
def delete_tags(*, benchmark: Benchmark, imported_at: datetime, by: Actor) -> int:
    """Delete the tags that were imported together at this time. Return their number.

    Tags that the import replaced are not restored. Raises `Conflict` if no such tags are left.
    """
    policies.check_can_import_metadata(by, benchmark)
    lock_row(benchmark)
    number, _ = Tag.objects.filter(benchmark=benchmark, created_at=imported_at).delete()
    if not number:
        raise Conflict("These tags are already deleted or replaced.")
    record(PoolingAct.TAGS_DELETED, by=by, on=benchmark, before={"tags": number})
    return number
