"""Tables and chart of the bounds of scores."""

from __future__ import annotations

from typing import TypedDict

from evaluation.core.relevance.measures import parse_measure
from evaluation.lab.analyses.charts import (
    DOTS,
    PERCENT,
    RULES,
    Chart,
    by_measure,
    low_high,
    name_of,
    quantity,
)
from evaluation.lab.analyses.intervals import interval_title
from evaluation.lab.analyses.old_results import Ends, Row, WithIntervals
from evaluation.lab.analyses.tables import Column, Table


class BoundsRow(TypedDict):
    """The score of one run in one measure, with its bounds and its estimate.

    bounds, bounds_all: over the listed pairs, and over all unjudged pairs, if all labels are right.
    bounds_corrected: over the listed pairs, allowing for wrong labels; null if unknown. judged: the
    judged share of the first `judged_depth` ranks. condensed: the score without unjudged videos.
    expected: the estimate; null if there is none.
    """

    run: str
    measure: str
    score: float | None
    bounds: list[float | None]
    bounds_corrected: Ends | None
    bounds_all: list[float | None]
    judged_depth: int
    judged: float | None
    condensed: float | None
    expected: float | None
    expected_interval: Ends | None


class JudgedFigures(TypedDict):
    """The judged share of a run's lists, and its scores in measures for missing judgments."""

    judged: float | None
    unjudged_listed: int
    unjudged_unlisted: int
    unlisted_per_caption: float | None
    bpref: float
    infap: float


class JudgedRow(JudgedFigures):
    """The figures of one run."""

    run: str


class CheckRow(TypedDict):
    """The estimate of a score for a run that was left out of the pool.

    truth: the score with all labels. known: the score without the labels of the pairs that only
    this run contributed.
    """

    run: str
    measure: str
    truth: float | None
    known: float | None
    expected: float | None


class BoundsResult(WithIntervals):
    depth: int
    highest_grade: int
    rows: list[BoundsRow]
    judged: list[JudgedRow]
    checks: list[CheckRow]


# If there are at least this many unjudged pairs per caption outside of the lists, the lower bound
# over all unjudged pairs is close to 0.
MANY_UNLISTED = 20


FOR_MISSING = (
    "bpref and infAP are measures for incomplete judgments. bpref leaves out unjudged videos. "
    "infAP assumes that unjudged videos are relevant as often as the judged videos above them in "
    "the list. This is correct if a random part of the pool was judged, but not for a system whose "
    "pairs were not pooled."
)


def tables(result: BoundsResult) -> list[Table]:
    checks = [
        {
            **row,
            "without": _minus(row["known"], row["truth"]),
            "error": _minus(row["expected"], row["truth"]),
        }
        for row in result["checks"]
    ]
    return [
        Table(
            "bounds",
            "Scores and their bounds",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("score", "Unjudged counted as not relevant, %", "percent"),
                Column("judged_depth", "Ranks used", "count"),
                Column("judged", "Judged share of these, %", "percent"),
                Column("bounds", "Bounds over the listed pairs, %", "percent"),
                Column(
                    "bounds_corrected",
                    f"Corrected for wrong labels, {interval_title(result['confidence'])}",
                    "percent",
                ),
                Column("bounds_all", "Bounds over all unjudged pairs, %", "percent"),
                Column("expected", "Estimate, %", "percent"),
                Column("expected_interval", interval_title(result["confidence"]), "percent"),
                Column("condensed", "Unjudged videos removed, %", "percent"),
            ],
            [{**row, "bounds_corrected": row.get("bounds_corrected")} for row in result["rows"]],
            note=_describe_bounds(result),
        ),
        Table(
            "judged",
            "Judged share",
            [
                Column("run", "Run"),
                Column("judged", f"Judged@{result['depth']}, %", "percent"),
                Column("unjudged_listed", "Unjudged pairs in the lists", "count"),
                Column("unjudged_unlisted", "Unjudged pairs outside of the lists", "count"),
                Column("unlisted_per_caption", "Outside of the lists, per caption", "number"),
                Column("bpref", "bpref, %", "percent"),
                Column("infap", "infAP, %", "percent"),
            ],
            result["judged"],
            note=FOR_MISSING,
        ),
        Table(
            "checks",
            "Error of the estimate, for each run left out of the pool",
            [
                Column("run", "Run left out"),
                Column("measure", "Measure"),
                Column("truth", "With all labels, %", "percent"),
                Column("known", "Without its own labels, %", "percent"),
                Column("without", "Error, points", "points"),
                Column("expected", "Estimate, %", "percent"),
                Column("error", "Error of the estimate, points", "points"),
            ],
            checks,
            note="“Its own labels” are the labels of the pairs that only this run contributed. "
            "Unjudged pairs count as not relevant in the scores with and without these labels.",
        ),
    ]


def _describe_bounds(result: BoundsResult) -> str:
    highest = result["highest_grade"]
    grades = "be relevant or not" if highest == 1 else f"get any grade from 0 to {highest}"
    text = (
        "The bounds over the listed pairs assume that all labels are right, that the unjudged "
        f"pairs in the top {result['depth']} of a run may {grades}, and that all other pairs stay "
        "unjudged. In the "
        "bounds over all unjudged pairs, unjudged pairs outside of the lists may be relevant, too. "
        "This lowers only the lower bounds of R, AP and nDCG, which divide by the number of all "
        "relevant pairs."
    )
    unlisted = max((row["unlisted_per_caption"] or 0 for row in result["judged"]), default=0)
    divided = any(parse_measure(row["measure"]).kind.divides_by_all for row in result["rows"])
    if not divided or unlisted < MANY_UNLISTED:
        return text
    return (
        f"{text} The lower bounds of these measures over all unjudged pairs are close to 0 in this "
        f"benchmark: they count all {unlisted:,.0f} unjudged pairs per caption outside of the "
        "lists as relevant. A low bound shows that these pairs are unknown, not that the score is "
        "wrong."
    )


def _minus(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def charts(result: BoundsResult) -> list[Chart]:
    rows: list[Row] = [{**row, **low_high(row["bounds"])} for row in result["rows"]]
    score = quantity("score", "Score", axis={"format": PERCENT}, scale={"zero": False})
    plot = {
        "width": 300,
        "height": {"step": 26},
        "encoding": {"y": name_of("run"), "color": name_of("run")},
        "layer": [
            {"mark": RULES, "encoding": {"x": {**score, "field": "low"}, "x2": {"field": "high"}}},
            {"mark": DOTS, "encoding": {"x": score}},
        ],
    }
    return [
        Chart(
            "bounds",
            "Scores with their bounds over the listed pairs",
            "Each measure has a dot for each run, on a line from the lower to the upper bound over "
            "the listed pairs. Listed pairs are the pairs in the ranked lists of the run, cut at "
            "the depth. If all of them are judged, the line is a point.",
            by_measure(rows, plot),
        )
    ]
