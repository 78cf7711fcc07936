"""All writes of the pooling app, one module per noun."""

from __future__ import annotations

from pooling.services.benchmarks import (
    ImportedBenchmark,
    import_benchmark,
    set_equal_texts,
)
from pooling.services.changing_benchmarks import (
    archive_benchmark,
    change_benchmark,
    restore_benchmark,
)
from pooling.services.changing_runs import change_run, restore_run, withdraw_run
from pooling.services.deleting import (
    delete_benchmark,
    delete_pool,
    delete_run,
    delete_tags,
    delete_train_split,
)
from pooling.services.metadata import (
    ImportedTags,
    ImportedTrainSplit,
    TagsReport,
    TrainSplitReport,
    import_tags,
    import_train_captions,
)
from pooling.services.pools import BuiltPool, PoolReport, build_pool
from pooling.services.runs import ImportedRun, RunReport, import_run

__all__ = [
    "BuiltPool",
    "ImportedBenchmark",
    "ImportedRun",
    "ImportedTags",
    "ImportedTrainSplit",
    "PoolReport",
    "RunReport",
    "TagsReport",
    "TrainSplitReport",
    "archive_benchmark",
    "build_pool",
    "change_benchmark",
    "change_run",
    "delete_benchmark",
    "delete_pool",
    "delete_run",
    "delete_tags",
    "delete_train_split",
    "import_benchmark",
    "import_run",
    "import_tags",
    "import_train_captions",
    "restore_benchmark",
    "restore_run",
    "set_equal_texts",
    "withdraw_run",
]
