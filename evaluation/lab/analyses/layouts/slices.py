"""Tables, chart and warnings of scores by slices of captions."""

from __future__ import annotations

from typing import TypedDict

from evaluation.lab.analyses.charts import PERCENT, Chart, dots, horizontal_labels, quantity, step
from evaluation.lab.analyses.inputs import VIDEOS
from evaluation.lab.analyses.intervals import (
    few_in_groups_warnings,
    few_units_warnings,
    interval_title,
    method_title,
)
from evaluation.lab.analyses.old_results import Ends, RunCorrelation, WithIntervals
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.words import counted

LENGTH, POSITIVES, TAGS, AGREEMENT = "length", "positives", "tags", "agreement"


SLICED = {
    LENGTH: "Words in the caption",
    POSITIVES: "Positives of the caption",
    TAGS: "Tags of the caption",
    AGREEMENT: "Agreement on the caption’s pairs",
}


TAGS_MAX = 30


# With more runs there are too many pairs for a table.
COMPARED_MAX = 6


class SliceRow(TypedDict):
    """The mean score of a run in one slice. units: number of resampling units in the slice."""

    run: str
    slice: str
    captions: int
    units: int
    mean: float | None
    interval: Ends | None
    method: str | None


class SliceDifference(TypedDict):
    """The difference of two runs in one slice."""

    slice: str
    first: str
    second: str
    difference: float
    interval: Ends | None
    p_holm: float
    p_randomisation: float


class SlicesResult(WithIntervals):
    """The scores in each slice of the captions.

    by: a key of `SLICED`. slices: their names, in order. left_out: number of unused tags.
    """

    measure: str
    by: str
    slices: list[str]
    left_out: int
    rows: list[SliceRow]
    correlations: list[RunCorrelation]
    differences: list[SliceDifference]


def tables(result: SlicesResult) -> list[Table]:
    percent = interval_title(result["confidence"])
    slices = Table(
        "slices",
        f"{result['measure']} by {SLICED[result['by']].lower()}",
        [
            Column("run", "Run"),
            Column("slice", SLICED[result["by"]]),
            Column("captions", "Captions", "count"),
            *([Column("units", "Videos", "count")] if result.get("unit") == VIDEOS else []),
            Column("mean", "Mean, %", "percent"),
            Column("interval", percent, "percent"),
            Column("method", "Interval by"),
        ],
        [{**row, "method": method_title(row.get("method"))} for row in result["rows"]],
        note=_left_out(result["left_out"]),
    )
    correlations = Table(
        "correlations",
        f"Correlation of the number of {SLICED[result['by']].lower()} with its score",
        [
            Column("run", "Run"),
            Column("spearman", "Spearman’s rho", "number"),
            Column("kendall", "Kendall’s tau-b", "number"),
        ],
        result["correlations"],
    )
    tables = [slices]
    if result.get("differences"):
        tables.append(_differences_table(result, percent))
    # Tags and agreement are not numbers, so they have no correlations.
    return [*tables, correlations] if result["correlations"] else tables


def _differences_table(result: SlicesResult, percent: str) -> Table:
    rows = result["differences"]
    slices = len({row["slice"] for row in rows})
    left_out = len({row["run"] for row in result["rows"]}) - COMPARED_MAX
    return Table(
        "differences",
        "Differences between every two systems in each slice",
        [
            Column("slice", SLICED[result["by"]]),
            Column("first", "Run"),
            Column("second", "Minus run"),
            Column("difference", "Difference, points", "points"),
            Column("interval", percent, "points"),
            Column("p_holm", "p (Holm, whole table)", "p"),
            Column("p_randomisation", "p, randomisation", "p"),
        ],
        rows,
        note=f"Holm’s correction covers the {counted(len(rows), 'test')} of this table: "
        f"{counted(slices, 'slice')} by {counted(len(rows) // slices, 'pair')} of systems."
        + (f" Only the first {COMPARED_MAX} runs are compared." if left_out > 0 else ""),
    )


def warnings(result: SlicesResult) -> list[str]:
    rows = [{"group": row["slice"], **row} for row in result["rows"]]
    return few_units_warnings(result) or few_in_groups_warnings(result, rows, "slice")


def _left_out(tags: int) -> str:
    if not tags:
        return ""
    others = f"{counted(tags, 'other tag')} {'is' if tags == 1 else 'are'} left out"
    return f"Only the {TAGS_MAX} tags with the most captions are used. {others}."


def charts(result: SlicesResult) -> list[Chart]:
    title = SLICED[result["by"]]
    if result["by"] in (TAGS, AGREEMENT):
        runs = {row["run"] for row in result["rows"]}
        place, at = "y", horizontal_labels("slice", result["slices"], len(runs))
    else:
        place, at = "x", step("slice", title, sort=result["slices"])
    score = quantity("mean", result["measure"], axis={"format": PERCENT})
    return [
        Chart(
            "slices",
            f"{result['measure']} by {title.lower()}",
            "Each slice has a dot for each run, on a line that shows its interval.",
            dots(result["rows"], place, at, score),
        )
    ]
