"""Every write of the evaluation app, by noun."""

from __future__ import annotations

from evaluation.services.agreement import compute_agreement
from evaluation.services.analyses import analyse, begin_analysis, renew_analyses
from evaluation.services.figures import compute_figures, renew_figures
from evaluation.services.label_sets import publish_label_set
from evaluation.services.scores import RunEvaluation, begin_scoring, evaluate_runs

__all__ = [
    "RunEvaluation",
    "analyse",
    "begin_analysis",
    "begin_scoring",
    "compute_agreement",
    "compute_figures",
    "evaluate_runs",
    "publish_label_set",
    "renew_analyses",
    "renew_figures",
]
