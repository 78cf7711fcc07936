"""The number of captions to annotate, and the judgments, hours and money that they need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Annotated, Any

from annotation.selectors.effort import SECONDS_ASSUMED
from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.statistics import planner
from evaluation.core.statistics.pilot import (
    Design,
    Formula,
    PairedPilot,
    Pilot,
    measure_pilot,
    one_per_cluster,
)
from evaluation.core.statistics.planner import Rates, captions_needed, estimate_effort
from evaluation.lab.analyses import options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import Chart, dashed_lines, data_of, name_of, quantity
from evaluation.lab.analyses.inputs import AUTO, Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.rows import OtherRun, Run, Score, Shown
from evaluation.lab.analyses.tables import Table
from evaluation.lab.selectors import measured_rates
from hearth.shared.options import Option
from hearth.shared.progress import Progress

# Usual rates, for benchmarks without measured rates. The time is that of the preview of a pool. The
# FIRE study reports at least 1.2 seconds per judgment; the rest is time to think.
USUAL = {"pairs": 20.0, "disagreement": 0.05, "seconds": SECONDS_ASSUMED}
# Multiples of the entered difference that the plan includes.
STEPS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4)
# Number of sets of captions to annotate, by design.
SETS: dict[Design, int] = {"paired": 1, "independent": 2}
SPECIFIED, MEASURED, ASSUMED = "chosen", "measured", "assumed"
SOURCES = {SPECIFIED: "entered", MEASURED: "measured", ASSUMED: "assumed"}
# Maximum number of pairs of runs in the chart. A reader cannot distinguish more lines.
PAIRS_DRAWN = 15
DESIGNS: dict[Design, str] = {
    "paired": "the same captions",
    "independent": "different captions",
}
# The columns of the pilot that exist only if captions cluster by video.
BY_VIDEO = "captions_per_video design_effect icc"
FORMULAS: dict[Formula, str] = {
    "connor": "paired proportions (Connor)",
    "paired-normal": "paired means",
    "two-proportions": "two proportions",
    "two-means": "two means",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """sources: the origin of each rate. `filled` leaves no rate empty.

    difference: Between two systems. From 40 % to 41 % is one point.
    power: The probability of detecting a true difference.
    """

    measure: options.ShareMeasure = "C@5"
    unit: options.Unit = AUTO
    difference: Annotated[float, Option("Difference to detect (points)", low=0.01, high=100)] = 1
    confidence: options.Confidence = 0.95
    power: Annotated[float, Option("Power", low=0.5, high=0.999)] = 0.8
    pairs: Annotated[
        float | None,
        Option(
            "Pairs per caption",
            f"If empty, the mean of the pools, or {USUAL['pairs']:g} without pools.",
            low=0.01,
            high=10_000,
        ),
    ] = None
    double: Annotated[float, Option("Share of pairs with a second label", low=0, high=1)] = 0.1
    disagreement: Annotated[
        float | None,
        Option(
            "Share of second labels that differ",
            f"If empty, the measured share, or {USUAL['disagreement']:g} if not measured.",
            low=0,
            high=1,
        ),
    ] = None
    seconds: Annotated[
        float | None,
        Option(
            "Seconds per judgment",
            f"If empty, the measured median, or {USUAL['seconds']:g} if not measured.",
            low=0.01,
            high=3600,
        ),
    ] = None
    money: Annotated[float, Option("Cost per hour", low=0, high=1_000_000)] = 15
    sources: dict[str, str] | None = None

    def filled(self, inputs: Inputs) -> Options:
        """Fill empty fields with the rates measured on this benchmark, or with usual rates."""
        measured = measured_rates(inputs.benchmark)
        given = {name: getattr(self, name) for name in USUAL if getattr(self, name) is not None}
        sources = dict.fromkeys(USUAL, ASSUMED) | dict.fromkeys(measured, MEASURED)
        sources |= dict.fromkeys(given, SPECIFIED)
        rates: dict[str, Any] = {**USUAL, **measured, **given}
        return replace(self, **rates, sources=sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPair:
    """Two runs, and whether both are scored on the same captions."""

    first: Run
    second: OtherRun
    design: Annotated[Design, Shown("Scored on", write=DESIGNS.__getitem__)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotRow(RunPair):
    """The figures of `core.statistics.pilot`, and how captions cluster by video.

    A figure is null if it is undefined.
    """

    formula: Annotated[Formula, Shown("Formula", write=FORMULAS.__getitem__)]
    pilot_difference: Annotated[float, Shown("Difference, points", "points")]
    discordant: Annotated[Score, Shown("Discordant, %", "percent")]
    mean_square: Annotated[Score, Shown("Mean square", "number")]
    deviation: Annotated[float, Shown("Standard deviation", "number")]
    pilot_videos: int
    captions_per_video: Annotated[float, Shown("Captions per video", "number")]
    weighted_captions_per_video: float
    design_effect: Annotated[float, Shown("Design effect", "number")]
    icc: Annotated[Score, Shown("ICC", "number")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRow(RunPair):
    """The effort of detecting a difference, with one caption of each video.

    videos: null if captions are independent
    """

    deviation: float
    difference: Annotated[float, Shown("Difference, points", "exact percent")]
    captions: Annotated[int, Shown("Captions", "count")]
    videos: Annotated[int | None, Shown("Videos", "count")]
    pairs: Annotated[int, Shown("Pairs", "count")]
    judgments: Annotated[int, Shown("Judgments", "count")]
    hours: Annotated[float, Shown("Hours", "number")]
    money: Annotated[float, Shown("Cost", "number")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow(SingleRow):
    """A plan with all captions of each video.

    discordant: the discordant share that the plan uses; null if it uses none
    single_captions: number of captions of a plan with one caption of each video; null if captions
        are independent
    """

    discordant: Annotated[Score, Shown("Discordant, %", "percent")]
    single_captions: Annotated[int | None, Shown("Captions, one per video", "count")]


@dataclass(frozen=True, slots=True)
class RateFigures:
    """The rates of `core.statistics.planner.Rates`."""

    pairs_per_caption: float
    double_share: float
    disagreement: float
    seconds_per_judgment: float
    money_per_hour: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.Resampled):
    """The plans for a benchmark, with the rates that they assume.

    pilot: number of measured captions
    sources: the origin of each rate
    """

    measure: str
    difference: float
    pilot: int
    rates: RateFigures
    sources: dict[str, str]
    pilots: list[PilotRow]
    rows: list[PlanRow]
    single: list[SingleRow]

    def tables(self) -> list[Table]:
        goal = f"To detect a difference of {_points(self.difference)} in {self.measure}"
        without = () if self.by_video else ("videos", "single_captions", *BY_VIDEO.split())
        effort = "captions videos pairs judgments hours money"
        tables = [
            self.table(
                "plan",
                f"{goal}, with all captions of each video" if self.by_video else goal,
                PlanRow,
                [row for row in self.rows if row.difference == self.difference],
                note=self._rates_note()
                if self.rows
                else "No plan: the scores do not vary, or all captions belong to one video.",
                columns=f"first second design {effort}",
                without=without,
            ),
            self.table(
                "single",
                f"{goal}, with one caption of each video",
                SingleRow,
                self.single,
                columns=f"first second design {effort}",
            ),
            self.table(
                "pilot",
                f"Measured on the {self.pilot:,} captions of this benchmark",
                PilotRow,
                self.pilots,
                columns="first second design formula pilot_difference discordant mean_square "
                f"deviation {BY_VIDEO}",
                without=(*without, *self._unused),
            ),
            self.table(
                "differences",
                "To detect other differences",
                PlanRow,
                self.rows,
                note="The discordant share is the measured one. If it is lower than the "
                "difference, the plan raises it to the difference."
                if self._is_raised
                else "",
                columns="first second design difference discordant captions videos "
                "single_captions pairs judgments hours money",
                without=(*without, *self._unused, *(() if self._is_raised else ("discordant",))),
            ),
        ]
        return [table for table in tables if self.by_video or table.name != "single"]

    @property
    def _unused(self) -> list[str]:
        """The figures that no plan uses."""
        used = {
            "discordant": any(row.discordant is not None for row in self.pilots),
            "mean_square": any(row.formula == "paired-normal" for row in self.pilots),
        }
        return [name for name, is_used in used.items() if not is_used]

    @property
    def _is_raised(self) -> bool:
        """Whether a plan uses another discordant share than the measured one."""
        measured = {
            (row.first, row.second): row.discordant for row in self.pilots if row.design == "paired"
        }
        return any(
            row.design == "paired" and row.discordant != measured[row.first, row.second]
            for row in self.rows
        )

    def _rates_note(self) -> str:
        rates = self.rates
        origin = {name: SOURCES[source] for name, source in self.sources.items()}
        effect = (
            "Design effect: measured, see below."
            if self.sources["design_effect"] == MEASURED
            else "Design effect: 1 (assumed, since captions count as independent)."
        )
        return (
            f"{rates.pairs_per_caption:.1f} pairs per caption ({origin['pairs']}), "
            f"{100 * rates.double_share:g} % of them labelled twice, "
            f"{100 * rates.disagreement:.1f} % of these with a third label "
            f"({origin['disagreement']}), {rates.seconds_per_judgment:.1f} seconds per "
            f"judgment ({origin['seconds']}), cost per hour: {rates.money_per_hour:g}. {effect}"
        )

    def charts(self) -> list[Chart]:
        pairs = list(dict.fromkeys((row.first, row.second) for row in self.rows))
        if not pairs:
            return []
        drawn = pairs[:PAIRS_DRAWN]
        rows = [
            {**row, "pair": f"{row['first']}, {row['second']}"}
            for row in data_of(self.rows)
            if (row["first"], row["second"]) in drawn
        ]
        is_cut = len(pairs) > len(drawn)
        left_out = f" Only the first {PAIRS_DRAWN} pairs of runs are included." if is_cut else ""
        note = ", with all captions of each video" if self.by_video else ""
        log = {"type": "log", "nice": False}
        return [
            Chart(
                "captions",
                "Captions needed" + (f", first {PAIRS_DRAWN} pairs of runs" if is_cut else ""),
                "Falling lines on two logarithmic scales, one for every two runs. The horizontal "
                "axis is the difference to detect, and the vertical axis is the number of "
                f"captions needed{note}.{left_out}",
                dashed_lines(
                    rows,
                    name_of("design", "Scored on", order=list(DESIGNS.values())),
                    x=quantity("difference", "Difference (log)", axis={"format": ".1%"}, scale=log),
                    y=quantity("captions", "Captions (log)", scale=log),
                    color=name_of("pair", "Runs"),
                ),
            )
        ]

    def warnings(self) -> list[str]:
        what = "design effect" if self.by_video else "variance"
        return self.few_measured_warnings(what) if self.pilots else []


def _points(difference: float) -> str:
    points = f"{100 * difference:g}"
    return f"{points} point" if points == "1" else f"{points} points"


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    figures = (
        options.pairs or 0,
        options.double,
        options.disagreement or 0,
        options.seconds or 0,
        options.money,
    )
    rates = Rates(*figures)
    clusters = inputs.clusters(options.unit)
    values = inputs.values(inputs.judged, options.measure)
    goal = options.difference / 100
    differences = [goal * step for step in STEPS if goal * step <= 1]
    pilots: list[PilotRow] = []
    rows: list[PlanRow] = []
    single: list[SingleRow] = []
    for pair, pilot in _pilots(values, clusters):
        pilots.append(_measured(pair, pilot))
        for difference in differences:
            row = _step(pair, pilot, difference, rates, options)
            if clusters is None:
                row = replace(row, videos=None, single_captions=None)
            rows.append(row)
        alone = _effort(one_per_cluster(pilot), goal, rates, options)
        single.append(SingleRow(**asdict(pair), deviation=pilot.deviation, **alone))
    return Result(
        measure=options.measure,
        difference=goal,
        **resampled_by(inputs, options.unit),
        pilot=len(inputs.captions),
        rates=RateFigures(*figures),
        sources={
            **(options.sources or {}),
            "discordant": MEASURED,
            "design_effect": ASSUMED if clusters is None else MEASURED,
        },
        pilots=pilots,
        rows=rows,
        single=[] if clusters is None else single,
    )


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
                yield RunPair(first=first, second=second, design=design), pilot


def _measured(pair: RunPair, pilot: Pilot) -> PilotRow:
    clustering = pilot.clustering
    return PilotRow(
        **asdict(pair),
        formula=pilot.formula,
        pilot_difference=pilot.difference,
        discordant=pilot.discordant_at(0),
        mean_square=pilot.mean_square if isinstance(pilot, PairedPilot) else None,
        deviation=pilot.deviation,
        pilot_videos=clustering.clusters,
        captions_per_video=clustering.mean_size,
        weighted_captions_per_video=clustering.weighted_size,
        design_effect=clustering.effect,
        icc=clustering.icc,
    )


def _step(
    pair: RunPair, pilot: Pilot, difference: float, rates: Rates, options: Options
) -> PlanRow:
    """Return the plan with all captions of each video.

    `single_captions` is the number of captions in a plan with one caption of each video.
    """
    alone = _effort(one_per_cluster(pilot), difference, rates, options)
    return PlanRow(
        **asdict(pair),
        deviation=pilot.deviation,
        **_effort(pilot, difference, rates, options),
        discordant=pilot.discordant_at(difference),
        single_captions=alone["captions"],
    )


def _effort(pilot: Pilot, difference: float, rates: Rates, options: Options) -> dict[str, Any]:
    """Return the figures of an effort, by the fields of `SingleRow`."""
    captions = captions_needed(
        pilot, difference, confidence=options.confidence, power=options.power
    )
    sets = SETS[pilot.design]
    effort = estimate_effort(sets * captions, rates)
    return {
        "difference": difference,
        "videos": sets * planner.videos_needed(pilot, captions),
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
    options=Options,
    result=Result,
    compute=_compute,
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
