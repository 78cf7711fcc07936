"""Figures that label sets and drafts have in common."""

from __future__ import annotations

import hashlib

from evaluation.core.files.label_file import LabelFigures
from evaluation.core.people.agreement_figures import StoredAgreement
from evaluation.release.selectors import CurrentLabels
from evaluation.release.selectors.agreement import stored_agreement
from hearth.shared.version import code_version


class Summary(LabelFigures):
    """The columns of `LabelSummary`, without the time."""

    sha256: str
    original_grade: int
    n_judgments: int
    agreement: StoredAgreement
    code_version: str


def summary_of(current: CurrentLabels, text: bytes) -> Summary:
    """Return the figures of the current labels. text: their label file."""
    return {
        "sha256": hashlib.sha256(text).hexdigest(),
        **current.labels.figures,
        "original_grade": current.original_grade,
        "n_judgments": len(current.judgments.labels),
        "agreement": stored_agreement(current.judgments),
        "code_version": code_version(),
    }
