"""All writes of the pooling app, one module per noun."""

from __future__ import annotations

from pooling.services.addresses import set_addresses
from pooling.services.benchmarks import (
    ImportedBenchmark,
    import_benchmark,
    set_equal_texts,
)
from pooling.services.expiry import expired_files, forget_expired_uploads
from pooling.services.folders import add_folder
from pooling.services.metadata import (
    ImportedTags,
    ImportedTrainSplit,
    TagsReport,
    TrainSplitReport,
    import_tags,
    import_train_captions,
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
    "ImportedBenchmark",
    "ImportedRun",
    "ImportedTags",
    "ImportedTrainSplit",
    "PoolReport",
    "RunReport",
    "TagsReport",
    "TrainSplitReport",
    "add_folder",
    "begin_upload",
    "build_pool",
    "cancel_uploads",
    "end_upload",
    "expired_files",
    "forget_expired_uploads",
    "import_benchmark",
    "import_run",
    "import_tags",
    "import_train_captions",
    "prepare_uploads",
    "queue_uploads",
    "receive_part",
    "retry_uploads",
    "set_addresses",
    "set_equal_texts",
]
