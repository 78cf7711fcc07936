"""Every write of the pooling app, by noun."""

from __future__ import annotations

from pooling.services.benchmarks import ImportedBenchmark, import_benchmark
from pooling.services.pools import BuiltPool, build_pool
from pooling.services.runs import ImportedRun, import_run

__all__ = [
    "BuiltPool",
    "ImportedBenchmark",
    "ImportedRun",
    "build_pool",
    "import_benchmark",
    "import_run",
]
