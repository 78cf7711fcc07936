"""The objects of this app that a person can delete, for pages, the API and jobs."""

from __future__ import annotations

from django.urls import reverse

from hearth.jobs.deleting import Target
from pooling import services
from pooling.models import Benchmark, Pool, Proxy, Run, TrainSplit

ROLES_STAY = (
    "The roles of people in this benchmark stay. They apply again if a benchmark is imported under "
    "the same key."
)


def target_of_run(run: Run) -> Target:
    key = run.benchmark.key
    change = reverse("run-change", args=[key, run.pk])
    return Target(
        instance=run,
        noun="run",
        title=run.name,
        delete=lambda by: services.delete_run(run=run, by=by),
        kind="delete_run",
        params={"run": run.pk},
        benchmark_key=key,
        back=change,
        done=reverse("benchmark-runs", args=[key]),
        instead=("", "") if run.is_withdrawn else (change + "#withdraw", "Withdraw it instead"),
    )


def target_of_pool(pool: Pool) -> Target:
    pools = reverse("benchmark-campaigns", args=[pool.benchmark.key]) + "#pools"
    return Target(
        instance=pool,
        noun="pool",
        title=str(pool),
        delete=lambda by: services.delete_pool(pool=pool, by=by),
        kind="delete_pool",
        params={"pool": pool.pk},
        benchmark_key=pool.benchmark.key,
        back=pools,
        done=pools,
    )


def target_of_proxy(proxy: Proxy) -> Target:
    key = proxy.benchmark.key
    return Target(
        instance=proxy,
        noun="proxy",
        title=proxy.name,
        delete=lambda by: services.delete_proxy(proxy=proxy, by=by),
        kind="",  # only one row is deleted, which needs no job
        benchmark_key=key,
        back=reverse("proxy", args=[key, proxy.pk]),
        done=reverse("proxies", args=[key]),
        notes=("The file with the values is deleted, too.",),
    )


def target_of_train_split(split: TrainSplit) -> Target:
    captions = reverse("benchmark-captions", args=[split.benchmark.key]) + "#metadata"
    return Target(
        instance=split,
        noun="train split",
        title=split.name,
        delete=lambda by: services.delete_train_split(split=split, by=by),
        kind="",  # only one row is deleted, which needs no job
        benchmark_key=split.benchmark.key,
        back=captions,
        done=captions,
    )


def target_of_benchmark(benchmark: Benchmark) -> Target:
    change = reverse("benchmark-change", args=[benchmark.key])
    is_archived = benchmark.is_archived
    return Target(
        instance=benchmark,
        noun="benchmark",
        title=benchmark.name,
        delete=lambda by: services.delete_benchmark(benchmark=benchmark, by=by),
        kind="delete_benchmark",
        params={"benchmark": benchmark.key},
        benchmark_key=benchmark.key,
        back=change,
        done=reverse("home"),
        instead=("", "") if is_archived else (change + "#archive", "Archive it instead"),
        notes=(ROLES_STAY,),
    )
