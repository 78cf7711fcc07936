"""The rows that are deleted together with a run, pool, proxy, train split or benchmark.

Each function also yields the obstacles to the deletion.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import (
    Benchmark,
    OriginalPositive,
    Pair,
    Pool,
    PoolStratum,
    Proxy,
    PublicPage,
    Query,
    RankedList,
    Run,
    RunUpload,
    Tag,
    TrainSplit,
    Uploader,
    Video,
    VideoUpload,
)


@belongs_to(Run)
def rows_of_run(run: Run) -> Iterator[Part | Obstacle]:
    for pool in run.pools.all():
        yield Obstacle(
            f"{pool} contains pairs of this run.",
            url=reverse("benchmark-campaigns", args=[run.benchmark.key]) + "#pools",
            link="To the pools",
        )
    yield Part("ranked list", RankedList.objects.filter(run=run))
    yield Part("upload of the run", RunUpload.objects.filter(run=run), "uploads of the run")
    yield Part("run", Run.objects.filter(pk=run.pk), files=("similarities", "order"))


@belongs_to(Pool)
def rows_of_pool(pool: Pool) -> Iterator[Part | Obstacle]:
    later = Pool.objects.filter(benchmark=pool.benchmark, pk__gt=pool.pk)
    if pool.n_new_pairs and (newest := later.order_by("pk").last()):
        # A pair is stored once, with the first pool that contains it.
        yield Obstacle(
            f"{newest} was built later and may contain pairs of this pool. Delete the later pool "
            "first."
        )
    yield Part("link to a run", Pool.runs.through.objects.filter(pool=pool), "links to runs")
    yield Part("stratum", PoolStratum.objects.filter(pool=pool), "strata")
    yield Part("pair", Pair.objects.filter(pool=pool))
    yield Part("pool", Pool.objects.filter(pk=pool.pk))


@belongs_to(Proxy)
def rows_of_proxy(proxy: Proxy) -> Iterator[Part | Obstacle]:
    for pool in proxy.pools.all():
        yield Obstacle(
            f"{pool} contains pairs that this proxy selected.",
            url=reverse("benchmark-campaigns", args=[proxy.benchmark.key]) + "#pools",
            link="To the pools",
        )
    yield Part("proxy", Proxy.objects.filter(pk=proxy.pk), "proxies", files=("file",))


@belongs_to(TrainSplit)
def rows_of_train_split(split: TrainSplit) -> Iterator[Part | Obstacle]:
    yield Part("train split", TrainSplit.objects.filter(pk=split.pk))


@belongs_to(Benchmark)
def rows_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    of = {"benchmark": benchmark}
    yield Part("ranked list", RankedList.objects.filter(run__benchmark=benchmark))
    links = Pool.runs.through.objects.filter(pool__benchmark=benchmark)
    yield Part("link of a run to a pool", links, "links of runs to pools")
    yield Part("upload of a run", RunUpload.objects.filter(**of), "uploads of runs")
    people = "people who asked to upload runs"
    yield Part("person who asked to upload runs", Uploader.objects.filter(**of), people)
    yield Part("run", Run.everything.filter(**of), files=("similarities", "order"))
    yield Part("stratum of a pool", PoolStratum.objects.filter(pool__benchmark=benchmark), "strata")
    yield Part("pair", Pair.objects.filter(query__benchmark=benchmark))
    yield Part("pool", Pool.objects.filter(**of))
    yield Part("proxy", Proxy.objects.filter(**of), "proxies", files=("file",))
    originals = OriginalPositive.objects.filter(query__benchmark=benchmark)
    yield Part("original positive", originals)
    yield Part("tag", Tag.objects.filter(**of))
    yield Part("train split", TrainSplit.objects.filter(**of))
    yield Part("caption", Query.objects.filter(**of))
    # Housekeeping removes the files of these uploads.
    uploads = VideoUpload.objects.filter(**of)
    yield Part("upload of a video", uploads, "uploads of videos")
    yield Part("video", Video.objects.filter(**of), files=("file", "poster", "sheet"))
    yield Part("public page", PublicPage.objects.filter(**of))
    yield Part("benchmark", Benchmark.objects.filter(pk=benchmark.pk))
