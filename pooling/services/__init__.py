"""All writes of the pooling app, one module per noun."""

from __future__ import annotations

from pooling.services.addresses import set_addresses
from pooling.services.benchmarks import ImportedBenchmark, import_benchmark, set_equal_texts
from pooling.services.changing_benchmarks import (
    archive_benchmark,
    change_benchmark,
    restore_benchmark,
)
from pooling.services.changing_runs import change_run, restore_run, withdraw_run
from pooling.services.deleting import delete_tags
from pooling.services.expiry import delete_expired_uploads, expired_files
from pooling.services.folders import add_folder
from pooling.services.imports import (
    ImportReport,
    accept_import,
    begin_import,
    change_reading,
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
from pooling.services.proxies import (
    AddedProxy,
    ProxyReport,
    add_proxy,
    compute_proxy,
    compute_requested,
    import_embeddings,
    import_proxy,
)
from pooling.services.public_pages import (
    ask_for_confirmation,
    change_public_page,
    confirm_uploader,
    remove_uploader,
)
from pooling.services.queueing import cancel_uploads, queue_uploads, retry_uploads
from pooling.services.run_uploads import (
    publish_run,
    refuse_upload,
    score_upload,
    settle_run_uploads,
    upload_run,
)
from pooling.services.runs import ImportedRun, RunReport, import_run
from pooling.services.uploads import begin_upload, end_upload, receive_part
