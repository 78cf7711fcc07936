"""Tables and charts of the ranks by the original positives and by each label set."""

from __future__ import annotations

from typing import TypedDict

from evaluation.lab.analyses.charts import (
    DOTS,
    PERCENT,
    Chart,
    low_high,
    name_of,
    quantity,
    spans,
    spec,
    step,
)
from evaluation.lab.analyses.intervals import (
    interval_title,
    tau_columns,
    tau_note,
)
from evaluation.lab.analyses.old_results import Ends, Row, WithIntervals
from evaluation.lab.analyses.tables import Column, Table
from evaluation.models import DRAFT
from evaluation.release.selectors import ORIGINAL


class BoundsAndJudged(TypedDict):
    """The bounds of a score, and the judged share of the `judged_depth` ranks that it uses."""

    bounds: list[float | None]
    judged: float | None
    judged_depth: int


class BoardRow(BoundsAndJudged):
    """The rank and the score of a run by the selected labels, and by the original positives.

    bounds_corrected: the bounds, allowing for wrong labels; null if unknown.
    """

    run: str
    rank: int
    rank_interval: list[int]
    original_rank: int
    score: float
    original: float
    bounds_corrected: Ends | None


class ReleaseRow(TypedDict):
    """The score of a run by one label set. labels: a version, the draft or `ORIGINAL`."""

    labels: str
    run: str
    score: float
    rank: int


class MoveFigures(TypedDict):
    """Kendall's tau of two rankings. same_order: share of the resamples with equal rankings."""

    tau: float | None
    interval: Ends | None
    same_order: float


class MoveRow(MoveFigures):
    """The rankings by two successive label sets."""

    before: str
    after: str


class LeaderboardResult(WithIntervals):
    measure: str
    board: list[BoardRow]
    releases: list[ReleaseRow]
    moves: list[MoveRow]


def tables(result: LeaderboardResult) -> list[Table]:
    percent = interval_title(result["confidence"])
    n_systems = len(result["board"])
    return [
        Table(
            "board",
            f"Ranks by {result['measure']}",
            [
                Column("rank", "Rank", "count"),
                Column("run", "Run"),
                Column("rank_interval", percent, "count"),
                Column("original_rank", "Rank by the original positives", "count"),
                Column("score", "Score, %", "percent"),
                Column("original", "Score by the original positives, %", "percent"),
                Column("bounds", "Bounds over the listed pairs, %", "percent"),
                Column("bounds_corrected", f"Corrected for wrong labels, {percent}", "percent"),
                Column("judged_depth", "Ranks used", "count"),
                Column("judged", "Judged share of these, %", "percent"),
            ],
            [{**row, "bounds_corrected": row.get("bounds_corrected")} for row in result["board"]],
        ),
        Table(
            "releases",
            "By each label set",
            [
                Column("labels", "Labels"),
                Column("run", "Run"),
                Column("rank", "Rank", "count"),
                Column("score", "Score, %", "percent"),
            ],
            [{**row, "labels": title(row["labels"])} for row in result["releases"]],
        ),
        Table(
            "moves",
            "From one label set to the next",
            [
                Column("before", "From"),
                Column("after", "To"),
                *tau_columns(
                    n_systems,
                    Column("tau", "Kendall’s tau", "number"),
                    Column("interval", percent, "number"),
                ),
                Column("same_order", "Resamples in which the order stays, %", "percent"),
            ],
            [
                {**row, "before": title(row["before"]), "after": title(row["after"])}
                for row in result["moves"]
            ],
            note=tau_note(n_systems),
        ),
    ]


def title(reference: str) -> str:
    """Return the name of labels in tables."""
    if reference == ORIGINAL:
        return "Original positives"
    return "Draft" if reference == DRAFT else f"Label set {reference}"


def charts(result: LeaderboardResult) -> list[Chart]:
    rows: list[Row] = [{**row, "labels": title(row["labels"])} for row in result["releases"]]
    releases = list(dict.fromkeys(row["labels"] for row in rows))
    bounded_rows = [{**row, **low_high(row["bounds"])} for row in result["board"]]
    score = quantity("score", result["measure"], axis={"format": PERCENT}, scale={"zero": False})
    return [
        Chart(
            "ranks",
            "Ranks by each label set",
            "A line for each run: its rank by the original positives, then by each label set.",
            spec(
                rows,
                {"type": "line", "point": {"size": 80}, "tooltip": True},
                x=step("labels", "", sort=releases),
                y=quantity(
                    "rank",
                    "Rank",
                    scale={"reverse": True, "zero": False},
                    axis={"tickMinStep": 1, "format": "d"},
                ),
                color=name_of("run"),
            ),
        ),
        Chart(
            "bounds",
            "Scores with their bounds",
            "A dot for the score of each run, in the order of ranks. Its line goes from the lowest "
            "to the highest score that the unjudged pairs allow.",
            {
                "data": {"values": bounded_rows},
                "height": {"step": 26},
                "encoding": {"y": name_of("run", order=[row["run"] for row in result["board"]])},
                "layer": [
                    *spans(bounded_rows, {"x": {**score, "field": "low"}, "x2": {"field": "high"}}),
                    {"mark": DOTS, "encoding": {"x": score}},
                ],
            },
        ),
    ]
