"""The runs of a benchmark in the order in which they were added."""

from __future__ import annotations

from pooling.models import Benchmark


def run_numbers(benchmark: Benchmark) -> dict[str, int]:
    """Return a number for each run by its name, from 0 in the order in which runs were added.

    Charts choose colours by these numbers, so a new run does not change the colour of another run.
    """
    runs = benchmark.runs.select_related("system").order_by("pk")
    return {run.name: number for number, run in enumerate(runs)}
