"""Tables, charts and warnings of the systems that are left out of a pool."""

from __future__ import annotations

from typing import TypedDict

from evaluation.lab.analyses.charts import (
    BARS,
    LINES,
    Chart,
    name_of,
    offset,
    quantity,
    spec,
    step,
)
from evaluation.lab.analyses.results import Row
from evaluation.lab.analyses.tables import Column, Table

NOTHING_LOST = "No score changes if a system is left out, so there is no chart."
POINTS = {"axis": {"format": "+.1%"}}
# With a lower judged share of its lists, a run gets a warning. The limit is below 1, because some
# pairs of a pooled run are in conflict or cannot be played.
POOLED_FROM = 0.95
# If there are more warnings, one warning replaces them.
WARNINGS_MAX = 3


class LeftOutFigures(TypedDict):
    """The scores of a run by measure: with all labels, left out, and their difference.

    pairs, positives: number of pairs that only this run contributed, and of relevant ones among
    them.
    """

    all: dict[str, float | None]
    left_out: dict[str, float | None]
    bias: dict[str, float | None]
    pairs: int
    positives: int


class LeftOutRow(LeftOutFigures):
    """Figures of a run. judged: the judged share of its lists."""

    judged: float


class GrowthRow(TypedDict):
    """The mean bias of an unpooled run by measure, over pools of `pooled` other runs.

    pools: number of pools that were scored. possible: number of pools of this size.
    """

    run: str
    pooled: int
    pools: int
    possible: int
    bias: dict[str, float | None]


class LeaveOneOutResult(TypedDict):
    depth: int
    runs: dict[str, LeftOutRow]
    growth: list[GrowthRow]


def _rows(result: LeaveOneOutResult) -> list[Row]:
    return [
        {
            "run": name,
            "measure": measure,
            "all": row["all"][measure],
            "left_out": row["left_out"][measure],
            "bias": row["bias"][measure],
            "pairs": row["pairs"],
            "positives": row["positives"],
        }
        for name, row in result["runs"].items()
        for measure in row["all"]
    ]


def tables(result: LeaveOneOutResult) -> list[Table]:
    return [
        Table(
            "runs",
            "Each system, pooled and left out",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("all", "All labels, %", "percent"),
                Column("left_out", "Left out, %", "percent"),
                Column("bias", "Difference, points", "points"),
                Column("pairs", "Pairs only it contributed", "count"),
                Column("positives", "Of these, relevant", "count"),
            ],
            _rows(result),
            note="" if _has_differences(result) else NOTHING_LOST,
        ),
        Table(
            "growth",
            "Bias by the number of pooled systems",
            [
                Column("run", "Unpooled run"),
                Column("pooled", "Other runs pooled", "count"),
                Column("pools", "Pools averaged", "count"),
                Column("measure", "Measure"),
                Column("bias", "Mean difference, points", "points"),
            ],
            _growth_rows(result),
        ),
    ]


def _growth_rows(result: LeaveOneOutResult) -> list[Row]:
    return [
        {**row, "measure": measure, "bias": bias}
        for row in result["growth"]
        for measure, bias in row["bias"].items()
    ]


def _has_differences(result: LeaveOneOutResult) -> bool:
    """Return whether any pool of fewer systems changes a score."""
    return any(row["bias"] for row in (*_rows(result), *_growth_rows(result)))


def charts(result: LeaveOneOutResult) -> list[Chart]:
    if not _has_differences(result):
        return []
    run = name_of("run")
    first = next(iter(next(iter(result["runs"].values()))["all"]))
    growth = [row for row in _growth_rows(result) if row["measure"] == first]
    lost = quantity("bias", "Left out minus pooled", **POINTS)
    return [
        Chart(
            "bias",
            "Loss of a system that is left out",
            "Bars for each measure and run: its score without the labels that only it "
            "contributed, minus its score with all labels.",
            spec(
                _rows(result),
                BARS,
                x=step("measure", "Measure", sort=None),
                y=lost,
                xOffset=offset(run),
                color=run,
            ),
        ),
        Chart(
            "growth",
            f"Bias of {first} of an unpooled system, by the number of pooled systems",
            "A line for each run that is left out. The bias usually becomes smaller as more other "
            "systems are pooled.",
            spec(growth, LINES, x=step("pooled", "Other systems pooled"), y=lost, color=run),
        ),
    ]


def warnings(result: LeaveOneOutResult) -> list[str]:
    """Return a warning for each run with a judged share below `POOLED_FROM`.

    A single warning replaces more than `WARNINGS_MAX` warnings.
    """
    depth = result["depth"]
    shares = {name: 100 * row["judged"] for name, row in result["runs"].items()}
    low = {name: share for name, share in shares.items() if share < 100 * POOLED_FROM}
    if len(low) > WARNINGS_MAX:
        return [
            f"{len(low)} runs count as pooled systems, although only {min(low.values()):.1f} to "
            f"{max(low.values()):.1f} % of their top {depth} is judged. Deselect these runs, or "
            "judge their pairs."
        ]
    return [
        f"Only {share:.1f} % of the top {depth} of {name} is judged, but it counts as a pooled "
        "system. Deselect this run, or judge its pairs."
        for name, share in low.items()
    ]
