"""Every write of the evaluation app, by noun."""

from __future__ import annotations

from evaluation.services.agreement import compute_agreement
from evaluation.services.label_sets import publish_label_set
from evaluation.services.scores import RunEvaluation, evaluate_runs

__all__ = ["RunEvaluation", "compute_agreement", "evaluate_runs", "publish_label_set"]
