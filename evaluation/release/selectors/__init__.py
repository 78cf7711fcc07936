"""Database queries about labels."""

from __future__ import annotations

from evaluation.release.selectors.agreement import (
    agreement_figures,
    latest_agreement,
    opinions_of,
    stored_agreement,
)
from evaluation.release.selectors.current import CurrentLabels, current_labels
from evaluation.release.selectors.labels import (
    LATEST,
    ORIGINAL,
    draft_state,
    find_label_set,
    get_label_set,
    get_published,
    highest_grade,
    judgments_of_captions,
    label_set_judged,
    label_set_labels,
    latest_draft,
    live_labels,
    original_grade,
    original_judged,
    originals_with_equal_captions,
    strata_of_labels,
)
from evaluation.release.selectors.outcomes import (
    BenchmarkOutcomes,
    benchmark_outcomes,
    recent_outcomes,
)
from evaluation.release.selectors.positives_to_confirm import (
    CUTOFFS,
    ConfirmOptions,
    positive_counts,
    positives_to_confirm,
    unconfirmed_sole_positives,
)
