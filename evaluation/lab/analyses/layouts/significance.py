"""Tables, charts and warnings of the significance of differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from evaluation.core.relevance.compare import FIRST, SECOND
from evaluation.core.statistics.saturation import INTERVAL, NOISE
from evaluation.lab.analyses.charts import (
    BY_LABELS,
    DOTS,
    ORIGINAL_POSITIVES,
    RULES,
    Chart,
    low_high,
    name_of,
    quantity,
    spec,
    step,
)
from evaluation.lab.analyses.intervals import (
    few_units_warnings,
    interval_title,
    method_title,
    tau_note,
)
from evaluation.lab.analyses.old_results import Ends, Row, WithIntervals
from evaluation.lab.analyses.saturation import (
    SaturationFigures,
    saturation_warnings,
)
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.words import counted

SATURATED = {None: "no", INTERVAL: "yes, by the interval", NOISE: "yes, by label noise"}


# More resamples barely change an interval of ranks, and they take long with many runs.
RANK_RESAMPLES_MAX = 1000


class DifferenceFigures(TypedDict):
    """The difference of two runs, as in `core.statistics.significance.Difference`."""

    first: str
    second: str
    difference: float
    interval: Ends | None
    method: str | None
    effect: float | None
    wins: int
    ties: int
    losses: int
    p_randomisation: float
    p_bootstrap: float
    p_holm: float


class DifferenceRow(DifferenceFigures):
    measure: str


class ScoreFigures(SaturationFigures):
    """The score of a run by the labels."""

    mean: float
    interval: Ends | None


class RankRow(ScoreFigures):
    """The ranks of a run by the original positives and by the labels."""

    run: str
    measure: str
    original: int
    original_interval: list[int]
    labelled: int
    labelled_interval: list[int]


class Ranking(TypedDict):
    """The similarity of the rankings of runs by the original positives and by the labels.

    tau: Kendall's tau of the two. same_order: share of the resamples in which the two are equal.
    """

    resamples: int
    tau: float | None
    interval: Ends | None
    same_order: float


class SignificanceResult(WithIntervals):
    """The differences between runs, with their tests.

    holm: number of tests that Holm's correction covers. disagreement: share of the pairs with
    several labels whose labels differ.
    """

    measure: str
    measures: list[str]
    comparisons: list[DifferenceRow]
    holm: int
    ranking: Ranking
    ranks: list[RankRow]
    disagreement: float | None


def tables(result: SignificanceResult) -> list[Table]:
    percent = interval_title(result["confidence"])
    ranking = result["ranking"]
    ranks = [
        {"noise": None, **row, "saturated_by": SATURATED.get(row["saturated_by"], "yes")}
        for row in result["ranks"]
    ]
    comparisons = [
        {"measure": result["measure"], **row, "method": method_title(row.get("method"))}
        for row in result["comparisons"]
    ]
    return [
        Table(
            "comparisons",
            "Differences between every two systems, by the labels",
            [
                Column("measure", "Measure"),
                Column("first", "Run"),
                Column("second", "Minus run"),
                Column("difference", "Difference, points", "points"),
                Column("interval", percent, "points"),
                Column("p_holm", "p (Holm, whole table)", "p"),
                Column("p_randomisation", "p, randomisation", "p"),
                Column("p_bootstrap", "p, bootstrap", "p"),
                Column("effect", "Effect size d", "number"),
                Column("wins", "Wins", "count", compared=_captions("wins", FIRST, comparisons)),
                Column("ties", "Ties", "count"),
                Column(
                    "losses", "Losses", "count", compared=_captions("losses", SECOND, comparisons)
                ),
                Column("method", "Interval"),
            ],
            comparisons,
            note=_covered(comparisons),
        ),
        Table(
            "ranks",
            "Ranks before and after the labels",
            [
                Column("run", "Run"),
                Column("original", "Rank by the original positives", "count"),
                Column("original_interval", percent, "count"),
                Column("labelled", "Rank by the labels", "count"),
                Column("labelled_interval", percent, "count"),
                Column("mean", "Score, %", "percent"),
                Column("gap", "Gap to 100 %, points", "points"),
                Column("noise", "Label noise, points", "points"),
                Column("saturated_by", "Saturated"),
            ],
            ranks,
            note=_ranking_note(ranking, len(ranks)),
        ),
    ]


def _captions(
    key: str, show: str, comparisons: Sequence[Row]
) -> Callable[[Row], Mapping[str, Any]] | None:
    """Return a function that maps a row to the options of the comparison to which its cell links.

    Only C@k has links: a win in C@k means that one system is correct and the other is not.
    """
    if not any(row["measure"].startswith("C@") for row in comparisons):
        return None

    def compared(row: Row) -> Mapping[str, Any]:
        name, _, cutoff = row["measure"].partition("@")
        two = {place: row[place] for place in ("first", "second")}
        return {**two, "show": show, "cutoff": cutoff} if name == "C" and row[key] else {}

    return compared


def _covered(comparisons: Sequence[Row]) -> str:
    """Return the scope of Holm's correction."""
    if not comparisons:
        return ""
    measures = dict.fromkeys(row["measure"] for row in comparisons)
    pairs = len(comparisons) // len(measures)
    return (
        f"Holm’s correction covers the {counted(len(comparisons), 'test')} of this table: "
        f"{counted(pairs, 'pair')} of systems by {counted(len(measures), 'measure')} "
        f"({', '.join(measures)})."
    )


def _ranking_note(ranking: Ranking, n_systems: int) -> str:
    if ranking["tau"] is None:
        return "There is no ranking: only one system is compared, or all scores are equal."
    between = ranking["interval"]
    spread = f" ({between[0]:.2f} to {between[1]:.2f})" if between else ""
    capped = ranking.get("resamples", RANK_RESAMPLES_MAX)
    tau = tau_note(n_systems) or (
        f"Kendall’s tau of both rankings is {ranking['tau']:.2f}{spread}."
    )
    return (
        f"{tau} In {100 * ranking['same_order']:.0f} % of the resamples all systems keep their "
        f"ranks. The intervals of ranks are computed from {capped:,} resamples. The maximum for "
        f"them is {RANK_RESAMPLES_MAX:,}."
    )


def charts(result: SignificanceResult) -> list[Chart]:
    if not result["comparisons"]:
        return []
    rows = [
        {
            "pair": f"{row['first']} − {row['second']}",
            "difference": row["difference"],
            **low_high(row["interval"]),
        }
        for row in result["comparisons"]
        if row.get("measure", result["measure"]) == result["measure"]
    ]
    points = quantity("difference", "Difference", axis={"format": "+.1%"})
    pair = name_of("pair")
    ranks: Sequence[Row] = result["ranks"]
    places = [
        {"run": row["run"], "positives": title, "rank": row[by]}
        for row in ranks
        for by, title in (("original", ORIGINAL_POSITIVES), ("labelled", BY_LABELS))
    ]
    downwards = {"scale": {"reverse": True, "zero": False}, "axis": {"tickMinStep": 1}}
    return [
        Chart(
            "differences",
            f"Differences in {result['measure']} with their intervals",
            "Every two runs have a dot at their difference, on a line that shows its interval. If "
            "the line crosses zero, the difference can be chance.",
            {
                "data": {"values": rows},
                "height": {"step": 26},
                "layer": [
                    # The rule has no position on the other axis. With a position it would have no
                    # length.
                    {"mark": {"type": "rule", "aria": False}, "encoding": {"x": {"datum": 0}}},
                    {
                        "mark": RULES,
                        "encoding": {
                            "y": pair,
                            "x": {**points, "field": "low"},
                            "x2": {"field": "high"},
                        },
                    },
                    {"mark": DOTS, "encoding": {"y": pair, "x": points}},
                ],
            },
        ),
        Chart(
            "ranks",
            f"Rank by {result['measure']} before and after the labels",
            "A line for each run from its rank by the original positives to its rank by the "
            "labels.",
            spec(
                places,
                {"type": "line", "point": {"size": 80}, "tooltip": True},
                x=step("positives", "", sort=None),
                y=quantity("rank", "Rank", **downwards),
                color=name_of("run"),
            ),
        ),
    ]


def warnings(result: SignificanceResult) -> list[str]:
    return few_units_warnings(result) + saturation_warnings(result["ranks"])
