"""Tables, chart and warnings of the gain from equal captions."""

from __future__ import annotations

from typing import TypedDict

from evaluation.lab.analyses.charts import (
    BY_LABELS,
    DOTS,
    ORIGINAL_POSITIVES,
    RULES,
    Chart,
    by_measure,
    low_high,
    name_of,
    quantity,
    spans,
)
from evaluation.lab.analyses.intervals import few_units_warnings, interval_title
from evaluation.lab.analyses.old_results import Ends, Row, WithIntervals
from evaluation.lab.analyses.tables import Column, Table

BY = {"original": ORIGINAL_POSITIVES, "labelled": BY_LABELS}
# A text that adds at least this share of the added positives may be a careless caption.
SUSPICIOUS = 0.1
UNCHANGED = "By this rule, equal captions add no positives. The scores do not change."


class GainRow(TypedDict):
    """A score without and with the positives of equal captions. by: a key of `BY`."""

    by: str
    run: str
    measure: str
    plain: float | None
    twins: float | None
    difference: float | None
    interval: Ends | None


class TextRow(TypedDict):
    """A text with its first caption, and its numbers of captions, videos and added positives."""

    text: str
    caption_id: str
    captions: int
    videos: int
    added: int


class AddedLabels(TypedDict):
    """The labels of the added positives. share: the relevant share; null if none has a label."""

    pairs: int
    relevant: int
    irrelevant: int
    share: float | None


class EqualCaptionsResult(WithIntervals):
    """The gain from equal captions.

    with_twins: number of captions that gain positives. added: number of these positives.
    """

    rule: str
    captions: int
    with_twins: int
    positives: int
    added: int
    judged: AddedLabels
    rows: list[GainRow]
    texts: list[TextRow]


def tables(result: EqualCaptionsResult) -> list[Table]:
    """Return the tables. If no positive is added, the scores do not change, and are left out."""
    summary = Table(
        "summary",
        "Captions with equal texts",
        _summary_columns(),
        [{**result, **_judged_cells(result)}],
        note="" if result["added"] else UNCHANGED,
    )
    return [summary, *_tables_of_gain(result)] if result["added"] else [summary]


def _tables_of_gain(result: EqualCaptionsResult) -> list[Table]:
    scores = [
        Column("run", "Run"),
        Column("measure", "Measure"),
        Column("plain", "Without equal captions", "percent"),
        Column("twins", "With equal captions", "percent"),
        Column("difference", "Difference", "points"),
        Column("interval", interval_title(result["confidence"]), "points"),
    ]
    titles = {
        "original": "Scores by the original positives, %",
        "labelled": "Scores by the labels, %",
    }
    return [
        *(
            Table(by, titles[by], scores, [row for row in result["rows"] if row["by"] == by])
            for by in BY
            if any(row["by"] == by for row in result["rows"])
        ),
        Table(
            "texts",
            "Texts with the most captions",
            [
                Column("text", "Text", names="caption"),
                Column(
                    "caption_id",
                    "First caption",
                    compared=lambda row: {"caption": row["caption_id"]},
                ),
                Column("captions", "Captions", "count"),
                Column("videos", "Videos", "count"),
                Column("added", "Added positives", "count"),
            ],
            result["texts"],
            note="Only texts that add positives are listed.",
        ),
    ]


def warnings(result: EqualCaptionsResult) -> list[str]:
    """Return warnings about few videos, and about a text with many of the added positives.

    Such a text may be a careless caption.
    """
    few = few_units_warnings(result)
    text = max(result["texts"], key=lambda row: row["added"], default=None)
    if text is None or text["added"] < SUSPICIOUS * result["added"]:
        return few
    return [
        f"The text “{text['text']}” was written for {text['videos']:,} videos and has "
        f"{text['added']:,} of the {result['added']:,} added positives. Check that the text "
        "describes these videos.",
        *few,
    ]


def _summary_columns() -> list[Column]:
    return [
        Column("captions", "Captions", "count"),
        Column("with_twins", "Captions that gain positives", "count"),
        Column("positives", "Original positives", "count"),
        Column("added", "Added positives", "count"),
        Column("judged_pairs", "Added positives judged", "count"),
        Column("judged_relevant", "Judged relevant", "count"),
        Column("judged_irrelevant", "Judged not relevant", "count"),
        Column("judged_share", "Relevant, %", "percent"),
    ]


def _judged_cells(result: EqualCaptionsResult) -> Row:
    return {f"judged_{name}": value for name, value in result["judged"].items()}


def charts(result: EqualCaptionsResult) -> list[Chart]:
    if not result["added"]:
        return []
    rows = [
        {
            "run": row["run"],
            "measure": row["measure"],
            "by": BY[row["by"]],
            "difference": row["difference"],
            **low_high(row["interval"]),
        }
        for row in result["rows"]
    ]
    gain = quantity("difference", "Gain", axis={"format": "+.1%"})
    bounds = {"x": {**gain, "field": "low"}, "x2": {"field": "high"}}
    plot = {
        "width": 300,
        "height": {"step": 26},
        "encoding": {"y": name_of("run"), "color": name_of("by", order=list(BY.values()))},
        "layer": [
            {"mark": RULES, "encoding": {"x": {"datum": 0}}},
            *spans(rows, bounds),
            {"mark": DOTS, "encoding": {"x": gain}},
        ],
    }
    return [
        Chart(
            "gain",
            "Gain from the positives of equal captions",
            "Each measure has a dot for each run: the score with the positives of equal captions "
            "minus the score without them. The dot is on a line that shows its interval.",
            by_measure(rows, plot, same_scale=True),
        )
    ]
