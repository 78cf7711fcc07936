"""Table, chart and warnings of the scores before and after the labels."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.lab.analyses.charts import (
    BY_LABELS,
    DOTS,
    ORIGINAL_POSITIVES,
    PERCENT,
    Chart,
    by_measure,
    low_high,
    name_of,
    quantity,
    spans,
)
from evaluation.lab.analyses.intervals import (
    few_units_warnings,
    interval_title,
    method_title,
)
from evaluation.lab.analyses.old_results import Ends, Row, WithIntervals
from evaluation.lab.analyses.saturation import SaturationFigures, saturation_warnings
from evaluation.lab.analyses.tables import Column, Table
from pooling.enums import EqualTexts

BY = {"labelled": BY_LABELS, "original": ORIGINAL_POSITIVES}


class ScoreFigures(SaturationFigures):
    """The scores by the labels and by the original positives, and their difference."""

    labelled: float | None
    labelled_interval: Ends | None
    labelled_method: str | None
    original: float | None
    original_interval: Ends | None
    original_method: str | None
    difference: float | None
    difference_interval: Ends | None
    difference_method: str | None


class ScoreRow(ScoreFigures):
    """The scores of one run in one measure."""

    run: str
    measure: str


class ScoresResult(WithIntervals):
    """The scores of all runs. twins: the rule for equal captions.

    disagreement: see `SignificanceResult`.
    """

    twins: str
    rows: list[ScoreRow]
    disagreement: float | None


def tables(result: ScoresResult) -> list[Table]:
    percent = interval_title(result["confidence"])
    return [
        Table(
            "scores",
            "Scores A (B + C), in %",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("labelled", "A: by the labels", "percent"),
                Column("labelled_interval", percent, "percent"),
                Column("original", "B: original positives", "percent"),
                Column("original_interval", percent, "percent"),
                Column("difference", "C: difference", "points"),
                Column("difference_interval", percent, "points"),
                Column("method", "Intervals of A and B"),
            ],
            [{**row, "method": method_title(row.get("labelled_method"))} for row in result["rows"]],
        )
    ]


def charts(result: ScoresResult) -> list[Chart]:
    scores: Sequence[Row] = result["rows"]
    rows = [
        {
            "run": row["run"],
            "measure": row["measure"],
            "positives": title,
            "score": row[by],
            **low_high(row[f"{by}_interval"]),
        }
        for row in scores
        for by, title in BY.items()
    ]
    score = quantity("score", "Score", axis={"format": PERCENT}, scale={"zero": False})
    bounds = {"x": {**score, "field": "low"}, "x2": {"field": "high"}}
    plot = {
        "width": 300,
        "height": {"step": 26},
        "encoding": {
            "y": name_of("run"),
            "color": name_of("positives", order=list(BY.values())[::-1]),
        },
        "layer": [*spans(rows, bounds), {"mark": DOTS, "encoding": {"x": score}}],
    }
    return [
        Chart(
            "scores",
            "Scores with their intervals",
            "Each measure has two dots for each run: the score by the labels and by the original "
            "positives. Each dot is on a line that shows its interval.",
            by_measure(rows, plot),
        )
    ]


def warnings(result: ScoresResult) -> list[str]:
    twins = (
        ["A and B also count the positives of equal captions."]
        if result.get("twins", EqualTexts.OFF) != EqualTexts.OFF
        else []
    )
    return twins + few_units_warnings(result) + saturation_warnings(result["rows"])
