"""Storing the labels of paragraphs that follow from those of their sentences."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TypedDict

from django.conf import settings

from annotation.policies import check_can_lead
from annotation.services import import_judgments
from evaluation.core.paragraphs.outcomes import Outcome
from evaluation.release.selectors.paragraphs import outcome_lines, paragraph_pairs
from hearth.accounts.actors import Actor
from hearth.shared.progress import Progress, no_progress
from pooling.models import Benchmark


class SettledParagraphs(TypedDict):
    """Pairs of a paragraph and a video, by the labels of the sentences.

    new: pairs whose label is stored now. changed: pairs that keep another label. campaign: the
    campaign of the new labels, or null.
    """

    pairs: int
    relevant: int
    not_relevant: int
    pending: int
    new: int
    changed: int
    campaign: int | None


def settle_paragraphs(
    *, benchmark: Benchmark, by: Actor, progress: Progress = no_progress
) -> SettledParagraphs:
    """Store the current labels of paragraphs as imported judgments. Labelled pairs keep theirs.

    Raises `NotPermitted` if `by` may not import judgments, and `InvalidInput` if the captions are
    not paragraphs.
    """
    check_can_lead(by, benchmark)
    progress(0, None, "reading the labels of sentences")
    pairs = paragraph_pairs(benchmark)
    campaign = None
    if pairs.is_new.any():
        with tempfile.TemporaryDirectory(dir=settings.HEARTH_HOME, prefix="settle-") as folder:
            path = Path(folder, "paragraphs.csv")
            path.write_text("".join(outcome_lines(benchmark, pairs)), encoding="utf-8")
            made = import_judgments(benchmark=benchmark, path=path, by=by, progress=progress)
            campaign = made.campaign.pk
    return {
        "pairs": len(pairs.codes),
        "relevant": pairs.count(Outcome.RELEVANT),
        "not_relevant": pairs.count(Outcome.NOT_RELEVANT),
        "pending": pairs.count(Outcome.PENDING),
        "new": int(pairs.is_new.sum()),
        "changed": int(pairs.is_changed.sum()),
        "campaign": campaign,
    }
