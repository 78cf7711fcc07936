"""All writes of the pooling app, one module per noun."""

from __future__ import annotations

from pooling.services.benchmarks import (
    ImportedBenchmark,
    import_benchmark,
    set_equal_texts,
)
from pooling.services.metadata import (
    ImportedTags,
    ImportedTrainSplit,
    import_tags,
    import_train_captions,
)
from pooling.services.pools import BuiltPool, build_pool
from pooling.services.runs import ImportedRun, import_run

__all__ = [
    "BuiltPool",
    "ImportedBenchmark",
    "ImportedRun",
    "ImportedTags",
    "ImportedTrainSplit",
    "build_pool",
    "import_benchmark",
    "import_run",
    "import_tags",
    "import_train_captions",
    "set_equal_texts",
]
