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
from pooling.services.imports import (
    ImportReport,
    accept_import,
    begin_import,
    change_columns,
    plan_import,
    write_import,
)
from pooling.services.metadata import (
    ImportedTags,
    ImportedTrainSplit,
    TagsReport,
    TrainSplitReport,
    import_tags,
    import_train_captions,
)
from pooling.services.plans import (
    Details,
    ImportFiles,
    ImportPlan,
    PlanReport,
    has_changes,
    plan_benchmark,
)
from pooling.services.pools import BuiltPool, PoolReport, build_pool
from pooling.services.runs import ImportedRun, RunReport, import_run

__all__ = [
    "BuiltPool",
    "Details",
    "ImportFiles",
    "ImportPlan",
    "ImportReport",
    "ImportedBenchmark",
    "ImportedRun",
    "ImportedTags",
    "ImportedTrainSplit",
    "PlanReport",
    "PoolReport",
    "RunReport",
    "TagsReport",
    "TrainSplitReport",
    "accept_import",
    "archive_benchmark",
    "begin_import",
    "build_pool",
    "change_benchmark",
    "change_columns",
    "change_run",
    "delete_benchmark",
    "delete_pool",
    "delete_run",
    "delete_tags",
    "delete_train_split",
    "has_changes",
    "import_benchmark",
    "import_run",
    "import_tags",
    "import_train_captions",
    "plan_benchmark",
    "plan_import",
    "restore_benchmark",
    "restore_run",
    "set_equal_texts",
    "withdraw_run",
    "write_import",
]
