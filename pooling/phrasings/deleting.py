"""The rows that are deleted with phrasings, or together with a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import Benchmark
from pooling.phrasings.models import Phrasing, PhrasingSet


@belongs_to(PhrasingSet)
def rows_of_phrasing_set(added: PhrasingSet) -> Iterator[Part | Obstacle]:
    yield Part("phrasing", Phrasing.objects.filter(set=added))
    yield Part("set of phrasings", PhrasingSet.objects.filter(pk=added.pk), "sets of phrasings")


@belongs_to(Benchmark)
def phrasings_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    yield Part("phrasing", Phrasing.objects.filter(set__benchmark=benchmark))
    sets = PhrasingSet.objects.filter(benchmark=benchmark)
    yield Part("set of phrasings", sets, "sets of phrasings")
