"""The rows that are deleted with the proxy of a machine judge, or with its benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.machines.models import MachineBatch, MachineJudge, MachineRequest
from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import Benchmark, Proxy

NOUN, PLURAL = "machine judge", "machine judges"


@belongs_to(Proxy)
def judge_of_proxy(proxy: Proxy) -> Iterator[Part | Obstacle]:
    yield Part(NOUN, MachineJudge.objects.filter(proxy=proxy), PLURAL, files=("file",))


@belongs_to(Benchmark)
def judges_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    found = MachineJudge.objects.filter(proxy__benchmark=benchmark)
    yield Part(NOUN, found, PLURAL, files=("file",))
    batches = MachineBatch.objects.filter(request__benchmark=benchmark)
    yield Part("batch of a machine", batches, "batches of machines")
    requests = MachineRequest.objects.filter(benchmark=benchmark)
    yield Part("request to a machine", requests, "requests to machines")
