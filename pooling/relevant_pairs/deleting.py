"""The rows that are deleted with a proxy of potentially relevant pairs, or with its benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import Benchmark, Proxy
from pooling.relevant_pairs.models import RelevantPairs

NOUN, PLURAL = "set of relevant pairs", "sets of relevant pairs"


@belongs_to(Proxy)
def relevant_pairs_of_proxy(proxy: Proxy) -> Iterator[Part | Obstacle]:
    yield Part(NOUN, RelevantPairs.objects.filter(proxy=proxy), PLURAL, files=("file",))


@belongs_to(Benchmark)
def relevant_pairs_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    found = RelevantPairs.objects.filter(proxy__benchmark=benchmark)
    yield Part(NOUN, found, PLURAL, files=("file",))
