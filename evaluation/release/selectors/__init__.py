"""Every question to the tables of labels."""

from __future__ import annotations

from evaluation.release.selectors.agreement import (
    agreement_figures,
    latest_agreement,
    opinions_of,
    stored_agreement,
)
from evaluation.release.selectors.deciding import CUTOFFS, deciding_counts, deciding_pairs
from evaluation.release.selectors.labels import (
    LATEST,
    ORIGINAL,
    draft_state,
    find_label_set,
    highest_grade,
    judgments_of_captions,
    label_set_judged,
    label_set_labels,
    latest_draft,
    live_labels,
    original_grade,
    original_judged,
    original_with_twins,
)
from evaluation.release.selectors.outcomes import (
    BenchmarkOutcomes,
    benchmark_outcomes,
    recent_outcomes,
)

__all__ = [
    "CUTOFFS",
    "LATEST",
    "ORIGINAL",
    "BenchmarkOutcomes",
    "agreement_figures",
    "benchmark_outcomes",
    "deciding_counts",
    "deciding_pairs",
    "draft_state",
    "find_label_set",
    "highest_grade",
    "judgments_of_captions",
    "label_set_judged",
    "label_set_labels",
    "latest_agreement",
    "latest_draft",
    "live_labels",
    "opinions_of",
    "original_grade",
    "original_judged",
    "original_with_twins",
    "recent_outcomes",
    "stored_agreement",
]
