"""The number of captions to annotate, and the judgments, hours and money that they need."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TypedDict, cast

from django import forms

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.statistics.pilot import (
    Design,
    PairedPilot,
    Pilot,
    measure_pilot,
    one_per_cluster,
)
from evaluation.core.statistics.planner import (
    Rates,
    captions_needed,
    estimate_effort,
    videos_needed,
)
from evaluation.lab.analyses.fields import (
    ShareMeasureField,
    confidence_field,
    resampling_unit_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.layouts import plan as layout
from evaluation.lab.analyses.layouts.plan import (
    ASSUMED,
    DESIGNS,
    MEASURED,
    SPECIFIED,
    EffortFigures,
    PilotFigures,
    PilotRow,
    PlanFigures,
    PlanResult,
    PlanRow,
    RateFigures,
    RunPair,
    SingleRow,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.selectors import measured_rates
from hearth.shared.progress import Progress

# Usual rates, for benchmarks without measured rates. The FIRE study reports at least 1.2 seconds
# per judgment; the rest is time to think.
USUAL = {"pairs": 20.0, "disagreement": 0.05, "seconds": 4.0}
# Multiples of the entered difference that the plan includes.
STEPS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4)
# Number of sets of captions to annotate, by design.
SETS: dict[Design, int] = {"paired": 1, "independent": 2}


class PlanForm(AnalysisForm):
    measure = ShareMeasureField()
    unit = resampling_unit_field()
    difference = forms.FloatField(
        label="Difference to detect (points)",
        initial=1,
        min_value=0.01,
        max_value=100,
        help_text="Between two systems. From 40 % to 41 % is one point.",
    )
    confidence = confidence_field()
    power = forms.FloatField(
        label="Power",
        initial=0.8,
        min_value=0.5,
        max_value=0.999,
        help_text="The probability of detecting a true difference.",
    )
    pairs = forms.FloatField(
        label="Pairs per caption",
        required=False,
        min_value=0.01,
        max_value=10_000,
        help_text=f"If empty, the mean of the pools, or {USUAL['pairs']:g} without pools.",
    )
    double = forms.FloatField(
        label="Share of pairs with a second label", initial=0.1, min_value=0, max_value=1
    )
    disagreement = forms.FloatField(
        label="Share of second labels that differ",
        required=False,
        min_value=0,
        max_value=1,
        help_text=f"If empty, the measured share, or {USUAL['disagreement']:g} if not measured.",
    )
    seconds = forms.FloatField(
        label="Seconds per judgment",
        required=False,
        min_value=0.01,
        max_value=3600,
        help_text=f"If empty, the measured median, or {USUAL['seconds']:g} if not measured.",
    )
    money = forms.FloatField(label="Cost per hour", initial=15, min_value=0, max_value=1_000_000)


class _EnteredOptions(TypedDict):
    """Values of the fields that are never empty."""

    measure: str
    unit: str
    difference: float
    confidence: float
    power: float
    double: float
    money: float


class PlanFields(_EnteredOptions):
    pairs: float | None
    disagreement: float | None
    seconds: float | None


class PlanOptions(_EnteredOptions):
    pairs: float
    disagreement: float
    seconds: float
    sources: dict[str, str]


def _fill_defaults(inputs: Inputs, options: PlanFields) -> PlanOptions:
    """Fill empty fields with the rates measured on this benchmark, or with usual rates.

    `sources` contains the origin of each rate.
    """
    measured = measured_rates(inputs.benchmark)
    rates = {name: value for name, value in options.items() if name in USUAL and value is not None}
    sources = dict.fromkeys(USUAL, ASSUMED) | dict.fromkeys(measured, MEASURED)
    sources |= dict.fromkeys(rates, SPECIFIED)
    return cast(PlanOptions, {**options, **USUAL, **measured, **rates, "sources": sources})


def _compute(inputs: Inputs, options: PlanOptions, progress: Progress) -> PlanResult:
    rate_figures: RateFigures = {
        "pairs_per_caption": options["pairs"],
        "double_share": options["double"],
        "disagreement": options["disagreement"],
        "seconds_per_judgment": options["seconds"],
        "money_per_hour": options["money"],
    }
    rates = Rates(
        options["pairs"],
        options["double"],
        options["disagreement"],
        options["seconds"],
        options["money"],
    )
    clusters = inputs.clusters(options["unit"])
    values = inputs.values(inputs.judged, options["measure"])
    goal = options["difference"] / 100
    differences = [goal * step for step in STEPS if goal * step <= 1]
    pilots: list[PilotRow] = []
    rows: list[PlanRow] = []
    single: list[SingleRow] = []
    for pair, pilot in _pilots(values, clusters):
        pilots.append({**pair, **_measured(pilot)})
        for difference in differences:
            row: PlanRow = {
                **pair,
                "deviation": pilot.deviation,
                **_step(pilot, difference, rates, options),
            }
            if clusters is None:
                row["videos"] = row["single_captions"] = None
            rows.append(row)
        alone = _effort(one_per_cluster(pilot), goal, rates, options)
        single.append({**pair, "deviation": pilot.deviation, **alone})
    return {
        "measure": options["measure"],
        "difference": goal,
        **resampled_by(inputs, options["unit"]),
        "pilot": len(inputs.captions),
        "rates": rate_figures,
        "sources": options["sources"]
        | {"discordant": MEASURED, "design_effect": ASSUMED if clusters is None else MEASURED},
        "pilots": pilots,
        "rows": rows,
        "single": [] if clusters is None else single,
    }


def _pilots(
    values: dict[str, FloatArray], clusters: IntArray | None
) -> Iterator[tuple[RunPair, Pilot]]:
    """Yield the pilot of every two runs in each design, if their scores allow a plan.

    A pilot contains the variances that a plan needs, measured on the captions of this benchmark.
    """
    for first, second in combinations(values, 2):
        for design in DESIGNS:
            pilot = measure_pilot(values[first], values[second], design, clusters=clusters)
            if pilot is not None:
                yield {"first": first, "second": second, "design": design}, pilot


def _measured(pilot: Pilot) -> PilotFigures:
    clustering = pilot.clustering
    return {
        "formula": pilot.formula,
        "pilot_difference": pilot.difference,
        "discordant": pilot.discordant_at(0),
        "mean_square": pilot.mean_square if isinstance(pilot, PairedPilot) else None,
        "deviation": pilot.deviation,
        "pilot_videos": clustering.clusters,
        "captions_per_video": clustering.mean_size,
        "weighted_captions_per_video": clustering.weighted_size,
        "design_effect": clustering.effect,
        "icc": clustering.icc,
    }


def _step(pilot: Pilot, difference: float, rates: Rates, options: PlanOptions) -> PlanFigures:
    """Return the plan with all captions of each video.

    `single_captions` is the number of captions in a plan with one caption of each video.
    """
    alone = _effort(one_per_cluster(pilot), difference, rates, options)
    return {
        **_effort(pilot, difference, rates, options),
        "discordant": pilot.discordant_at(difference),
        "single_captions": alone["captions"],
    }


def _effort(pilot: Pilot, difference: float, rates: Rates, options: PlanOptions) -> EffortFigures:
    captions = captions_needed(
        pilot, difference, confidence=options["confidence"], power=options["power"]
    )
    sets = SETS[pilot.design]
    effort = estimate_effort(sets * captions, rates)
    return {
        "difference": difference,
        "videos": sets * videos_needed(pilot, captions),
        "captions": effort.captions,
        "pairs": effort.pairs,
        "judgments": effort.judgments,
        "hours": effort.hours,
        "money": effort.money,
    }


PLAN = Analysis(
    name="plan",
    title="Plan the judging",
    question="How many captions must be judged to detect a difference?",
    source="FIRE study, section 4.3",
    form=PlanForm,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    warnings=layout.warnings,
    fill_defaults=_fill_defaults,
    runs_needed=2,
    notes=(
        "For C@k of two systems on the same captions, the number of captions is ((z of the "
        "confidence × √ψ + z of the power × √(ψ − d²)) ÷ d)², where d is the difference to detect "
        "(Connor 1987). ψ is the discordant share: the share of captions on which only one of the "
        "two systems is correct. The plan uses the share measured here, or d if the measured share "
        "is lower than d.",
        "Other measures on the same captions use this formula with the mean square of the "
        "differences in place of ψ. Systems on different captions use the formulas of two "
        "proportions (Fleiss 1981) and of two means. Similar systems need far fewer captions if "
        "both are scored on the same captions.",
        "Captions of one video are similar. If the resampling unit is the video, the number of "
        "captions is therefore multiplied by the design effect measured here, 1 + (m − 1) × ICC. "
        "ICC is the intraclass correlation of the captions of one video. m is the mean number of "
        "captions per video, with each video weighted by its number of captions. A design effect "
        "below 1 counts as 1. With one caption of each video, the design effect is 1. Such a plan "
        "needs fewer captions but more videos.",
        "If the two systems are scored on different captions, all numbers include both sets of "
        "captions.",
        "If a field is empty, the plan uses the rate measured here, or a usual rate if nothing was "
        "measured. Imported judgments have no times, so they give no seconds per judgment.",
        "The formulas are approximate. With fewer than 30 videos or 200 discordant captions, the "
        "power may be up to four points lower.",
    ),
)
