"""How many captions to annotate, and what that takes in judgments, hours and money."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations
from typing import Any

from django import forms

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
)
from evaluation.analyses.specs import dashed_lines, name_of, quantity
from evaluation.core.planner import (
    Design,
    Rates,
    captions_needed,
    difference_deviation,
    estimate_effort,
)
from evaluation.selectors import measured_rates

# Before anything was measured: as in the study, 1.2 s at the least and some thought.
USUAL = {"pairs": 20.0, "disagreement": 0.05, "seconds": 4.0}
CHOSEN, MEASURED, ASSUMED = "chosen", "measured", "assumed"
# Differences shown around the one that is asked for.
STEPS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4)
# More lines could not be told apart.
PAIRS_DRAWN = 15
DESIGNS: dict[Design, str] = {
    "paired": "the same captions",
    "independent": "captions of its own each",
}
# How many sets of captions are annotated.
SETS: dict[Design, int] = {"paired": 1, "independent": 2}


class PlanForm(AnalysisForm):
    measure = ShareMeasureField()
    difference = forms.FloatField(
        label="Difference to be shown, in points",
        initial=1,
        min_value=0.01,
        max_value=100,
        help_text="Between two systems: from 40 to 41 per cent is one point.",
    )
    confidence = confidence_field()
    power = forms.FloatField(
        label="Power",
        initial=0.8,
        min_value=0.5,
        max_value=0.999,
        help_text="The chance to find the difference if it is there.",
    )
    pairs = forms.FloatField(
        label="Pairs a caption",
        required=False,
        min_value=0.01,
        max_value=10_000,
        help_text=f"Empty: as pooled here, or {USUAL['pairs']:g}.",
    )
    double = forms.FloatField(label="Share labelled twice", initial=0.1, min_value=0, max_value=1)
    disagreement = forms.FloatField(
        label="Of these, share that differ",
        required=False,
        min_value=0,
        max_value=1,
        help_text=f"Empty: as measured here, or {USUAL['disagreement']:g}.",
    )
    seconds = forms.FloatField(
        label="Seconds a judgment",
        required=False,
        min_value=0.01,
        max_value=3600,
        help_text=f"Empty: the median measured here, or {USUAL['seconds']:g}.",
    )
    money = forms.FloatField(label="Money an hour", initial=15, min_value=0, max_value=1_000_000)


def _fill(inputs: Inputs, chosen: dict[str, Any]) -> dict[str, Any]:
    """What was left empty, as it was measured on this benchmark, or else the usual; and which is
    which."""
    measured = measured_rates(inputs.benchmark)
    rates = {name: chosen[name] for name in USUAL if chosen[name] is not None}
    sources = dict.fromkeys(USUAL, ASSUMED) | dict.fromkeys(measured, MEASURED)
    sources |= dict.fromkeys(rates, CHOSEN)
    return chosen | USUAL | measured | rates | {"sources": sources}


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    rates = Rates(
        pairs_per_caption=chosen["pairs"],
        double_share=chosen["double"],
        disagreement=chosen["disagreement"],
        seconds_per_judgment=chosen["seconds"],
        money_per_hour=chosen["money"],
    )
    values = inputs.values(inputs.judged, chosen["measure"])
    wish = chosen["difference"] / 100
    rows = []
    for one, other in combinations(values, 2):
        for design in DESIGNS:
            deviation = difference_deviation(values[one], values[other], design)
            if deviation:  # else it cannot be told, or nothing varies
                pair = {"first": one, "second": other, "design": design, "deviation": deviation}
                rows += [
                    pair | _step(design, deviation, wish * step, rates, chosen) for step in STEPS
                ]
    return {
        "measure": chosen["measure"],
        "difference": wish,
        "pilot": len(inputs.captions),
        "rates": asdict(rates),
        "sources": chosen["sources"],
        "rows": rows,
    }


def _step(
    design: Design, deviation: float, difference: float, rates: Rates, chosen: dict[str, Any]
) -> Result:
    captions = SETS[design] * captions_needed(
        deviation, difference, confidence=chosen["confidence"], power=chosen["power"]
    )
    return {"difference": difference, **asdict(estimate_effort(captions, rates))}


def _tables(result: Result) -> list[Table]:
    asked = [row for row in result["rows"] if row["difference"] == result["difference"]]
    effort = [
        Column("captions", "Captions", "count"),
        Column("pairs", "Pairs", "count"),
        Column("judgments", "Judgments", "count"),
        Column("hours", "Hours", "number"),
        Column("money", "Money", "number"),
    ]
    who = [
        Column("first", "Run"),
        Column("second", "and run"),
        Column("design", "Scored on"),
    ]
    return [
        Table(
            "plan",
            f"To show a difference of {_points(result['difference'])} in {result['measure']}",
            [*who, *effort],
            _named(asked),
            note=_unknown(result) or _taken(result["rates"], result["sources"]),
        ),
        Table(
            "differences",
            "To show other differences",
            [*who, Column("difference", "Difference, points", "asked"), *effort],
            _named(result["rows"]),
        ),
    ]


def _taken(rates: dict[str, float], sources: dict[str, str]) -> str:
    return (
        f"{rates['pairs_per_caption']:.1f} pairs a caption ({sources['pairs']}), "
        f"{100 * rates['double_share']:g} % of them labelled twice, "
        f"{100 * rates['disagreement']:.1f} % of these with a third label "
        f"({sources['disagreement']}), "
        f"{rates['seconds_per_judgment']:.1f} seconds a judgment ({sources['seconds']}), "
        f"{rates['money_per_hour']:g} an hour."
    )


def _points(difference: float) -> str:
    points = f"{100 * difference:g}"
    return f"{points} point" if points == "1" else f"{points} points"


def _unknown(result: Result) -> str:
    if result["rows"]:
        return ""
    return "Scores do not vary from caption to caption, so that it cannot be told what is needed."


def _named(rows: list[Result]) -> list[dict[str, Any]]:
    return [{**row, "design": DESIGNS[row["design"]]} for row in rows]


def _charts(result: Result) -> list[Chart]:
    pairs = list(dict.fromkeys((row["first"], row["second"]) for row in result["rows"]))
    if not pairs:
        return []
    drawn = pairs[:PAIRS_DRAWN]
    rows = [
        {**row, "pair": f"{row['first']}, {row['second']}"}
        for row in _named(result["rows"])
        if (row["first"], row["second"]) in drawn
    ]
    left = f" The first {PAIRS_DRAWN} pairs of runs are drawn." if len(pairs) > len(drawn) else ""
    log = {"type": "log", "nice": False}
    return [
        Chart(
            "captions",
            "Captions needed" + (f", first {PAIRS_DRAWN} pairs of runs" if left else ""),
            "Falling lines on two logarithmic scales: the captions needed over the difference to "
            f"be shown, for every two runs.{left}",
            dashed_lines(
                rows,
                name_of("design", "Scored on", order=list(DESIGNS.values())),
                x=quantity("difference", "Difference (log)", axis={"format": ".1%"}, scale=log),
                y=quantity("captions", "Captions (log)", scale=log),
                color=name_of("pair", "Runs"),
            ),
        )
    ]


PLAN = Kind(
    name="plan",
    title="Plan an annotation",
    question="How many captions must be judged to show the difference that matters to you?",
    source="Section 4.3",
    form=PlanForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    fill=_fill,
    runs_needed=2,
    notes=(
        "From the variance of the runs’ scores here: captions = ((z of the confidence + z of the "
        "power) × standard deviation ÷ difference)². Similar systems vary together, so that the "
        "same captions for both need far fewer.",
        "Where each system has captions of its own, captions and what they take are of both sets.",
        "What was left empty is as measured here, or assumed where nothing was: imported "
        "judgments have no times.",
        "It takes the captions as drawn at random and alike; captions of one video are not.",
    ),
)
