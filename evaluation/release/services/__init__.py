"""Services that publish, download and draft labels."""

from __future__ import annotations

from evaluation.release.services.drafts import (
    DRAFT_JOB,
    MAX_DRAFT_AGE,
    SETTLED_FOR,
    begin_draft,
    make_draft,
    renew_drafts,
    update_requested_draft,
)
from evaluation.release.services.label_arrays import store_missing_arrays
from evaluation.release.services.label_sets import (
    PublishOptions,
    Unsettled,
    check_settled,
    export_label_set,
    publish_label_set,
)
