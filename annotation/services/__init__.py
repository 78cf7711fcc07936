"""Every write of the annotation app, by noun."""

from __future__ import annotations

from annotation.services.campaigns import (
    annotator_for,
    open_campaign,
    set_campaign_state,
    write_guideline,
)
from annotation.services.desk import adjudicate_task, leave_out_task, reopen_task
from annotation.services.imports import ImportedJudgments, import_judgments
from annotation.services.judging import (
    CLAIM_MAX,
    Submitted,
    claim_assignments,
    escalate_task,
    expire_leases,
    release_assignments,
    submit_judgment,
)

__all__ = [
    "CLAIM_MAX",
    "ImportedJudgments",
    "Submitted",
    "adjudicate_task",
    "annotator_for",
    "claim_assignments",
    "escalate_task",
    "expire_leases",
    "import_judgments",
    "leave_out_task",
    "open_campaign",
    "release_assignments",
    "reopen_task",
    "set_campaign_state",
    "submit_judgment",
    "write_guideline",
]
