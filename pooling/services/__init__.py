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
    TagsReport,
    TrainSplitReport,
    import_tags,
    import_train_captions,
)
from pooling.services.plans import Details, ImportFiles, ImportPlan, PlanReport, plan_benchmark
from pooling.services.pools import BuiltPool, PoolReport, build_pool
from pooling.services.runs import ImportedRun, RunReport, import_run

__all__ = [
    "BuiltPool",
    "Details",
    "ImportFiles",
    "ImportPlan",
    "ImportedBenchmark",
    "ImportedRun",
    "ImportedTags",
    "ImportedTrainSplit",
    "PlanReport",
    "PoolReport",
    "RunReport",
    "TagsReport",
    "TrainSplitReport",
    "build_pool",
    "import_benchmark",
    "import_run",
    "import_tags",
    "import_train_captions",
    "plan_benchmark",
    "set_equal_texts",
]
