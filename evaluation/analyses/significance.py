"""Which systems differ, and whether labels change their ranking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from config.shared.progress import Progress
from evaluation.analyses.base import (
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    Result,
    ShareMeasureField,
    Table,
    confidence_field,
    ends,
    resamples_field,
    seed_field,
    unit_field,
)
from evaluation.analyses.saturation import disagreement_of, saturation_warnings
from evaluation.analyses.specs import DOTS, RULES, low_high, name_of, quantity, spec, step
from evaluation.core.compare import FIRST, SECOND
from evaluation.core.rank_stability import rank_stability
from evaluation.core.saturation import DISAGREEMENT, INTERVAL, check_saturation
from evaluation.core.significance import Comparison, compare_systems

SATURATED = {None: "no", INTERVAL: "yes, by the interval", DISAGREEMENT: "yes, by disagreement"}


class SignificanceForm(AnalysisForm):
    measure = ShareMeasureField()
    unit = unit_field()
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    names = list(inputs.ranked)
    labelled = np.stack(list(inputs.values(inputs.judged, chosen["measure"]).values()))
    original = np.stack(list(inputs.values(inputs.original, chosen["measure"]).values()))
    rng = np.random.default_rng(chosen["seed"])
    drawn = {
        "confidence": chosen["confidence"],
        "clusters": inputs.varied_clusters(chosen["unit"]),
        "rng": rng,
    }
    disagreement = disagreement_of(inputs)
    progress(0, 3, "comparing systems")
    compared = compare_systems(labelled, chosen["resamples"], **drawn)
    progress(1, 3, "ranking systems")
    stability = rank_stability(original, labelled, min(chosen["resamples"], 1000), **drawn)
    progress(2, 3, "looking at what is left to gain")
    return {
        "measure": chosen["measure"],
        "confidence": chosen["confidence"],
        "comparisons": [_comparison(one, names) for one in compared],
        "ranking": {
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
                "measure": chosen["measure"],
                **_saturation(values, chosen, drawn | {"disagreement": disagreement}),
            }
            for name, rank, values in zip(names, stability.ranks, labelled, strict=True)
        ],
        "disagreement": disagreement,
    }


def _comparison(one: Comparison, names: list[str]) -> Result:
    found = one.difference
    return {
        "first": names[one.system],
        "second": names[one.other],
        "difference": found.mean,
        "interval": ends(found.interval),
        "effect": found.effect.value,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "p_randomisation": found.randomisation.p,
        "p_bootstrap": found.bootstrap.p,
        "p_holm": one.adjusted,
    }


def _saturation(values: Any, chosen: dict[str, Any], drawn: dict[str, Any]) -> Result:
    found = check_saturation(values, chosen["resamples"], **drawn)
    return {"mean": found.mean, "gap": found.gap, "saturated_by": found.by}


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    ranking = result["ranking"]
    ranks = [{**row, "saturated_by": SATURATED[row["saturated_by"]]} for row in result["ranks"]]
    return [
        Table(
            "comparisons",
            f"{result['measure']} by the labels, every two systems",
            [
                Column("first", "Run"),
                Column("second", "minus run"),
                Column("difference", "Difference, points", "points"),
                Column("interval", percent, "points"),
                Column("p_holm", "p (Holm)", "p"),
                Column("p_randomisation", "p, randomisation", "p"),
                Column("p_bootstrap", "p, bootstrap", "p"),
                Column("effect", "Effect size d", "number"),
                Column("wins", "Wins", "count", _captions("wins", FIRST, result["measure"])),
                Column("ties", "Ties", "count"),
                Column("losses", "Losses", "count", _captions("losses", SECOND, result["measure"])),
            ],
            result["comparisons"],
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
                Column("saturated_by", "Saturated"),
            ],
            ranks,
            note=_said(ranking),
        ),
    ]


def _captions(key: str, show: str, measure: str) -> Callable[[Result], Result] | None:
    """The captions that a cell counts, where ranked lists are compared; those of C@k alone, for
    only there a win is that one system is right and the other wrong."""
    name, _, cutoff = measure.partition("@")
    if name != "C":
        return None

    def compared(row: Result) -> Result:
        two = {place: row[place] for place in ("first", "second")}
        return {**two, "show": show, "cutoff": cutoff} if row[key] else {}

    return compared


def _said(ranking: Result) -> str:
    if ranking["tau"] is None:
        return "One system, or all alike: there is no ranking to compare."
    between = ranking["interval"]
    spread = f" ({between[0]:.2f} to {between[1]:.2f})" if between else ""
    return (
        f"Kendall’s tau of both rankings {ranking['tau']:.2f}{spread}; in "
        f"{100 * ranking['same_order']:.0f} % of the samples all systems keep their places."
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
    return saturation_warnings(result["ranks"], result["disagreement"])


SIGNIFICANCE = Kind(
    name="significance",
    title="Significance and ranking",
    question="Which differences are more than chance, and do the labels change who is first?",
    form=SignificanceForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    warnings=_warnings,
    notes=(
        "Fisher’s randomisation test, exact where the measure is 0 or 1; Holm’s correction is for "
        "looking at all pairs of systems at once. With thousands of captions nearly every "
        "difference is significant: look at its size, and draw by videos, which are fewer.",
        "Saturated: what is left to gain up to 100 per cent lies within the interval of the score, "
        "or within the share of pairs on which annotators disagree.",
    ),
)
