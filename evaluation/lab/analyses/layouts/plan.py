"""Tables, chart and warnings of the analysis `plan`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from evaluation.core.statistics.pilot import Design, Formula
from evaluation.lab.analyses.charts import Chart, dashed_lines, name_of, quantity
from evaluation.lab.analyses.inputs import VIDEOS
from evaluation.lab.analyses.intervals import few_measured_warnings
from evaluation.lab.analyses.old_results import Resampled, Row
from evaluation.lab.analyses.tables import Column, Table

SPECIFIED, MEASURED, ASSUMED = "chosen", "measured", "assumed"
SOURCES = {SPECIFIED: "entered", MEASURED: "measured", ASSUMED: "assumed"}


# Maximum number of pairs of runs in the chart. A reader cannot distinguish more lines.
PAIRS_DRAWN = 15


DESIGNS: dict[Design, str] = {
    "paired": "the same captions",
    "independent": "different captions",
}


FORMULAS: dict[Formula, str] = {
    "connor": "paired proportions (Connor)",
    "paired-normal": "paired means",
    "two-proportions": "two proportions",
    "two-means": "two means",
}


RUN_COLUMNS = (Column("first", "Run"), Column("second", "Other run"), Column("design", "Scored on"))


VIDEO_COUNT = Column("videos", "Videos", "count")


EFFORT = (
    Column("pairs", "Pairs", "count"),
    Column("judgments", "Judgments", "count"),
    Column("hours", "Hours", "number"),
    Column("money", "Cost", "number"),
)


class RunPair(TypedDict):
    """Two runs, and whether both are scored on the same captions."""

    first: str
    second: str
    design: Design


class PilotFigures(TypedDict):
    """The figures of `core.statistics.pilot`, and how captions cluster by video.

    A figure is null if it is undefined.
    """

    formula: Formula
    pilot_difference: float
    discordant: float | None
    mean_square: float | None
    deviation: float
    pilot_videos: int
    captions_per_video: float
    weighted_captions_per_video: float
    design_effect: float
    icc: float | None


class PilotRow(RunPair, PilotFigures):
    """The measured figures of two runs."""


class EffortFigures(TypedDict):
    """The effort of detecting a difference. videos: null if captions are independent."""

    difference: float
    videos: int | None
    captions: int
    pairs: int
    judgments: int
    hours: float
    money: float


class SingleRow(RunPair, EffortFigures):
    """A plan with one caption of each video."""

    deviation: float


class PlanFigures(EffortFigures):
    """The effort of a plan.

    discordant: the discordant share that the plan uses; null if it uses none. single_captions:
    number of captions of a plan with one caption of each video; null if captions are independent.
    """

    discordant: float | None
    single_captions: int | None


class PlanRow(RunPair, PlanFigures):
    """A plan with all captions of each video."""

    deviation: float


class RateFigures(TypedDict):
    """The rates of `core.statistics.planner.Rates`."""

    pairs_per_caption: float
    double_share: float
    disagreement: float
    seconds_per_judgment: float
    money_per_hour: float


class PlanResult(Resampled):
    """The plans for a benchmark, with the rates that they assume.

    pilot: number of measured captions. sources: the origin of each rate, a key of `SOURCES`.
    """

    measure: str
    difference: float
    pilot: int
    rates: RateFigures
    sources: dict[str, str]
    pilots: list[PilotRow]
    rows: list[PlanRow]
    single: list[SingleRow]


def tables(result: PlanResult) -> list[Table]:
    by_video = result["unit"] == VIDEOS
    goal = f"To detect a difference of {_points(result['difference'])} in {result['measure']}"
    requested = [row for row in result["rows"] if row["difference"] == result["difference"]]
    captions = Column("captions", "Captions", "count")
    videos = [VIDEO_COUNT] if by_video else []
    plan = Table(
        "plan",
        f"{goal}, with all captions of each video" if by_video else goal,
        [*RUN_COLUMNS, captions, *videos, *EFFORT],
        _named(requested),
        note=_no_plan_note(result) or _rates_note(result["rates"], result["sources"]),
    )
    single = Table(
        "single",
        f"{goal}, with one caption of each video",
        [*RUN_COLUMNS, captions, *videos, *EFFORT],
        _named(result["single"]),
    )
    return [
        plan,
        *([single] if by_video else []),
        _pilot_table(result),
        _differences(result, captions),
    ]


def _pilot_table(result: PlanResult) -> Table:
    by_video = [
        Column("captions_per_video", "Captions per video", "number"),
        Column("design_effect", "Design effect", "number"),
        Column("icc", "ICC", "number"),
    ]
    return Table(
        "pilot",
        f"Measured on the {result['pilot']:,} captions of this benchmark",
        [
            *RUN_COLUMNS,
            Column("formula", "Formula"),
            Column("pilot_difference", "Difference, points", "points"),
            *_discordant(result),
            *_mean_square(result),
            Column("deviation", "Standard deviation", "number"),
            *(by_video if result["unit"] == VIDEOS else []),
        ],
        [{**row, "formula": FORMULAS[row["formula"]]} for row in _named(result["pilots"])],
    )


def _differences(result: PlanResult, captions: Column) -> Table:
    single_captions = Column("single_captions", "Captions, one per video", "count")
    raised = _is_raised(result)
    return Table(
        "differences",
        "To detect other differences",
        [
            *RUN_COLUMNS,
            Column("difference", "Difference, points", "exact percent"),
            *(_discordant(result) if raised else []),
            captions,
            *([VIDEO_COUNT, single_captions] if result["unit"] == VIDEOS else []),
            *EFFORT,
        ],
        _named(result["rows"]),
        note="The discordant share is the measured one. If it is lower than the difference, the "
        "plan raises it to the difference."
        if raised
        else "",
    )


def _is_raised(result: PlanResult) -> bool:
    """Return whether a plan uses another discordant share than the measured one."""
    measured = {
        (row["first"], row["second"]): row["discordant"]
        for row in result["pilots"]
        if row["design"] == "paired"
    }
    return any(
        row["design"] == "paired" and row["discordant"] != measured[row["first"], row["second"]]
        for row in result["rows"]
    )


def _discordant(result: PlanResult) -> list[Column]:
    """Return the column of the discordant share if a plan uses it."""
    used = any(row["discordant"] is not None for row in result["pilots"])
    return [Column("discordant", "Discordant, %", "percent")] if used else []


def _mean_square(result: PlanResult) -> list[Column]:
    """Return the column of the mean square of the differences if a plan uses it."""
    used = any(row["formula"] == "paired-normal" for row in result["pilots"])
    return [Column("mean_square", "Mean square", "number")] if used else []


def _rates_note(rates: RateFigures, sources: dict[str, str]) -> str:
    effect = (
        "Design effect: measured, see below."
        if sources["design_effect"] == MEASURED
        else "Design effect: 1 (assumed, since captions count as independent)."
    )
    return (
        f"{rates['pairs_per_caption']:.1f} pairs per caption ({SOURCES[sources['pairs']]}), "
        f"{100 * rates['double_share']:g} % of them labelled twice, "
        f"{100 * rates['disagreement']:.1f} % of these with a third label "
        f"({SOURCES[sources['disagreement']]}), {rates['seconds_per_judgment']:.1f} seconds per "
        f"judgment ({SOURCES[sources['seconds']]}), "
        f"cost per hour: {rates['money_per_hour']:g}. {effect}"
    )


def _points(difference: float) -> str:
    points = f"{100 * difference:g}"
    return f"{points} point" if points == "1" else f"{points} points"


def _no_plan_note(result: PlanResult) -> str:
    if result["rows"]:
        return ""
    return "No plan: the scores do not vary, or all captions belong to one video."


def _named(rows: Sequence[PilotRow | PlanRow | SingleRow]) -> list[Row]:
    return [{**row, "design": DESIGNS[row["design"]]} for row in rows]


def charts(result: PlanResult) -> list[Chart]:
    pairs = list(dict.fromkeys((row["first"], row["second"]) for row in result["rows"]))
    if not pairs:
        return []
    drawn = pairs[:PAIRS_DRAWN]
    rows = [
        {**row, "pair": f"{row['first']}, {row['second']}"}
        for row in _named(result["rows"])
        if (row["first"], row["second"]) in drawn
    ]
    left_out_note = (
        f" Only the first {PAIRS_DRAWN} pairs of runs are included."
        if len(pairs) > len(drawn)
        else ""
    )
    log = {"type": "log", "nice": False}
    captions_note = ", with all captions of each video" if result["unit"] == VIDEOS else ""
    return [
        Chart(
            "captions",
            "Captions needed" + (f", first {PAIRS_DRAWN} pairs of runs" if left_out_note else ""),
            "Falling lines on two logarithmic scales, one for every two runs. The horizontal axis "
            "is the difference to detect, and the vertical axis is the number of captions "
            f"needed{captions_note}.{left_out_note}",
            dashed_lines(
                rows,
                name_of("design", "Scored on", order=list(DESIGNS.values())),
                x=quantity("difference", "Difference (log)", axis={"format": ".1%"}, scale=log),
                y=quantity("captions", "Captions (log)", scale=log),
                color=name_of("pair", "Runs"),
            ),
        )
    ]


def warnings(result: PlanResult) -> list[str]:
    what = "design effect" if result["unit"] == VIDEOS else "variance"
    return few_measured_warnings(result, what) if result["pilots"] else []
