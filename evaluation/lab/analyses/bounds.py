"""The lowest and the highest score that the unjudged pairs allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from evaluation.core.arrays import FloatArray
from evaluation.core.pools.bounds import Bounds, bound_scores
from evaluation.core.pools.expectations import check_expectations, expect_scores, pool_chances
from evaluation.core.pools.incomplete import bpref, condense, inferred_ap
from evaluation.core.pools.leave_out import PooledLabels, gather_pool
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import CUT, Analysis
from evaluation.lab.analyses.inputs import AUTO, Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.noise import (
    ALL_POSITIVES,
    DRAWS,
    EQUAL_RATES,
    corrected_bounds,
    noise_of_labels,
)
from evaluation.lab.analyses.rows import Ends, Interval, MeasureName, Run, Score, Shown, as_json
from evaluation.lab.analyses.tables import Table
from evaluation.release.selectors import highest_grade
from hearth.shared.progress import Progress
from pooling.core.ranked_lists import RankedLists
from pooling.selectors.runs import find_runs, ranked_lists

# If there are at least this many unjudged pairs per caption outside of the lists, the lower bound
# over all unjudged pairs is close to 0.
MANY_UNLISTED = 20
FOR_MISSING = (
    "bpref and infAP are measures for incomplete judgments. bpref leaves out unjudged videos. "
    "infAP assumes that unjudged videos are relevant as often as the judged videos above them in "
    "the list. This is correct if a random part of the pool was judged, but not for a system whose "
    "pairs were not pooled. xinfAP is infAP for a pool with strata, whose pairs were judged by "
    "different shares; with few relevant pairs per caption it is too high or too low on average."
)
XINFAP = parse_measure("xinfAP")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """pool: the SHA-256 of each run in the direction of the selected runs, by its name."""

    measures: options.ShareMeasures = ("C@1", "C@5", "C@10", "AP")
    depth: options.Depth = 10
    unit: options.Unit = AUTO
    confidence: options.Confidence = 0.95
    seed: options.Seed = 0
    pool: dict[str, str] | None = None
    highest_grade: int | None = None

    def filled(self, inputs: Inputs) -> Options:
        """Add the highest grade, and all runs of the direction, because the estimate uses them."""
        pool = {run.name: run.sha256 for run in inputs.runs_of_direction()}
        return replace(self, pool=pool, highest_grade=highest_grade(inputs.benchmark))


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsRow:
    """The score of one run in one measure, with its bounds and its estimate.

    judged: of the first `judged_depth` ranks
    bounds: if all labels are right
    bounds_corrected: over the listed pairs, allowing for wrong labels; null if unknown
    bounds_all: if all labels are right
    expected: null if there is none
    condensed: the score without unjudged videos
    """

    run: Run
    measure: MeasureName
    score: Annotated[Score, Shown("Unjudged counted as not relevant, %", "percent")]
    judged_depth: Annotated[int, Shown("Ranks used", "count")]
    judged: Annotated[Score, Shown("Judged share of these, %", "percent")]
    bounds: Annotated[list[float | None], Shown("Bounds over the listed pairs, %", "percent")]
    bounds_corrected: Annotated[
        Ends | None, Shown("Corrected for wrong labels, {interval}", "percent")
    ] = None
    bounds_all: Annotated[list[float | None], Shown("Bounds over all unjudged pairs, %", "percent")]
    expected: Annotated[Score, Shown("Estimate, %", "percent")] = None
    expected_interval: Interval = None
    condensed: Annotated[Score, Shown("Unjudged videos removed, %", "percent")]


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """The judged share of a run's lists, and its scores in measures for missing judgments.

    xinfap: infAP by the strata of the pool; null if it has none
    """

    run: Run
    judged: Annotated[Score, Shown("Judged@{depth}, %", "percent")]
    unjudged_listed: Annotated[int, Shown("Unjudged pairs in the lists", "count")]
    unjudged_unlisted: Annotated[int, Shown("Unjudged pairs outside of the lists", "count")]
    unlisted_per_caption: Annotated[Score, Shown("Outside of the lists, per caption", "number")]
    bpref: Annotated[float, Shown("bpref, %", "percent")]
    infap: Annotated[float, Shown("infAP, %", "percent")]
    xinfap: Annotated[Score, Shown("xinfAP, %", "percent")] = None


def _minus(value: Score, other: Score) -> Score:
    return None if value is None or other is None else value - other


@dataclass(frozen=True, slots=True)
class CheckRow:
    """The estimate of a score for a run that was left out of the pool.

    truth: the score with all labels
    known: the score without the labels of the pairs that only this run contributed
    """

    run: Annotated[str, Shown("Run left out")]
    measure: MeasureName
    truth: Annotated[Score, Shown("With all labels, %", "percent")]
    known: Annotated[Score, Shown("Without its own labels, %", "percent")]
    expected: Annotated[Score, Shown("Estimate, %", "percent")]

    @property
    def without(self) -> Annotated[Score, Shown("Error, points", "points")]:
        return _minus(self.known, self.truth)

    @property
    def error(self) -> Annotated[Score, Shown("Error of the estimate, points", "points")]:
        return _minus(self.expected, self.truth)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    depth: int
    highest_grade: int
    rows: list[BoundsRow]
    judged: list[JudgedRow]
    checks: list[CheckRow]

    def tables(self) -> list[Table]:
        return [
            self.table(
                "bounds", "Scores and their bounds", BoundsRow, self.rows, note=self._bounds_note()
            ),
            self.table("judged", "Judged share", JudgedRow, self.judged, note=FOR_MISSING),
            self.table(
                "checks",
                "Error of the estimate, for each run left out of the pool",
                CheckRow,
                self.checks,
                note="“Its own labels” are the labels of the pairs that only this run contributed. "
                "Unjudged pairs count as not relevant in the scores with and without these labels.",
                columns="run measure truth known without expected error",
            ),
        ]

    def _bounds_note(self) -> str:
        highest = self.highest_grade
        grades = "be relevant or not" if highest == 1 else f"get any grade from 0 to {highest}"
        text = (
            "The bounds over the listed pairs assume that all labels are right, that the unjudged "
            f"pairs in the top {self.depth} of a run may {grades}, and that all other pairs stay "
            "unjudged. In the bounds over all unjudged pairs, unjudged pairs outside of the lists "
            "may be relevant, too. This lowers only the lower bounds of R, AP and nDCG, which "
            "divide by the number of all relevant pairs."
        )
        unlisted = max((row.unlisted_per_caption or 0 for row in self.judged), default=0)
        divided = any(parse_measure(row.measure).kind.divides_by_all for row in self.rows)
        if not divided or unlisted < MANY_UNLISTED:
            return text
        return (
            f"{text} The lower bounds of these measures over all unjudged pairs are close to 0 in "
            f"this benchmark: they count all {unlisted:,.0f} unjudged pairs per caption outside of "
            "the lists as relevant. A low bound shows that these pairs are unknown, not that the "
            "score is wrong."
        )

    def charts(self) -> list[charts.Chart]:
        rows = [{**row, **charts.low_high(row["bounds"])} for row in as_json(self.rows)]
        score = charts.quantity(
            "score", "Score", axis={"format": charts.PERCENT}, scale={"zero": False}
        )
        line = {"x": {**score, "field": "low"}, "x2": {"field": "high"}}
        plot = {
            "width": 300,
            "height": {"step": 26},
            "encoding": {"y": charts.name_of("run"), "color": charts.name_of("run")},
            "layer": [
                {"mark": charts.RULES, "encoding": line},
                {"mark": charts.DOTS, "encoding": {"x": score}},
            ],
        }
        return [
            charts.Chart(
                "bounds",
                "Scores with their bounds over the listed pairs, if all labels are right",
                "Each measure has a dot for each run, on a line from the lower to the upper bound "
                "over the listed pairs. Listed pairs are the pairs in the ranked lists of the run, "
                "cut at the depth. If all of them are judged, the line is a point.",
                charts.by_measure(rows, plot),
            )
        ]

    def warnings(self) -> list[str]:
        return self.few_units_warnings()


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    depth = options.depth
    # If no run was selected, `inputs.runs` can contain runs that were added since the request.
    names = sorted({*(options.pool or ()), *(run.name for run in inputs.runs)})
    all_runs = find_runs(inputs.benchmark, names, inputs.direction)
    lists = {run.name: ranked_lists(run, depth) for run in all_runs}
    runs = {run.name: lists[run.name] for run in inputs.runs}
    measures = [parse_measure(name) for name in options.measures]
    pool = gather_pool(lists, depth, inputs.judged, inputs.counted_originals)
    grade = max(options.highest_grade or 0, inputs.judged.highest_gain)
    noise = noise_of_labels(
        inputs, inputs.counted_originals, unit=options.unit, number=DRAWS, seed=options.seed
    )
    rows: list[BoundsRow] = []
    judged: list[JudgedRow] = []
    for number, (name, ranked) in enumerate(runs.items()):
        progress(number, len(runs), "bounding scores")
        shares = [Measure("Judged", depth)]
        shares += [_judged_measure(measure, ranked.depth) for measure in measures]
        found = bound_scores(ranked, inputs.judged, [*measures, *shares], highest=grade)
        corrected = corrected_bounds(noise, ranked, measures, options.confidence)
        rows += _bounds(name, ranked, inputs, measures, found, corrected)
        judged.append(_judged(name, ranked, inputs, depth, found))
    rows = _expect(rows, runs, pool, inputs, options)
    progress(len(runs), len(runs), "checking estimates")
    return Result(
        depth=depth,
        highest_grade=grade,
        **resampled_by(inputs, options.unit),
        confidence=options.confidence,
        rows=rows,
        judged=judged,
        checks=_checks(pool, measures),
    )


def _bounds(
    name: str,
    ranked: RankedLists,
    inputs: Inputs,
    measures: list[Measure],
    found: Bounds,
    corrected: Mapping[Measure, Ends],
) -> list[BoundsRow]:
    condensed = score_run(condense(ranked, inputs.judged), inputs.judged, measures)
    return [
        BoundsRow(
            run=name,
            measure=str(measure),
            score=found.known.mean(measure).value,
            bounds=[found.lower.mean(measure).value, found.upper.mean(measure).value],
            bounds_corrected=corrected.get(measure),
            bounds_all=[found.lower_all.mean(measure).value, found.upper.mean(measure).value],
            judged_depth=measure.reads(ranked.depth),
            judged=found.known.mean(_judged_measure(measure, ranked.depth)).value,
            condensed=condensed.mean(measure).value,
        )
        for measure in measures
    ]


def _judged_measure(measure: Measure, depth: int) -> Measure:
    """Return Judged@k for the number of ranks that `measure` uses."""
    return Measure("Judged", max(1, measure.reads(depth)))


def _judged(name: str, ranked: RankedLists, inputs: Inputs, depth: int, found: Bounds) -> JudgedRow:
    unlisted = found.unlisted
    return JudgedRow(
        name,
        found.known.mean(Measure("Judged", depth)).value,
        int(found.listed.sum()),
        int(unlisted.sum()),
        float(unlisted.mean()) if len(unlisted) else None,
        float(bpref(ranked, inputs.judged).mean()),
        float(inferred_ap(ranked, inputs.judged, depth).mean()),
        _stratified(ranked, inputs),
    )


def _stratified(ranked: RankedLists, inputs: Inputs) -> float | None:
    strata = inputs.strata_of(inputs.judged)
    if strata is None:
        return None
    return score_run(ranked, inputs.judged, [XINFAP], strata=strata).mean(XINFAP).value


def _expect(
    rows: list[BoundsRow],
    runs: dict[str, RankedLists],
    pool: PooledLabels,
    inputs: Inputs,
    options: Options,
) -> list[BoundsRow]:
    """Add an estimate to each row if the pool shows how often comparable pairs are relevant."""
    measures = {row.measure: parse_measure(row.measure) for row in rows}
    estimated = [measure for measure in measures.values() if measure.kind.can("expect")]
    chances = _chances(pool)
    if chances is None or not estimated:
        return rows
    clusters, rng = inputs.clusters(options.unit), np.random.default_rng(options.seed)
    found = {
        name: expect_scores(ranked, pool.labels, chances, estimated)
        for name, ranked in runs.items()
    }
    expected: list[BoundsRow] = []
    for row in rows:
        values = found[row.run].get(measures[row.measure])
        if values is not None:
            confidence = options.confidence
            ends = mean_interval(values, rng=rng, confidence=confidence, clusters=clusters).ends
            row = replace(row, expected=float(values.mean()), expected_interval=ends)  # noqa: PLW2901
        expected.append(row)
    return expected


def _chances(pool: PooledLabels) -> FloatArray | None:
    """Return the result of `pool_chances`.

    Return None if every judged pair was contributed by two or more systems.
    """
    try:
        return pool_chances(pool)
    except ValueError:
        return None


def _checks(pool: PooledLabels, measures: list[Measure]) -> list[CheckRow]:
    """Leave out each system of the pool in turn, and return its estimated and its true scores.

    A system without pairs that only it contributed has no row, because the pool loses nothing
    without it.
    """
    estimated = [measure for measure in measures if measure.kind.can("expect")]
    try:
        found = check_expectations(pool, estimated)
    except ValueError:
        return []
    return [
        CheckRow(
            check.system,
            str(measure),
            check.truth[measure].value,
            check.known[measure].value,
            check.expected[measure].value,
        )
        for check in found
        if pool.is_unique(check.system).any()
        for measure in estimated
    ]


BOUNDS = Analysis(
    name="bounds",
    title="Bounds and bias",
    question="How far can a score be off because some ranked videos are unjudged?",
    options=Options,
    result=Result,
    compute=_compute,
    is_directed=True,
    notes=(
        "If all labels are right, the bounds are exact: some outcome of the unjudged pairs reaches "
        "each bound, and no outcome goes beyond it. Wrong labels move both bounds, so the true "
        "score can be outside of them.",
        "The corrected bounds allow for wrong labels. The lower one is the lower end of the "
        "interval of the corrected score with all unjudged pairs of the lists as not relevant, "
        "and the upper one the upper end with all of them as relevant. The intervals are for these "
        f"captions. {EQUAL_RATES} Corrected bounds exist for C@k, P@k and RR of text-to-video "
        "runs, and only if pairs with several labels show how often labels are wrong.",
        ALL_POSITIVES,
        "The estimate assumes that an unjudged pair is relevant as often as similar judged pairs. "
        "A judged pair is similar if it has the same rank as the unjudged pair and only one run "
        "ranks it within the depth. The estimate uses all runs of the benchmark, not only the "
        "selected ones. Its interval covers the choice of captions or videos. It does not cover "
        "the error for a new system that ranks better videos than the pooled systems. The last "
        "table shows the error of the estimate for each pooled system.",
        CUT,
    ),
)
