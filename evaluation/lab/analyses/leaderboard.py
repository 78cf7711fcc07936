"""Ranks by the original positives and by each label set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Self

import numpy as np

from evaluation.core.arrays import FloatArray
from evaluation.core.moments.kinds import NEEDS
from evaluation.core.moments.scoring import MomentScores, score_moments
from evaluation.core.pools.bounds import bound_scores, is_complete
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.statistics.rank_stability import RankStability, SystemRank, rank_stability
from evaluation.core.statistics.ties import rank_systems
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import hides_tau, resampled_by, tau_note
from evaluation.lab.analyses.moments import truth_by
from evaluation.lab.analyses.noise import (
    ALL_POSITIVES,
    DRAWS,
    EQUAL_RATES,
    corrected_bounds,
    noise_of_labels,
)
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Ends, Run, Score, Shown
from evaluation.models import DRAFT, Draft, LabelSet, LabelSource
from evaluation.release.selectors import ORIGINAL, highest_grade
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress
from pooling.models import Benchmark
from pooling.models import Run as StoredRun
from pooling.moments.selectors import moment_lists, moment_runs

# Maximum number of label sets; the newest are used.
RELEASES_MAX = 12

Estimated = tuple[str, float, float]
"""The name of a run, its estimated score, and half the width of the 95 % interval."""

# A slice above the lab adds a function that returns the estimates of a measure.
ESTIMATES: list[Callable[[Benchmark, str], Iterable[Estimated]]] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    """Options of the leaderboard.

    releases: version and SHA-256 of each label set, oldest first.
    estimates: the runs with an estimate, its value and half the width of its interval.
    """

    measure: options.ShareMeasure = "C@1"
    resamples: options.NumberOfResamples = 1000
    releases: tuple[tuple[str, ...], ...] | None = None
    highest_grade: int | None = None
    estimates: tuple[Estimated, ...] | None = None

    def filled(self, inputs: Inputs) -> Self:
        """Add the version and hash of the newest label sets, and the highest grade.

        A new label set therefore makes a new question. A draft is not added, because the inputs
        contain it if it is selected.
        """
        newest = LabelSet.objects.filter(benchmark=inputs.benchmark)[:RELEASES_MAX]
        found = [row for find in ESTIMATES for row in find(inputs.benchmark, self.measure)]
        return replace(
            self,
            estimates=tuple(sorted(found)) or None,
            releases=tuple((release.version, release.sha256) for release in reversed(newest)),
            highest_grade=highest_grade(inputs.benchmark),
        )


def title_of(labels: str) -> str:
    """Return the name of labels in tables."""
    if labels == ORIGINAL:
        return "Original positives"
    return "Draft" if labels == DRAFT else f"Label set {labels}"


@dataclass(frozen=True, slots=True)
class BoardRow:
    """The rank and the score of a run by the selected labels, and by the original positives.

    bounds_corrected: null if unknown
    estimated: what judging everything would give, by drawn captions, and half the width of its 95 %
        interval; null if there is no estimate
    """

    rank: Annotated[int, Shown("Rank", "count")]
    run: Run
    rank_interval: Annotated[list[int], Shown("{interval}", "count")]
    original_rank: Annotated[int, Shown("Rank by the original positives", "count")]
    score: Annotated[float, Shown("Score, %", "percent")]
    original: Annotated[float, Shown("Score by the original positives, %", "percent")]
    bounds: Annotated[list[Score], Shown("Bounds over the listed pairs, %", "percent")]
    bounds_corrected: Annotated[
        Ends | None, Shown("Corrected for wrong labels, {interval}", "percent")
    ]
    judged_depth: Annotated[int, Shown("Ranks used", "count")]
    judged: Annotated[Score, Shown("Judged share of these, %", "percent")]
    estimated: list[float] | None = None

    @property
    def state(self) -> Annotated[str, Shown("State")]:
        """Whether the score is complete, estimated, or can change by unjudged pairs."""
        if is_complete(self.judged, self.bounds):
            return "complete"
        if self.estimated is None:
            return "unjudged pairs"
        value, half = (100 * part for part in self.estimated)
        return f"estimated {value:.1f} ±{half:.1f}"


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """The score of a run by one label set.

    labels: a version, `draft` or `original`
    """

    labels: Annotated[str, Shown("Labels", write=title_of)]
    run: Run
    rank: Annotated[int, Shown("Rank", "count")]
    score: Annotated[float, Shown("Score, %", "percent")]


@dataclass(frozen=True, slots=True)
class MoveRow:
    """The rankings by two successive label sets."""

    before: Annotated[str, Shown("From", write=title_of)]
    after: Annotated[str, Shown("To", write=title_of)]
    tau: Annotated[Score, Shown("Kendall’s tau", "number")]
    interval: Annotated[Ends | None, Shown("{interval}", "number")]
    same_order: Annotated[float, Shown("Resamples in which the order stays, %", "percent")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    measure: str
    board: Annotated[list[BoardRow], Tabled("board", "Ranks by {measure}")]
    releases: Annotated[list[ReleaseRow], Tabled("releases", "By each label set")]
    moves: Annotated[
        list[MoveRow],
        Tabled(
            "moves", "From one label set to the next", "{tau_note}", without="{hidden_tau_columns}"
        ),
    ]

    @property
    def tau_note(self) -> str:
        return tau_note(len(self.board))

    @property
    def hidden_tau_columns(self) -> str:
        return "tau interval" if hides_tau(len(self.board)) else ""

    def charts(self) -> list[charts.Chart]:
        rows = charts.data_of(self.releases)
        rank = {
            "scale": {"reverse": True, "zero": False},
            "axis": {"tickMinStep": 1, "format": "d"},
        }
        bounded = [{**row, **charts.low_high(row["bounds"])} for row in charts.data_of(self.board)]
        runs = charts.name_of("run", order=[row.run for row in self.board])
        labels = list(dict.fromkeys(row["labels"] for row in rows))
        return [
            charts.Chart(
                "ranks",
                "Ranks by each label set",
                "A line for each run: its rank by the original positives, then by each label set.",
                charts.spec(
                    rows,
                    charts.PATHS,
                    x=charts.step("labels", "", sort=labels),
                    y=charts.quantity("rank", "Rank", **rank),
                    color=charts.name_of("run"),
                ),
            ),
            charts.Chart(
                "bounds",
                "Scores with their bounds, if all labels are right",
                "A dot for the score of each run, in the order of ranks. Its line goes from the "
                "lowest to the highest score that the unjudged pairs allow if all labels are "
                "right.",
                {
                    "data": {"values": bounded},
                    "height": {"step": 26},
                    **charts.dots_on_lines(bounded, charts.score_axis(title=self.measure), y=runs),
                },
            ),
        ]

    def warnings(self) -> list[str]:
        return self.few_units_warnings()


def _releases(inputs: Inputs, options: Options) -> list[LabelSource]:
    """Return the label sets in the options, and the draft if it is selected."""
    stored = LabelSet.objects.filter(benchmark=inputs.benchmark)
    known = {label_set.version: label_set for label_set in stored}
    versions = [version for version, _ in options.releases or ()]
    sets = [known[version] for version in versions if version in known]
    draft = [inputs.label_set] if isinstance(inputs.label_set, Draft) else []
    return [*sets, *draft]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    if _is_of_moments(options):
        inputs = replace(inputs, runs=_runs_of_moments(inputs))
    releases = _releases(inputs, options)
    steps = len(releases) + 2
    names = [ORIGINAL]
    values = [_values(inputs, None, options)]
    for number, release in enumerate(releases, start=1):
        progress(number, steps, "scoring by each label set")
        names.append(release.reference)
        values.append(_values(inputs, release, options))
    progress(steps - 1, steps, "ranking")
    moves = []
    for (before, old), (after, new) in pairwise(zip(names, values, strict=True)):
        found = _stability(old, new, inputs, options)
        moves.append(MoveRow(before, after, found.tau.value, found.interval.ends, found.same_order))
    return Result(
        measure=options.measure,
        confidence=options.confidence,
        **resampled_by(inputs, options.unit),
        board=_board(inputs, values[0], options),
        releases=[
            row
            for name, found in zip(names, values, strict=True)
            for row in _release_rows(name, inputs, found)
        ],
        moves=moves,
    )


def _is_of_moments(options: Options) -> bool:
    return parse_measure(options.measure).needs == NEEDS


def _runs_of_moments(inputs: Inputs) -> list[StoredRun]:
    """Return the selected runs that rank moments. Raises `InvalidInput` if there are none."""
    found = moment_runs(inputs.runs)
    if not found:
        raise InvalidInput("The measure needs runs of moments, and no selected run ranks moments.")
    return [run for run in inputs.runs if run.pk in found]


def _values(inputs: Inputs, source: LabelSource | None, options: Options) -> FloatArray:
    """Return values of a measure by some labels, float64 [n_runs, n_queries].

    source: None for the original positives alone.
    """
    if _is_of_moments(options):
        measure = parse_measure(options.measure)
        found = [scores.values[measure] for scores in _moment_scores(inputs, source, measure)]
        if np.isnan(found).any():
            raise InvalidInput(f"{measure} is not defined for every caption of each run.")
        return np.stack(found)
    judged = inputs.original if source is None else inputs.judged_by(source)
    return np.stack(list(inputs.values(judged, options.measure).values()))


def _moment_scores(
    inputs: Inputs, source: LabelSource | None, *measures: Measure, bounds: bool = False
) -> Iterator[MomentScores]:
    truth = truth_by(inputs, source)
    for run in inputs.runs:
        lists = moment_lists(run)
        if lists is not None:
            yield score_moments(lists, truth, measures, bounds=bounds)


def _stability(
    before: FloatArray, after: FloatArray, inputs: Inputs, options: Options
) -> RankStability:
    drawn = options.drawing(inputs)
    drawn["clusters"] = inputs.varied_clusters(options.unit)
    return rank_stability(before, after, **drawn)


def _release_rows(name: str, inputs: Inputs, values: FloatArray) -> list[ReleaseRow]:
    scores = values.mean(axis=1)
    return [
        ReleaseRow(name, run.name, rank, score)
        for run, score, rank in zip(
            inputs.runs, scores.tolist(), rank_systems(scores).tolist(), strict=True
        )
    ]


def _board(inputs: Inputs, original: FloatArray, options: Options) -> list[BoardRow]:
    """Return one row per run, ordered by rank under the selected labels."""
    labelled = _values(inputs, inputs.label_set, options)
    ranks = _stability(original, labelled, inputs, options).ranks
    measure = parse_measure(options.measure)
    if _is_of_moments(options):
        return _board_of_moments(inputs, measure, ranks, original, labelled)
    noise = noise_of_labels(
        inputs, inputs.counted_originals, unit=options.unit, number=DRAWS, seed=options.seed
    )
    grade = max(options.highest_grade or 0, inputs.judged.highest_gain)
    estimated = {name: list(found) for name, *found in options.estimates or ()}
    rows: list[BoardRow] = []
    for run, rank, before, after in zip(inputs.runs, ranks, original, labelled, strict=True):
        ranked = inputs.ranked[run.name]
        # A measure reads the top of the list down to this rank.
        depth = measure.reads(ranked.depth)
        share = Measure("Judged", max(1, depth))
        found = bound_scores(ranked, inputs.judged, [measure, share], highest=grade)
        rows.append(
            BoardRow(
                rank=rank.labelled,
                run=run.name,
                rank_interval=list(rank.labelled_interval),
                original_rank=rank.original,
                score=float(after.mean()),
                original=float(before.mean()),
                bounds=[found.lower.mean(measure).value, found.upper.mean(measure).value],
                bounds_corrected=corrected_bounds(noise, ranked, [measure], options.confidence).get(
                    measure
                ),
                judged_depth=depth,
                judged=found.known.mean(share).value,
                estimated=estimated.get(run.name),
            )
        )
    return sorted(rows, key=lambda row: (row.rank, row.run))


def _board_of_moments(
    inputs: Inputs,
    measure: Measure,
    ranks: Sequence[SystemRank],
    original: FloatArray,
    labelled: FloatArray,
) -> list[BoardRow]:
    depth = measure.cutoff or 1
    share = parse_measure(f"Judged@{depth}(of=moments)")
    scores = _moment_scores(inputs, inputs.label_set, measure, share, bounds=True)
    rows = [
        BoardRow(
            rank=rank.labelled,
            run=run.name,
            rank_interval=list(rank.labelled_interval),
            original_rank=rank.original,
            score=float(after.mean()),
            original=float(before.mean()),
            bounds=found.bounds(measure) or [None, None],
            bounds_corrected=None,
            judged_depth=depth,
            judged=found.mean(share).value,
        )
        for run, rank, before, after, found in zip(
            inputs.runs, ranks, original, labelled, scores, strict=True
        )
    ]
    return sorted(rows, key=lambda row: (row.rank, row.run))


LEADERBOARD = Analysis(
    name="leaderboard",
    title="Leaderboard",
    question="Which run is best by each label set, and how certain is its rank?",
    options=Options,
    result=Result,
    compute=_compute,
    is_directed=True,
    notes=(
        "Ranks are by the selected labels. Scores that are equal, or differ only by rounding, "
        "share the better rank. The interval of a rank covers its values in resamples of captions "
        "or videos.",
        "Bounds over the listed pairs are the lowest and the highest score that a run can have if "
        "all labels are right, depending on the labels that the unjudged pairs of its lists get. "
        "Wrong labels move both bounds, so the true score can be outside of them. The corrected "
        f"bounds allow for wrong labels; “Bounds and bias” explains them. {EQUAL_RATES} "
        "Unjudged pairs outside of its lists count as not relevant. The analysis “Bounds and bias” "
        "includes them. A measure with a cutoff uses the top of the list. Any other measure uses "
        "the whole list.",
        ALL_POSITIVES,
        "With a measure of moments, such as VCMR@1(tIoU>=0.5), only the runs that rank moments are "
        "compared, by the spans of people of each label set.",
        "A run is complete if no unjudged pair of its list can change its score. An estimate is "
        "what judging everything would give, with half the width of its 95 % interval, from "
        "captions that were drawn and judged. It has no influence on scores and ranks.",
        f"If there are more than {RELEASES_MAX} label sets, the newest are used.",
    ),
)
