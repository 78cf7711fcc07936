"""Which scores are complete, estimated or unjudged, and the differences from drawn captions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

from evaluation.core.files.latex import Table, count, escape, interval, percent, points
from evaluation.core.pools.bounds import bound_scores, is_complete
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.estimates.models import Draw
from evaluation.estimates.results import Result as Estimate
from evaluation.estimates.results import newest_differences, newest_results, p_text
from evaluation.lab.analyses import charts, options, register, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.leaderboard import ESTIMATES as LEADERBOARD_ESTIMATES
from evaluation.lab.analyses.leaderboard import Estimated
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import (
    Ends,
    Interval,
    MeasureName,
    OtherRun,
    PointsInterval,
    Run,
    Score,
    Shown,
)
from evaluation.lab.paper.tables import FURTHER, Further
from hearth.shared.progress import Progress
from pooling.models import Benchmark

Method = Annotated[str, Shown("Method")]
Captions = Annotated[int, Shown("Captions", "count")]
Undecided = Annotated[int, Shown("Of undecided", "count")]
Seed = Annotated[int, Shown("Seed", "count")]
State = Annotated[str, Shown("State")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """draws: primary keys of all draws."""

    measures: options.ShareMeasures = ("C@1", "C@5", "C@10", "AP@10")
    draws: tuple[int, ...] | None = None

    def filled(self, inputs: Inputs) -> Self:
        """Add the draws, because a new draw makes a new question."""
        keys = Draw.objects.filter(run__benchmark=inputs.benchmark).values_list("pk", flat=True)
        return replace(self, draws=tuple(sorted(keys)))


@dataclass(frozen=True, slots=True)
class CompleteRow:
    """A score that no unjudged pair can change."""

    run: Run
    measure: MeasureName
    score: Annotated[Score, Shown("Score, %", "percent")]
    original: Annotated[Score, Shown("By the original positives, %", "percent")]

    @property
    def difference(self) -> Annotated[Score, Shown("Difference, points", "points")]:
        return None if None in (self.score, self.original) else self.score - self.original  # type: ignore[operator]


@dataclass(frozen=True, slots=True)
class EstimatedRow:
    """A score of which a part is judged, as judging everything would give it: A (B + C).

    interval: the 95 % interval of the estimate
    added: the difference of the estimate and the score by the original positives, with its interval
    """

    run: Run
    measure: MeasureName
    estimate: Annotated[float, Shown("Estimate A, %", "percent")]
    interval: Interval
    original: Annotated[Score, Shown("By the original positives B, %", "percent")]
    added: Annotated[Score, Shown("Difference C, points", "points")]
    added_interval: PointsInterval
    method: Method
    captions: Captions
    undecided: Undecided
    seed: Seed
    state: State


@dataclass(frozen=True, slots=True)
class UnjudgedRow:
    """A score with unjudged pairs and without an estimate: it may be too low."""

    run: Run
    measure: MeasureName
    score: Annotated[Score, Shown("Score, unjudged as not relevant, %", "percent")]
    judged: Annotated[Score, Shown("Judged share of its ranks, %", "percent")]


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """The difference of two runs from captions that were drawn for both.

    p: of no difference; null until judging has ended
    p_holm: p corrected for the number of differences
    """

    run: Run
    other_run: OtherRun
    measure: MeasureName
    difference: Annotated[Score, Shown("Difference, points", "points")]
    interval: PointsInterval
    p: Annotated[Score, Shown("p", "number")]
    p_holm: Annotated[Score, Shown("p by Holm", "number")]
    method: Method
    captions: Captions
    undecided: Undecided
    seed: Seed
    state: State


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    confidence: float
    complete: Annotated[
        list[CompleteRow],
        Tabled(
            "complete", "Complete scores", "No unjudged pair can change them.", is_optional=True
        ),
    ]
    estimated: Annotated[
        list[EstimatedRow],
        Tabled(
            "estimated",
            "Estimated scores: what judging everything would give",
            "From captions that were drawn at random and judged by people.",
            is_optional=True,
        ),
    ]
    unjudged: Annotated[
        list[UnjudgedRow],
        Tabled("unjudged", "Scores with unjudged pairs, without an estimate", is_optional=True),
    ]
    differences: Annotated[
        list[DifferenceRow],
        Tabled("differences", "Differences from drawn captions", is_optional=True),
    ]

    def findings(self) -> list[str]:
        found = {
            "complete": len(self.complete),
            "estimated": len(self.estimated),
            "unjudged": len(self.unjudged),
        }
        counts = ", ".join(f"{number} {name}" for name, number in found.items())
        return [f"Scores of runs by measure: {counts}."]

    def charts(self) -> list[charts.Chart]:
        rows: list[dict[str, Any]] = [
            {
                "run": row.run,
                "measure": row.measure,
                "score": row.score,
                "state": "complete",
                **charts.low_high(None),
            }
            for row in self.complete
        ]
        rows += [
            {
                "run": row.run,
                "measure": row.measure,
                "score": row.estimate,
                "state": "estimated",
                **charts.low_high(row.interval),
            }
            for row in self.estimated
        ]
        if not rows:
            return []
        state = charts.name_of("state", order=["complete", "estimated"])
        view = charts.dots_by_measure(rows, charts.score_axis(), color=state)
        text = "A dot for each complete or estimated score. A line is the interval of an estimate."
        return [charts.Chart("scores", "Complete and estimated scores", text, view)]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    estimates = newest_results(inputs.benchmark)
    result = Result(0.95, [], [], [], [])
    for number, run in enumerate(inputs.runs):
        progress(number, len(inputs.runs), "scoring runs")
        for name in options.measures:
            _add(result, inputs, run.name, parse_measure(name), estimates.get((run.pk, name)))
    names = {run.name for run in inputs.runs}
    for found in newest_differences(inputs.benchmark):
        if found.run in names and found.other in names and found.measure in options.measures:
            result.differences.append(_difference(found))
    return result


def _add(
    result: Result, inputs: Inputs, run: str, measure: Measure, estimate: Estimate | None
) -> None:
    """Add a score to the table of its state."""
    lists = inputs.ranked[run]
    share = Measure("Judged", max(1, measure.reads(lists.depth)))
    found = bound_scores(lists, inputs.judged, [measure, share])
    score, judged = found.lower.mean(measure).value, found.known.mean(share).value
    original = bound_scores(lists, inputs.original, [measure]).lower.mean(measure).value
    if is_complete(judged, [score, found.upper.mean(measure).value]):
        result.complete.append(CompleteRow(run, str(measure), score, original))
    elif estimate is None or estimate.value is None:
        result.unjudged.append(UnjudgedRow(run, str(measure), score, judged))
    else:
        result.estimated.append(_estimated(run, str(measure), estimate, original))


def _estimated(run: str, measure: str, found: Estimate, original: float | None) -> EstimatedRow:
    ends = list(found.interval or ())
    value = found.value or 0.0
    return EstimatedRow(
        run,
        measure,
        value,
        ends,
        original,
        None if original is None else value - original,
        None if original is None else [end - original for end in ends],
        found.method,
        found.captions,
        found.undecided,
        found.seed,
        found.state,
    )


def _difference(found: Estimate) -> DifferenceRow:
    ends: Ends | None = None if found.interval is None else list(found.interval)
    return DifferenceRow(
        found.run,
        found.other or "",
        found.measure,
        found.value,
        ends,
        found.p,
        found.p_holm,
        found.method,
        found.captions,
        found.undecided,
        found.seed,
        found.state,
    )


def paper_table(result: Result) -> Table | None:
    """Return the table of estimates for a paper, with method, n, seed and interval."""
    rows = [
        [
            escape(row.run),
            escape(row.measure),
            f"{percent(row.estimate)} ({percent(row.original)} {points(row.added)})",
            interval(row.interval),
            escape(row.method),
            f"{count(row.captions)} of {count(row.undecided)}",
            str(row.seed),
        ]
        for row in result.estimated
    ]
    rows += [
        [
            f"{escape(row.run)} $-$ {escape(row.other_run)}",
            escape(row.measure),
            points(row.difference),
            f"{interval(row.interval)}{_p(row)}",
            escape(row.method),
            f"{count(row.captions)} of {count(row.undecided)}",
            str(row.seed),
        ]
        for row in result.differences
        if row.difference is not None
    ]
    if not rows:
        return None
    caption = (
        "Estimates of what judging everything would give, in \\%, from captions that were drawn at "
        "random without replacement among the undecided ones and judged by people. In parentheses: "
        "scores by the original positives, and the difference. Intervals have a confidence of "
        "95\\,\\%. Differences of two runs are in points, with $p$ by Holm."
    )
    heads = ["Run", "Measure", "Estimate", "Interval", "Method", "Captions", "Seed"]
    return Table("tab:estimates", caption, heads, rows)


def _p(row: DifferenceRow) -> str:
    return "" if row.p_holm is None else f", $p$ {p_text(row.p_holm)}"


ESTIMATES = Analysis(
    name="estimates",
    title="Complete, estimated and unjudged scores",
    question="Which scores are complete, and what would judging everything give for the others?",
    options=Options,
    result=Result,
    compute=_compute,
    reads_judgments=True,
    notes=(
        "A score is complete if no unjudged pair of the list can change it under the selected "
        "labels. Otherwise, the newest estimate from drawn captions is shown with its 95 % "
        "interval, from all labels so far. A score without an estimate counts unjudged pairs as "
        "not relevant, so it may be too low. The three are never in one table.",
        "Estimates do not enter label sets. Pairs of drawn captions are judged like others, so "
        "labels that were sampled for a run favour it.",
    ),
)


def _of_board(benchmark: Benchmark, measure: str) -> Iterator[Estimated]:
    """Yield the estimates of a measure for the leaderboard."""
    names = dict(benchmark.runs.values_list("pk", "name"))
    for (run, name), found in newest_results(benchmark).items():
        if name == measure and found.value is not None and found.half_width is not None:
            yield names[run], found.value, found.half_width


register("Scores", ESTIMATES)
LEADERBOARD_ESTIMATES.append(_of_board)
FURTHER["estimates"] = Further(
    lambda benchmark: Draw.objects.filter(run__benchmark=benchmark).exists(), paper_table
)
