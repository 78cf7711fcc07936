"""The moments that are deleted together with a run or a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import Benchmark, Run
from pooling.moments.models import MomentList, MomentRun, MomentSource, OriginalSpan


@belongs_to(Run)
def moments_of_run(run: Run) -> Iterator[Part | Obstacle]:
    yield Part("list of moments", MomentList.objects.filter(run=run), "lists of moments")
    yield Part("run of moments", MomentRun.objects.filter(run=run), "runs of moments")


@belongs_to(Benchmark)
def moments_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    lists = MomentList.objects.filter(run__benchmark=benchmark)
    yield Part("list of moments", lists, "lists of moments")
    runs = MomentRun.objects.filter(run__benchmark=benchmark)
    yield Part("run of moments", runs, "runs of moments")
    spans = OriginalSpan.objects.filter(positive__query__benchmark=benchmark)
    yield Part("original span", spans)
    sources = MomentSource.objects.filter(benchmark=benchmark)
    yield Part("source of moments", sources, "sources of moments")
