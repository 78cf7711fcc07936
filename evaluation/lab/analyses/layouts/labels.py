"""Tables, chart and warning of the labels and their agreement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from evaluation.core.people.agreement_figures import LabelAgreement
from evaluation.core.people.alpha import alpha_in_words
from evaluation.lab.analyses.charts import (
    BARS,
    Chart,
    count,
    name_of,
    offset,
    spec,
    step,
)
from evaluation.lab.analyses.intervals import (
    interval_title,
)
from evaluation.lab.analyses.old_results import Ends, Row
from evaluation.lab.analyses.tables import Column, Table

OUTCOMES = {"relevant": "Relevant", "irrelevant": "Not relevant", "undecided": "Undecided"}
UNDEFINED_NAMES = {
    "agreement": "labels equal",
    "alpha": "alpha",
    "alpha_interval": "interval of alpha, annotators resampled",
    "alpha_interval_pairs": "interval of alpha, pairs resampled",
}


class OutcomeCounts(TypedDict):
    """Numbers of pairs by their label. undecided: pairs that are pending or in conflict."""

    pairs: int
    relevant: int
    irrelevant: int
    undecided: int


class AgreementFigures(TypedDict):
    """The agreement of some pairs; null if undefined. disagreement: 1 - agreement."""

    agreement: float | None
    disagreement: float | None
    alpha: float | None
    alpha_interval_pairs: Ends | None


class LabelCountRow(OutcomeCounts, AgreementFigures):
    """The pairs that have the same number of labels."""

    labels: int


class OriginalCounts(OutcomeCounts):
    """The judged original positives. known: number of all original positives."""

    known: int


class QuotedFigures(AgreementFigures):
    """The figures to quote: those of the planned labels if they are known, else of all labels.

    several: number of pairs with several labels. first_labels, all_labels: all figures, as
    `core.people.agreement_figures.figures_of` returns them.
    """

    several: int
    first_two_agreement: float | None
    pairwise_agreement: float | None
    alpha_interval: Ends | None
    alpha_annotator_interval: Ends | None
    ac1: float | None
    ac1_interval: Ends | None
    first_labels: LabelAgreement | None
    all_labels: LabelAgreement


class LabelsResult(OutcomeCounts, QuotedFigures):
    """The labels of a benchmark and their agreement.

    labels: number of labels. The labels of equal captions count once.
    """

    confidence: float
    labels: int
    by_number: list[LabelCountRow]
    originals: OriginalCounts


def tables(result: LabelsResult) -> list[Table]:
    percent = interval_title(result["confidence"])
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
            note="Scores count all original positives as positive, including rejected ones, "
            "unless “Labels only” is selected.",
        ),
        Table(
            "by-number",
            "By the number of labels",
            by_number,
            result["by_number"],
            note="If a third label is requested only when two labels differ, the labels of pairs "
            "with two labels nearly always agree, and those of pairs with three never agree.",
        ),
    ]


def _agreement_table(result: LabelsResult, percent: str) -> Table:
    """Return the table of agreement, with a row for planned labels and one for all labels."""
    parts = {
        "Planned labels of each pair": result["first_labels"],
        "All labels": result["all_labels"],
    }
    rows: list[Row] = [
        {"of": name, **figures} for name, figures in parts.items() if figures is not None
    ]
    ordinal = rows[0]["alpha_level"] == "ordinal"
    further = [
        Column("alpha_nominal", "Alpha, nominal", "number"),
        Column("ac2", "Gwet’s AC2, ordinal", "number"),
        Column("relevance_alpha", "Alpha, relevant or not relevant", "number"),
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
            Column("alpha_interval", "95 % interval, annotators resampled", "number"),
            Column("alpha_interval_pairs", f"{percent}, pairs resampled", "number"),
            Column("ac1", "Gwet’s AC1", "number"),
            Column("ac1_interval", f"{percent}, pairs resampled", "number"),
            *(further if ordinal else []),
        ],
        rows,
        note=_agreement_note(rows),
    )


def _agreement_note(rows: Sequence[Row]) -> str:
    """Return the reason for each figure that is undefined, and what the intervals cover."""
    reasons = {
        f"{row['of']}, {UNDEFINED_NAMES[name]}: {reason}."
        for row in rows
        for name, reason in row["undefined"].items()
        if name in UNDEFINED_NAMES
    }
    note = (
        "Quote alpha with the interval that resamples annotators, because the other one holds only "
        "for the same annotators. It was computed when the label set was published, at 95 %."
    )
    has_annotators = any(row["alpha_interval"] for row in rows)
    alpha = rows[0]["alpha"]
    words = [f"Alpha is {alpha_in_words(alpha)}."] if alpha is not None else []
    return " ".join([*words, *sorted(reasons), *([note] if has_annotators else [])])


def warnings(result: LabelsResult) -> list[str]:
    if result["first_labels"] is not None:
        return []
    return [
        "An older version of Hearth published this label set and did not record planned labels. "
        "Its agreement is therefore that of all labels. A third label is requested only if two "
        "labels differ, which makes alpha too high."
    ]


def charts(result: LabelsResult) -> list[Chart]:
    by_number: Sequence[Row] = result["by_number"]
    rows = [
        {"labels": row["labels"], "pairs": row[key], "outcome": title}
        for row in by_number
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
