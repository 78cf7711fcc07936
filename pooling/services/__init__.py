"""All writes of the pooling app, one module per noun."""

from __future__ import annotations

from pooling.services.addresses import set_addresses
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
from pooling.services.expiry import expired_files, forget_expired_uploads
from pooling.services.folders import add_folder
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
from pooling.services.preparing import prepare_uploads
from pooling.services.queueing import cancel_uploads, queue_uploads, retry_uploads
from pooling.services.runs import ImportedRun, RunReport, import_run
from pooling.services.uploads import (
    begin_upload,
    end_upload,
    receive_part,
)

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
    "add_folder",
    "archive_benchmark",
    "begin_import",
    "begin_upload",
    "build_pool",
    "cancel_uploads",
    "change_benchmark",
    "change_columns",
    "change_run",
    "delete_benchmark",
    "delete_pool",
    "delete_run",
    "delete_tags",
    "delete_train_split",
    "end_upload",
    "expired_files",
    "forget_expired_uploads",
    "has_changes",
    "import_benchmark",
    "import_run",
    "import_tags",
    "import_train_captions",
    "plan_benchmark",
    "plan_import",
    "prepare_uploads",
    "queue_uploads",
    "receive_part",
    "restore_benchmark",
    "restore_run",
    "retry_uploads",
    "set_addresses",
    "set_equal_texts",
    "withdraw_run",
    "write_import",
]
