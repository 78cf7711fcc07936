"""Tables and charts of the simulation of cheaper pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from evaluation.lab.analyses.charts import (
    BAND,
    LINES,
    PERCENT,
    Chart,
    low_high,
    name_of,
    quantity,
    spans,
)
from evaluation.lab.analyses.intervals import tau_columns, tau_note
from evaluation.lab.analyses.old_results import Ends, Row
from evaluation.lab.analyses.tables import Column, Table

STRATEGY = {
    "depth": "by depth (best rank first)",
    "uniform": "at random",
    "move-to-front": "move to front",
    "max-mean": "bandit, highest mean",
    "thompson": "bandit, Thompson",
}


class SpreadFigures(TypedDict):
    """Medians over the replays of one order, and the band of the middle 90 % of the replays.

    share: the judged share of the pool. tau: Kendall's tau with the ranking by all labels; null if
    undefined in all replays.
    """

    share: float | None
    share_band: Ends | None
    pairs: float | None
    pairs_band: Ends | None
    positives: float | None
    positives_band: Ends | None
    tau: float | None
    tau_band: Ends | None


class EnoughRow(SpreadFigures):
    """The smallest budget of judged pairs with which no error exceeds the tolerated error.

    strategy: a key of `STRATEGY`.
    """

    strategy: str


class BudgetRow(EnoughRow):
    """One budget of judged pairs. error: the largest error of a system's score."""

    error: float | None
    error_band: Ends | None


class ReplayResult(TypedDict):
    measure: str
    error: float
    seeds: int
    systems: int
    rows: list[BudgetRow]
    enough: list[EnoughRow]


def _named(rows: Sequence[EnoughRow]) -> list[Row]:
    return [{**row, "strategy": STRATEGY[row["strategy"]]} for row in rows]


def _replays(result: ReplayResult) -> str:
    if result["seeds"] == 1:
        return "One replay of each order."
    return (
        f"Medians of {result['seeds']} replays of each order. A band contains the middle 90 % of "
        "them."
    )


def tables(result: ReplayResult) -> list[Table]:
    order = Column("strategy", "Order of the pairs")
    share = Column("share", "Share of the pool, %", "percent")
    judged = [
        Column("pairs", "Pairs judged", "count"),
        Column("positives", "Relevant pairs", "count"),
        Column("positives_band", "Band", "count"),
    ]
    tau = tau_columns(
        result["systems"],
        Column("tau", "Kendall’s tau with the ranking by all labels", "number"),
        Column("tau_band", "Band of tau", "number"),
    )
    replays = f"{_replays(result)} {tau_note(result['systems'])}".strip()
    return [
        Table(
            "enough",
            f"Smallest number of judged pairs with errors of {result['measure']} up to "
            f"{result['error']:g} points",
            [
                order,
                share,
                Column("share_band", "Band, %", "percent"),
                *judged,
                *tau,
            ],
            _named(result["enough"]),
            note=f"{_replays(result)} The smallest number of a replay is the number of judged "
            f"pairs from which on no system has an error above {result['error']:g} points. Only "
            "the numbers in the table “All budgets” were tried, so a smaller number between two of "
            "them may be enough.",
        ),
        Table(
            "budgets",
            "All budgets",
            [
                order,
                share,
                *judged,
                Column("error", "Largest error, points", "percent"),
                Column("error_band", "Band of the error, points", "percent"),
                *tau,
            ],
            _named(result["rows"]),
            note=replays,
        ),
    ]


def charts(result: ReplayResult) -> list[Chart]:
    error = quantity("error", "Largest error", axis={"format": ".1%"})
    return [
        Chart(
            "error",
            f"Error of {result['measure']} by the judged share",
            "A line for each order: the median of its replays, within the band of the middle 90 "
            "% of them. The error is the largest difference between a system’s score and its "
            "score by all labels. It is zero when all pairs are judged.",
            _lines(result["rows"], error),
        ),
        Chart(
            "positives",
            "Relevant pairs found",
            "A rising line for each order, within its band: the number of relevant pairs that are "
            "judged.",
            _lines(result["rows"], quantity("positives", "Relevant")),
        ),
    ]


def _lines(rows: Sequence[BudgetRow], height: dict[str, Any]) -> dict[str, Any]:
    """Return a line of medians for each order, within the band of its replays."""
    name = height["field"]
    values = [{**row, **low_high(row[f"{name}_band"])} for row in _named(rows)]
    ends = {"y": {**height, "field": "low"}, "y2": {"field": "high"}}
    return {
        "data": {"values": values},
        "encoding": {
            "x": quantity("share", "Share of the pool judged", axis={"format": PERCENT}),
            "color": name_of("strategy", "Order", order=list(STRATEGY.values())),
        },
        "layer": [*spans(values, ends, BAND), {"mark": LINES, "encoding": {"y": height}}],
    }
