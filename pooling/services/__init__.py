"""All writes of the pooling app, one module per noun."""

from __future__ import annotations

from pooling.services.benchmarks import (
    ImportedBenchmark,
    import_benchmark,
    set_equal_texts,
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
    "begin_import",
    "build_pool",
    "change_columns",
    "has_changes",
    "import_benchmark",
    "import_run",
    "import_tags",
    "import_train_captions",
    "plan_benchmark",
    "plan_import",
    "set_equal_texts",
    "write_import",
]
