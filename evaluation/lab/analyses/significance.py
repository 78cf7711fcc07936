"""Which systems differ, and whether labels change their ranking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from config.shared.progress import Progress
from evaluation.core.relevance.compare import FIRST, SECOND
from evaluation.core.statistics.rank_stability import rank_stability
from evaluation.core.statistics.saturation import INTERVAL, NOISE, check_saturation
from evaluation.core.statistics.significance import Comparison, adjust_together, compare_systems
from evaluation.lab.analyses.base import (
    Analysis,
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    MeasuresField,
    Result,
    ShareMeasureField,
    Table,
    confidence_field,
    ends,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.intervals import (
    INTERVALS_NOTE,
    counted,
    few_units_warnings,
    method_of,
    method_title,
    resampled_by,
)
from evaluation.lab.analyses.saturation import (
    SATURATION_NOTE,
    changes_by_noise,
    disagreement_of,
    saturation_warnings,
)
from evaluation.lab.analyses.specs import DOTS, RULES, low_high, name_of, quantity, spec, step

SATURATED = {None: "no", INTERVAL: "yes, by the interval", NOISE: "yes, by label noise"}
# More resamples barely change an interval of ranks, and they take long with many runs.
RANK_RESAMPLES_MAX = 1000


class SignificanceForm(AnalysisForm):
    measure = ShareMeasureField()
    further = MeasuresField(
        shares=True,
        required=False,
        initial="",
        label="Further measures",
        help_text="These measures are compared in the same table. Holm’s correction covers all "
        "of it.",
    )
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


def _compute(inputs: Inputs, options: dict[str, Any], progress: Progress) -> Result:
    names = list(inputs.ranked)
    measures = list(dict.fromkeys([options["measure"], *options["further"]]))
    by_measure = {
        measure: np.stack(list(values.values()))
        for measure, values in inputs.values_of(inputs.judged, measures).items()
    }
    labelled = by_measure[options["measure"]]
    original = np.stack(list(inputs.values(inputs.original, options["measure"]).values()))
    rng = np.random.default_rng(options["seed"])
    drawn = {
        "confidence": options["confidence"],
        "clusters": inputs.varied_clusters(options["unit"]),
        "rng": rng,
    }
    progress(0, 3, "comparing systems")
    compared = [compare_systems(by_measure[one], options["resamples"], **drawn) for one in measures]
    adjusted = adjust_together(row for rows in compared for row in rows)
    progress(1, 3, "ranking systems")
    rank_resamples = min(options["resamples"], RANK_RESAMPLES_MAX)
    stability = rank_stability(original, labelled, rank_resamples, **drawn)
    noise = changes_by_noise(inputs, [options["measure"]], inputs.judged, inputs.counted_originals)
    progress(2, 3, "looking at what is left to gain")
    return {
        "measure": options["measure"],
        "confidence": options["confidence"],
        "measures": measures,
        **resampled_by(inputs, options["unit"]),
        "comparisons": [
            {"measure": measure, **_comparison(one, names)}
            for measure, one in zip(np.repeat(measures, len(compared[0])), adjusted, strict=True)
        ],
        "holm": len(adjusted),
        "ranking": {
            "resamples": rank_resamples,
            "tau": stability.tau.value,
            "interval": ends(stability.interval),
            "same_order": stability.same_order,
        },
        "ranks": [
            {
                "run": name,
                "original": rank.original,
                "original_interval": list(rank.original_interval),
                "labelled": rank.labelled,
                "labelled_interval": list(rank.labelled_interval),
                "measure": options["measure"],
                **_saturation(values, options, drawn, noise.get((name, options["measure"]))),
            }
            for name, rank, values in zip(names, stability.ranks, labelled, strict=True)
        ],
        "disagreement": disagreement_of(inputs),
    }


def _comparison(one: Comparison, names: list[str]) -> Result:
    found = one.difference
    return {
        "first": names[one.system],
        "second": names[one.other],
        "difference": found.mean,
        "interval": ends(found.interval),
        "method": method_of(found.interval),
        "effect": found.effect.value,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "p_randomisation": found.randomisation.p,
        "p_bootstrap": found.bootstrap.p,
        "p_holm": one.adjusted,
    }


def _saturation(
    values: Any, options: dict[str, Any], drawn: dict[str, Any], noise: float | None
) -> Result:
    found = check_saturation(values, options["resamples"], noise=noise, **drawn)
    return {
        "mean": found.mean,
        "interval": ends(found.interval),
        "gap": found.gap,
        "noise": noise,
        "saturated_by": found.by,
    }


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
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
                Column("second", "minus run"),
                Column("difference", "Difference, points", "points"),
                Column("interval", percent, "points"),
                Column("p_holm", "p (Holm, whole table)", "p"),
                Column("p_randomisation", "p, randomisation", "p"),
                Column("p_bootstrap", "p, bootstrap", "p"),
                Column("effect", "Effect size d", "number"),
                Column("wins", "Wins", "count", _captions("wins", FIRST, comparisons)),
                Column("ties", "Ties", "count"),
                Column("losses", "Losses", "count", _captions("losses", SECOND, comparisons)),
                Column("method", "Interval"),
            ],
            comparisons,
            note=_covered(comparisons),
        ),
        Table(
            "ranks",
            "Ranks before and after",
            [
                Column("run", "Run"),
                Column("original", "By the original positives", "count"),
                Column("original_interval", percent, "count"),
                Column("labelled", "By the labels", "count"),
                Column("labelled_interval", percent, "count"),
                Column("mean", "Score, %", "percent"),
                Column("gap", "Left to gain, points", "points"),
                Column("noise", "Label noise, points", "points"),
                Column("saturated_by", "Saturated"),
            ],
            ranks,
            note=_ranking_note(ranking),
        ),
    ]


def _captions(key: str, show: str, comparisons: list[Result]) -> Callable[[Result], Result] | None:
    """Return the captions that a cell links to, if ranked lists are compared. For measures other
    than C@k there is no link: a win means that one system is right and the other wrong."""
    if not any(row["measure"].startswith("C@") for row in comparisons):
        return None

    def compared(row: Result) -> Result:
        name, _, cutoff = row["measure"].partition("@")
        two = {place: row[place] for place in ("first", "second")}
        return {**two, "show": show, "cutoff": cutoff} if name == "C" and row[key] else {}

    return compared


def _covered(comparisons: list[Result]) -> str:
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


def _ranking_note(ranking: Result) -> str:
    if ranking["tau"] is None:
        return "There is no ranking: only one system is compared, or all scores are equal."
    between = ranking["interval"]
    spread = f" ({between[0]:.2f} to {between[1]:.2f})" if between else ""
    capped = ranking.get("resamples", RANK_RESAMPLES_MAX)
    return (
        f"Kendall’s tau of both rankings is {ranking['tau']:.2f}{spread}. In "
        f"{100 * ranking['same_order']:.0f} % of the resamples all systems keep their ranks. "
        f"Ranks use {capped:,} resamples; the maximum for ranks is {RANK_RESAMPLES_MAX:,}."
    )


def _charts(result: Result) -> list[Chart]:
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
    places = [
        {"run": row["run"], "positives": title, "rank": row[by]}
        for row in result["ranks"]
        for by, title in (("original", "Original positives"), ("labelled", "By the labels"))
    ]
    downwards = {"scale": {"reverse": True, "zero": False}, "axis": {"tickMinStep": 1}}
    return [
        Chart(
            "differences",
            f"Differences in {result['measure']} with their intervals",
            "A dot for every two runs on a line that is its interval; where the line crosses zero "
            "they cannot be told apart.",
            {
                "data": {"values": rows},
                "height": {"step": 26},
                "layer": [
                    # Without a place on the other axis, or it would have no length.
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
            "A line for each run from its rank by the original positives to that by the labels.",
            spec(
                places,
                {"type": "line", "point": {"size": 80}, "tooltip": True},
                x=step("positives", "", sort=None),
                y=quantity("rank", "Rank", **downwards),
                color=name_of("run"),
            ),
        ),
    ]


def _warnings(result: Result) -> list[str]:
    return few_units_warnings(result) + saturation_warnings(result["ranks"])


SIGNIFICANCE = Analysis(
    name="significance",
    title="Significance and ranking",
    question="Which differences are more than chance, and do the labels change who is first?",
    form=SignificanceForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    warnings=_warnings,
    notes=(
        "Fisher’s randomisation test changes the sign of all captions of a video together. It is "
        "exact for C@k. Use the p-values with Holm’s correction if you look at all tests of the "
        "table. With thousands of captions nearly every difference is significant, so look at its "
        "size, too. Scores that differ only by rounding are ties.",
        INTERVALS_NOTE,
        SATURATION_NOTE,
    ),
)
