"""The number of pairs by their labels, and the agreement of the labels, with intervals."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from annotation.core.consensus import NO_LABEL
from evaluation.core.arrays import IntArray
from evaluation.core.people.agreement import ValueCounts, count_opinions, percent_agreement
from evaluation.core.people.agreement_figures import Resampling, figures_from_store, figures_of
from evaluation.core.people.alpha import alpha_interval, krippendorff_alpha
from evaluation.lab.analyses.fields import confidence_field, resamples_field, seed_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.layouts import labels as layout
from evaluation.lab.analyses.layouts.labels import (
    AgreementFigures,
    LabelCountRow,
    LabelsResult,
    OutcomeCounts,
    QuotedFigures,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.models import LabelSource
from evaluation.release.selectors import label_set_labels
from hearth.shared.progress import Progress


class LabelsForm(AnalysisForm):
    only = runs = None
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


class LabelsOptions(TypedDict):
    confidence: float
    resamples: int
    seed: int


def _compute(inputs: Inputs, options: LabelsOptions, progress: Progress) -> LabelsResult:
    assert inputs.label_set is not None  # noqa: S101 - checked by the analysis
    counted = label_set_labels(inputs.label_set)
    labels, judgments, relevant = counted.labels, counted.judgments, counted.relevant
    rng = np.random.default_rng(options["seed"])
    resampling = Resampling(options["resamples"], options["confidence"], options["seed"])
    rows: list[LabelCountRow] = []
    for number in np.flatnonzero(np.bincount(judgments)).tolist():
        among = judgments == number
        rows.append(
            {
                "labels": number,
                **_outcomes(labels[among]),
                **_agreement(count_opinions(judgments[among], relevant[among]), options, rng),
            }
        )
    return {
        "pairs": len(labels),
        # An answer that applies to several captions with equal texts counts once.
        "labels": inputs.label_set.n_judgments,
        **_outcomes(labels),
        **_figures(inputs.label_set, count_opinions(judgments, relevant), resampling),
        "confidence": options["confidence"],
        "by_number": rows,
        "originals": {
            **_outcomes(labels[np.isin(counted.codes, inputs.original.codes)]),
            "known": len(inputs.original.codes),
        },
    }


def _outcomes(labels: IntArray) -> OutcomeCounts:
    return {
        "pairs": len(labels),
        "relevant": int((labels >= 1).sum()),
        "irrelevant": int((labels == 0).sum()),
        "undecided": int((labels == NO_LABEL).sum()),
    }


def _figures(label_set: LabelSource, counts: ValueCounts, resampling: Resampling) -> QuotedFigures:
    """Return the agreement figures, computed from the judgments in the label set.

    counts: the counts of all labels. If an older code version published the label set, only these
    counts are known. All figures are then those of all labels, and `first_labels` is null.
    """
    if label_set.agreement is None:
        every = figures_of(counts, 2, resampling)
        first, quoted = None, every
    else:
        both = figures_from_store(label_set.agreement, resampling)
        first, every = both["first_labels"], both["all_labels"]
        quoted = first
    agreement = every["agreement"]
    return {
        "several": every["multiply_labelled"],
        "agreement": agreement,
        "disagreement": None if agreement is None else 1 - agreement,
        "first_two_agreement": None if first is None else first["pairwise_agreement"],
        "pairwise_agreement": every["pairwise_agreement"],
        "alpha": quoted["alpha"],
        "alpha_interval": quoted["alpha_interval"],
        "alpha_annotator_interval": quoted["alpha_annotator_interval"],
        "alpha_interval_pairs": quoted["alpha_interval_pairs"],
        "ac1": quoted["ac1"],
        "ac1_interval": quoted["ac1_interval"],
        "first_labels": first,
        "all_labels": every,
    }


def _agreement(
    counts: ValueCounts, options: LabelsOptions, rng: np.random.Generator
) -> AgreementFigures:
    agreement = percent_agreement(counts).value
    interval = alpha_interval(
        counts, options["resamples"], rng=rng, confidence=options["confidence"]
    )
    return {
        "agreement": agreement,
        "disagreement": None if agreement is None else 1 - agreement,
        "alpha": krippendorff_alpha(counts).value,
        "alpha_interval_pairs": interval.ends,
    }


LABELS = Analysis(
    name="labels",
    title="The labels and their agreement",
    question="How many pairs were judged, with which outcome, and do annotators agree?",
    source="FIRE study, table 2 and figure 7",
    form=LabelsForm,
    compute=_compute,
    reads_lists=False,
    tables=layout.tables,
    charts=layout.charts,
    warnings=layout.warnings,
    runs_needed=0,
    needs_labels=True,
    notes=(
        "Quote the figures of the planned labels. These are the labels of a pair that arrived "
        "first, up to the planned number. In imported files they are the first two labels of a "
        "pair. A third label is requested only if the first two differ, and it usually equals one "
        "of them. Alpha of all labels is therefore too high.",
        "For “Two labels equal”, every two labels of a pair are compared. The figure is the share "
        "of equal ones, as a mean over pairs (Fleiss). Alpha is 1 for perfect agreement and 0 for "
        "chance. If nearly all labels are “not relevant”, alpha is low even if annotators agree "
        "well. Gwet’s AC1 is not low then.",
        "The table by number of labels counts labels only as relevant or not, without grades.",
        "Original positives do not count as labels here.",
    ),
)
