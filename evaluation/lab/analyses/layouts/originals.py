"""Tables, chart and warnings of the rejected original positives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from config.shared.words import counted
from evaluation.core.statistics.resampling import FEW_CLUSTERS
from evaluation.lab.analyses.charts import (
    DOTS,
    PERCENT,
    Chart,
    by_measure,
    name_of,
    quantity,
)
from evaluation.lab.analyses.intervals import (
    NAMES,
    few_units_warnings,
    interval_title,
)
from evaluation.lab.analyses.results import Ends, Row, WithIntervals
from evaluation.lab.analyses.tables import Column, Table

BY = {"kept": "With rejected", "dropped": "Without rejected"}


class PositiveCounts(TypedDict):
    """Numbers of original positives by their label."""

    judged: int
    settled: int
    relevant: int
    irrelevant: int


class RejectedShare(TypedDict):
    """The rejected share of the settled original positives; null without any.

    share_units: number of resampling units that the settled original positives belong to.
    """

    share: float | None
    interval: Ends | None
    share_units: int


class OriginalsRow(TypedDict):
    """The score of a run with and without the rejected original positives."""

    run: str
    measure: str
    kept: float | None
    dropped: float | None
    difference: float | None
    difference_interval: Ends | None


class RejectedRow(TypedDict):
    """A rejected original positive with its numbers of judgments."""

    caption_id: str
    caption: str
    video_id: str
    judgments: int
    relevant: int


class OriginalsResult(PositiveCounts, RejectedShare, WithIntervals):
    """The judged original positives, and the scores without the rejected ones.

    known: number of original positives. without: captions that lose their only positive.
    """

    known: int
    without: int
    rows: list[OriginalsRow]
    examples: list[RejectedRow]


def tables(result: OriginalsResult) -> list[Table]:
    percent = interval_title(result["confidence"])
    return [
        Table(
            "originals",
            "Judged original positives",
            [
                Column("known", "Original positives", "count"),
                Column("judged", "Judged", "count"),
                Column("settled", "Settled", "count"),
                Column("relevant", "Relevant", "count"),
                Column("irrelevant", "Not relevant", "count"),
                Column("share", "Not relevant, % of settled", "percent"),
                Column("interval", percent, "percent"),
                Column("without", "Captions that lose their only positive", "count"),
            ],
            [result],
        ),
        Table(
            "scores",
            "Scores by the labels, with and without the rejected positives, %",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("kept", BY["kept"], "percent"),
                Column("dropped", BY["dropped"], "percent"),
                Column("difference", "Difference", "points"),
                Column("difference_interval", percent, "points"),
            ],
            result["rows"],
        ),
        Table(
            "examples",
            "Rejected original positives",
            [
                Column("caption", "Caption", names="caption"),
                Column("caption_id", "Key", compared=lambda row: {"caption": row["caption_id"]}),
                Column("video_id", "Video", names="video"),
                Column("judgments", "Judgments", "count"),
                Column("relevant", "Relevant judgments", "count"),
            ],
            result["examples"],
        ),
    ]


def warnings(result: OriginalsResult) -> list[str]:
    units = result.get("share_units", FEW_CLUSTERS)
    if few := few_units_warnings(result):
        return few
    if not 0 < units < FEW_CLUSTERS:
        return []
    name = NAMES[result["unit"]]
    return [
        f"The settled original positives belong to only {counted(units, name)}. The interval of "
        f"the rejected share is wide and depends on each single {name}."
    ]


def charts(result: OriginalsResult) -> list[Chart]:
    scores: Sequence[Row] = result["rows"]
    rows = [
        {"run": row["run"], "measure": row["measure"], "positives": title, "score": row[by]}
        for row in scores
        for by, title in BY.items()
    ]
    if not rows:
        return []
    score = quantity("score", "Score", axis={"format": PERCENT}, scale={"zero": False})
    return [
        Chart(
            "scores",
            "Scores with and without the rejected original positives",
            "Each measure has two dots for each run: the score with the rejected original "
            "positives, and the score without them.",
            by_measure(
                rows,
                {
                    "width": 300,
                    "height": {"step": 26},
                    "mark": DOTS,
                    "encoding": {
                        "x": score,
                        "y": name_of("run"),
                        "color": name_of("positives", order=list(BY.values())),
                    },
                },
            ),
        )
    ]
