"""Every write of the evaluation app, by noun."""

from __future__ import annotations

from evaluation.services.agreement import compute_agreement
from evaluation.services.analyses import (
    analyse,
    analyse_front,
    begin_analysis,
    check_same_code,
    renew_analyses,
    renew_draft_analyses,
)
from evaluation.services.figures import compute_figures, renew_figures
from evaluation.services.label_sets import (
    DRAFT_JOB,
    Unsettled,
    begin_draft,
    check_settled,
    draft_if_meant,
    make_draft,
    publish_label_set,
    renew_drafts,
)
from evaluation.services.scores import RunEvaluation, begin_scoring, evaluate_runs

__all__ = [
    "DRAFT_JOB",
    "RunEvaluation",
    "Unsettled",
    "analyse",
    "analyse_front",
    "begin_analysis",
    "begin_draft",
    "begin_scoring",
    "check_same_code",
    "check_settled",
    "compute_agreement",
    "compute_figures",
    "draft_if_meant",
    "evaluate_runs",
    "make_draft",
    "publish_label_set",
    "renew_analyses",
    "renew_draft_analyses",
    "renew_drafts",
    "renew_figures",
]
