"""The number of labels, their agreement, and the reliability of both."""

from __future__ import annotations

from typing import Any

import numpy as np

from annotation.core.consensus import NO_LABEL
from config.shared.progress import Progress
from evaluation.core.people.agreement import ValueCounts, count_opinions, percent_agreement
from evaluation.core.people.agreement_figures import Resampling, figures_of, figures_stored
from evaluation.core.people.alpha import alpha_interval, krippendorff_alpha
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import BARS, Chart, count, name_of, offset, spec, step
from evaluation.lab.analyses.fields import confidence_field, resamples_field, seed_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Result, ends
from evaluation.lab.analyses.tables import Column, Table
from evaluation.models import LabelSource
from evaluation.release.selectors import label_set_labels

OUTCOMES = {"relevant": "Relevant", "irrelevant": "Not relevant", "undecided": "Undecided"}
UNDEFINED_NAMES = {
    "agreement": "labels equal",
    "alpha": "alpha",
    "alpha_interval": "interval of alpha, pairs resampled",
    "alpha_annotator_interval": "interval of alpha, annotators resampled",
}


class LabelsForm(AnalysisForm):
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


def _compute(inputs: Inputs, options: dict[str, Any], progress: Progress) -> Result:
    assert inputs.label_set is not None  # noqa: S101 - checked by the analysis
    counted = label_set_labels(inputs.label_set)
    labels, judgments, relevant = counted.labels, counted.judgments, counted.relevant
    rng = np.random.default_rng(options["seed"])
    how = Resampling(options["resamples"], options["confidence"], options["seed"])
    rows = []
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
        **_figures(inputs.label_set, count_opinions(judgments, relevant), how),
        "confidence": options["confidence"],
        "by_number": rows,
        "originals": _outcomes(labels[np.isin(counted.codes, inputs.original.codes)])
        | {"known": len(inputs.original.codes)},
    }


def _outcomes(labels: Any) -> dict[str, int]:
    return {
        "pairs": len(labels),
        "relevant": int((labels >= 1).sum()),
        "irrelevant": int((labels == 0).sum()),
        "undecided": int((labels == NO_LABEL).sum()),
    }


def _figures(label_set: LabelSource, counts: ValueCounts, how: Resampling) -> Result:
    """Return the figures of `agreement`, computed from the judgments in the label set.

    If an older code version published the label set, only the counts of its file are known. Then
    all figures are of all labels, and `first_labels` is null.
    """
    if label_set.agreement is None:
        every = figures_of(counts, 2, how)
        first, quoted = None, every
    else:
        both = figures_stored(label_set.agreement, how)
        first, every = both["first_labels"], both["all_labels"]
        quoted = first
    agreement = every["agreement"]
    return {
        "several": every["multiply_labelled"],
        "agreement": agreement,
        "disagreement": None if agreement is None else 1 - agreement,
        "first_two_agreement": first and first["pairwise_agreement"],
        "pairwise_agreement": every["pairwise_agreement"],
        **{name: quoted[name] for name in ("alpha", "alpha_interval", "ac1", "ac1_interval")},
        "alpha_annotator_interval": first and first["alpha_annotator_interval"],
        "first_labels": first,
        "all_labels": every,
    }


def _agreement(counts: ValueCounts, options: dict[str, Any], rng: np.random.Generator) -> Result:
    agreement = percent_agreement(counts).value
    interval = alpha_interval(
        counts, options["resamples"], rng=rng, confidence=options["confidence"]
    )
    return {
        "agreement": agreement,
        "disagreement": None if agreement is None else 1 - agreement,
        "alpha": krippendorff_alpha(counts).value,
        "alpha_interval": ends(interval),
    }


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    outcomes = [
        Column("relevant", "Relevant", "count"),
        Column("irrelevant", "Not relevant", "count"),
        Column("undecided", "Undecided", "count"),
    ]
    whole = [
        Column("pairs", "Pairs", "count"),
        Column("labels", "Labels", "count"),
        *outcomes,
        Column("several", "Labelled several times", "count"),
    ]
    by_number = [
        Column("labels", "Labels of the pair", "count"),
        Column("pairs", "Pairs", "count"),
        *outcomes,
        Column("disagreement", "Labels differ, %", "percent"),
    ]
    return [
        Table("all", "The label set", whole, [result]),
        _agreement_table(result, percent),
        Table(
            "originals",
            "Judged original positives",
            [
                Column("known", "Original positives", "count"),
                Column("pairs", "Judged", "count"),
                *outcomes,
            ],
            [result["originals"]],
            note="Scores count all of them as positive, also rejected ones, unless only the "
            "labels are selected.",
        ),
        Table(
            "by-number",
            "By the number of labels",
            by_number,
            result["by_number"],
            note="If a third label is requested only when two differ, pairs with two labels "
            "nearly always agree and pairs with three never do.",
        ),
    ]


def _agreement_table(result: Result, percent: str) -> Table:
    """Return the table of agreement, with a row for first labels and one for all labels."""
    parts = {"First labels of each pair": "first_labels", "All labels": "all_labels"}
    rows = [
        {"of": name, "alpha_annotator_interval": None, **result[key]}
        for name, key in parts.items()
        if result[key] is not None
    ]
    ordinal = rows[0]["alpha_level"] == "ordinal"
    further = [
        Column("alpha_nominal", "Alpha, nominal", "number"),
        Column("ac2", "Gwet’s AC2, ordinal", "number"),
        Column("relevance_alpha", "Alpha of relevant or not", "number"),
    ]
    return Table(
        "agreement",
        "Agreement",
        [
            Column("of", "Labels compared"),
            Column("multiply_labelled", "Pairs", "count"),
            Column("pairwise_agreement", "Two labels equal, %", "percent"),
            Column("agreement", "All labels equal, %", "percent"),
            Column("alpha", f"Krippendorff’s alpha{', ordinal' if ordinal else ''}", "number"),
            Column("alpha_interval", f"{percent}, pairs resampled", "number"),
            Column("alpha_annotator_interval", "95 % interval, annotators resampled", "number"),
            Column("ac1", "Gwet’s AC1", "number"),
            Column("ac1_interval", f"{percent}, pairs resampled", "number"),
            *(further if ordinal else []),
        ],
        rows,
        note=_agreement_note(rows),
    )


def _agreement_note(rows: list[Result]) -> str:
    """Return the reason for each figure that is undefined, and what the intervals cover."""
    reasons = {
        f"{row['of']}, {UNDEFINED_NAMES[name]}: {reason}."
        for row in rows
        for name, reason in row["undefined"].items()
        if name in UNDEFINED_NAMES
    }
    note = (
        "The interval with annotators resampled also covers the choice of the annotators. It "
        "was computed when the label set was published, at 95 %."
    )
    has_annotators = any(row["alpha_annotator_interval"] for row in rows)
    return " ".join([*sorted(reasons), *([note] if has_annotators else [])])


def _warnings(result: Result) -> list[str]:
    if result["first_labels"] is not None:
        return []
    return [
        "An older version of Hearth published this label set and did not record first labels. "
        "Its figures of agreement are of all labels. A third label is requested only if two "
        "labels differ, which makes alpha too high."
    ]


def _charts(result: Result) -> list[Chart]:
    rows = [
        {"labels": row["labels"], "pairs": row[key], "outcome": title}
        for row in result["by_number"]
        for key, title in OUTCOMES.items()
    ]
    order = [OUTCOMES[key] for key in ("irrelevant", "relevant", "undecided")]
    outcome = name_of("outcome", order=order)
    return [
        Chart(
            "by-number",
            "Pairs by their number of labels",
            "Bars of pairs for each number of labels: relevant, not relevant, undecided.",
            spec(
                rows,
                BARS,
                x=step("labels", "Labels of the pair"),
                y=count("pairs", "Pairs (log)"),
                color=outcome,
                xOffset=offset(outcome),
            ),
        )
    ]


LABELS = Analysis(
    name="labels",
    title="The labels and their agreement",
    question="How many pairs were judged, with which outcome, and do annotators agree?",
    source="Table 2, figure 7",
    form=LabelsForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    warnings=_warnings,
    runs_needed=0,
    needs_labels=True,
    notes=(
        "Quote the figures of the first labels. These are the planned labels, in the order of "
        "the answers. In imported files they are the first two labels of a pair. A third label "
        "is requested only if the first two differ. Figures of all labels therefore count pairs "
        "that differ too often, and alpha is too high.",
        "“Two labels equal” is the share of the label pairs of a pair that agree, as a mean over "
        "pairs (Fleiss). Alpha is 1 for perfect agreement and 0 for chance. If nearly all labels "
        "are not relevant, alpha is low even if annotators agree well. Gwet’s AC1 is not.",
        "In the table by number of labels, a label counts as relevant or not.",
        "The original positives are not used here.",
    ),
)
