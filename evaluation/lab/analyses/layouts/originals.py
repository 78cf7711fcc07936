"""Tables, chart and warnings of the rejected original positives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

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
    few_in_part_warnings,
    few_units_warnings,
    interval_title,
)
from evaluation.lab.analyses.old_results import Ends, Row, WithIntervals
from evaluation.lab.analyses.tables import Column, Table

BY = {"kept": "With rejected", "dropped": "Without rejected"}


class PositiveCounts(TypedDict):
    """Numbers of the judged original positives by their label.

    judged: number of all judged original positives. settled: number of those with a label.
    relevant, irrelevant: number of the settled ones that are relevant, and number of the rejected
    ones.
    """

    judged: int
    settled: int
    relevant: int
    irrelevant: int


class RejectedShare(TypedDict):
    """The rejected share of the settled original positives. It is null if none is settled.

    interval: the interval of the share. share_units: number of resampling units that the settled
    original positives belong to.
    """

    share: float | None
    interval: Ends | None
    share_units: int


class CorrectedShares(TypedDict):
    """Numbers that are corrected for wrong labels; null if the error rates are unknown.

    share_corrected: the share of the settled original positives that are not relevant.
    without_corrected: the number of captions that lose their only positive.
    """

    share_corrected: float | None
    share_corrected_interval: Ends | None
    without_corrected: float | None
    without_corrected_interval: Ends | None


class OriginalsRow(TypedDict):
    """The score of a run with the rejected original positives (kept), and without them (dropped).

    difference: dropped - kept.
    """

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


class OriginalsResult(PositiveCounts, RejectedShare, CorrectedShares, WithIntervals):
    """The judged original positives, and the scores with and without the rejected ones.

    known: number of all original positives. without: number of captions that lose their only
    positive if the rejected ones are left out.
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
                Column("irrelevant", "Rejected", "count"),
                Column("share", "Rejected, % of settled", "percent"),
                Column("interval", percent, "percent"),
                Column("share_corrected", "Not relevant, corrected for wrong labels, %", "percent"),
                Column("share_corrected_interval", percent, "percent"),
                Column("without", "Captions that lose their only positive", "count"),
                Column("without_corrected", "Corrected for wrong labels", "number"),
                Column("without_corrected_interval", percent, "number"),
            ],
            [{**dict.fromkeys(CorrectedShares.__annotations__), **result}],
        ),
        Table(
            "scores",
            "Scores by the labels, with and without the rejected positives, %",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("kept", BY["kept"], "percent"),
                Column("dropped", BY["dropped"], "percent"),
                Column("difference", "Without minus with", "points"),
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
    # Results of older code versions do not contain the number of these units.
    units = result.get("share_units", FEW_CLUSTERS)
    return few_units_warnings(result) or few_in_part_warnings(
        result, units, "The settled original positives", "the rejected share"
    )


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
