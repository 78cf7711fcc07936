"""Scores of moments by the lowest tIoU of a hit, by the original spans and with those of people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Final

import numpy as np

from annotation.questions.spans.answers import people_spans
from evaluation.core.arrays import IntArray
from evaluation.core.moments.lists import MomentTruth
from evaluation.core.moments.scoring import score_moments
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Ends, PointsInterval, Run, Shown
from evaluation.models import LabelSet, LabelSource
from evaluation.release.selectors import label_set_judged
from evaluation.spans.selectors import label_set_spans
from hearth.shared.options import Option
from hearth.shared.progress import Progress
from pooling.core.ranked_lists import RankedLists
from pooling.moments.core.spans import Spans
from pooling.moments.selectors import moment_lists, original_spans
from pooling.selectors.captions import first_equal_captions

THRESHOLDS: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
RULES: Final = (
    ("float32 or float64", "SVMR@1(tIoU>={t})", "R@1(tIoU>={t})"),
    ("at least or above the threshold", "R@1(tIoU>={t})", "R@1(tIoU>{t})"),
    ("all moments or without overlaps", "R@1(tIoU>={t})", "R@1(nms=tall,tIoU>={t})"),
    ("all moments or without overlaps", "R@5(tIoU>={t})", "R@5(nms=tall,tIoU>={t})"),
)
TASKS: Final = {"VCMR": "all videos", "SVMR": "the right video"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    cutoff: Annotated[int, Option("Correct within the top", low=1, high=100)] = 1
    confidence: options.Confidence = 0.95


@dataclass(frozen=True, slots=True)
class CurveRow:
    """The captions with a hit of a run, if moments are sought in all videos or in the right one.

    upper: the share if all unjudged moments hit
    """

    run: Run
    task: Annotated[str, Shown("Moments of", write=TASKS.__getitem__)]
    threshold: Annotated[float, Shown("tIoU at least", "coefficient")]
    original: Annotated[float | None, Shown("Original spans, %", "percent")]
    corrected: Annotated[float | None, Shown("With people’s spans, %", "percent")]
    change: Annotated[float | None, Shown("Change, points", "points")]
    interval: PointsInterval
    upper: Annotated[float | None, Shown("Upper bound, %", "percent")]


@dataclass(frozen=True, slots=True)
class RuleRow:
    """Two measures that differ only by a rule of their evaluators, by the original spans.

    first, second: the shares of captions with a hit
    differ: the captions that hit by one of the measures only
    """

    run: Run
    rule: Annotated[str, Shown("Rule")]
    measure: Annotated[str, Shown("Measure")]
    first: Annotated[float, Shown("Score, %", "percent")]
    other: Annotated[str, Shown("Other measure")]
    second: Annotated[float, Shown("Other score, %", "percent")]
    differ: Annotated[int, Shown("Captions that differ", "count")]


@dataclass(frozen=True, slots=True)
class CountRow:
    """The caption texts with this number of moments in all videos."""

    moments: Annotated[int, Shown("Moments", "count")]
    original: Annotated[int, Shown("Texts, original spans", "count")]
    corrected: Annotated[int, Shown("Texts, with people’s spans", "count")]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    cutoff: int
    confidence: float
    rows: Annotated[
        list[CurveRow], Tabled("curve", "Captions with a hit in the top {cutoff}, by tIoU")
    ]
    counts: Annotated[
        list[CountRow],
        Tabled(
            "counts",
            "Moments of a caption text",
            "Captions with equal texts are one text, and each span of one of them is a moment.",
            is_optional=True,
        ),
    ]
    rules: Annotated[
        list[RuleRow],
        Tabled(
            "rules",
            "Where evaluators disagree",
            "Evaluators compute tIoU in float32 (TVR) or float64, count a tIoU that equals the "
            "threshold as a hit or not (TVR-Ranking), and drop overlapping moments (TALL) or not.",
            is_optional=True,
        ),
    ] = field(default_factory=list)

    def warnings(self) -> list[str]:
        return [
            f"{row.run}: {row.measure} and {row.other} disagree about {row.differ:,} "
            f"caption{'s' if row.differ > 1 else ''} ({100 * row.first:.1f} and "
            f"{100 * row.second:.1f}\N{NO-BREAK SPACE}%), because of a rule: {row.rule}. Name the "
            "evaluator with each score."
            for row in self.rules
            if row.differ
        ]

    def findings(self) -> list[str]:
        if not self.rows:
            return ["No run of the selection ranks moments."]
        found = []
        for task in TASKS:
            rows = [row for row in self.rows if (row.task, row.threshold) == (task, 0.5)]
            orders = [
                [row.run for row in sorted(rows, key=lambda row: -(getattr(row, by) or 0))]
                for by in ("original", "corrected")
            ]
            same = "keep their order" if orders[0] == orders[1] else "change their order"
            gains = ", ".join(f"{row.run} {100 * (row.change or 0):+.1f}" for row in rows)
            found.append(f"{task} at tIoU 0.5, points gained: {gains}. The runs {same}.")
        return found

    def charts(self) -> list[charts.Chart]:
        found = []
        for task, title in TASKS.items():
            rows = [row for row in self.rows if row.task == task]
            values = charts.melt(
                rows,
                "run threshold",
                {"original": "original spans", "corrected": "with people’s spans"},
                "score",
                "by",
            )
            if values:
                view = charts.dashed_lines(
                    values,
                    charts.name_of("by"),
                    x=charts.quantity("threshold", "tIoU at least"),
                    y=charts.score_axis(),
                    color=charts.name_of("run"),
                )
                text = f"Falling lines: the share of captions with a hit in {title}, by tIoU."
                found.append(charts.Chart(task.lower(), f"{task}: moments of {title}", text, view))
        return found


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    truth = truth_of(inputs)
    rows: list[CurveRow] = []
    rules: list[RuleRow] = []
    for number, run in enumerate(inputs.runs):
        progress(number, len(inputs.runs), "scoring moments")
        if (lists := moment_lists(run)) is not None:
            rows += _curve(run.name, lists, truth, options)
            rules += _rules(run.name, lists, truth)
    texts = first_equal_captions(inputs.benchmark)
    return Result(options.cutoff, options.confidence, rows, _counts(truth, texts), rules)


def _rules(run: str, lists: RankedLists, truth: MomentTruth) -> Iterator[RuleRow]:
    plain = replace(truth, people=Spans.none(), judged=None, labels_only=False)
    pairs = [
        (rule, first.format(t=threshold), second.format(t=threshold))
        for rule, first, second in RULES
        for threshold in (0.5, 0.7)
    ]
    measures = {text: parse_measure(text) for _, *both in pairs for text in both}
    scores = score_moments(lists, plain, measures.values())
    for rule, first, second in pairs:
        one, other = (scores.values[measures[text]] for text in (first, second))
        differ = int((one != other).sum())
        yield RuleRow(run, rule, first, float(one.mean()), second, float(other.mean()), differ)


def truth_of(inputs: Inputs) -> MomentTruth:
    """Return the original spans, and people's spans of the pairs that the labels call relevant."""
    return truth_by(inputs, inputs.label_set)


def truth_by(inputs: Inputs, source: LabelSource | None) -> MomentTruth:
    """Return the same by other labels; None: the original spans alone.

    A label set has the spans that were published with it. A draft has the current ones.
    """
    home, _ = inputs.original.positives()
    truth = MomentTruth(inputs.benchmark.pair_space, home, original_spans(inputs.benchmark))
    if source is None:
        return truth
    judged = label_set_judged(source)
    if isinstance(source, LabelSet):
        people, _ = label_set_spans(source)
    else:
        marked = people_spans(inputs.benchmark)
        people = Spans.of(marked.codes, marked.starts, marked.ends)
        people = people.only(np.isin(people.codes, judged.positives()[0]))
    return replace(truth, people=people, judged=judged, labels_only=inputs.labels_only)


def _curve(
    run: str, lists: RankedLists, truth: MomentTruth, options: Options
) -> Iterator[CurveRow]:
    texts = {
        (task, one): f"{task}@{options.cutoff}(tIoU>={one:g})"
        for task in TASKS
        for one in THRESHOLDS
    }
    measures = {key: parse_measure(text) for key, text in texts.items()}
    plain = replace(truth, people=Spans.none(), judged=None, labels_only=False)
    before = score_moments(lists, plain, measures.values())
    after = score_moments(lists, truth, measures.values(), bounds=True)
    for (task, threshold), measure in measures.items():
        change = after.values[measure] - before.values[measure]
        yield CurveRow(
            run,
            task,
            threshold,
            before.mean(measure).value,
            after.mean(measure).value,
            None if np.isnan(change).any() else float(change.mean()),
            _interval(change, truth, options.confidence),
            (after.bounds(measure) or [None, None])[1],
        )


def _interval(change: np.ndarray, truth: MomentTruth, confidence: float) -> Ends | None:
    if np.isnan(change).any() or truth.home_videos is None:
        return None
    rng = np.random.default_rng(0)
    found = mean_interval(change, 1000, rng=rng, confidence=confidence, clusters=truth.home_videos)
    return None if found.low is None or found.high is None else [found.low, found.high]


def _counts(truth: MomentTruth, texts: IntArray) -> list[CountRow]:
    before, after = (_per_text(truth, spans, texts) for spans in (truth.original, truth.merged))
    most = max(before.max(initial=0), after.max(initial=0))
    return [
        CountRow(number, int((before == number).sum()), int((after == number).sum()))
        for number in range(most + 1)
        if (before == number).any() or (after == number).any()
    ]


def _per_text(truth: MomentTruth, spans: Spans, texts: IntArray) -> IntArray:
    """Return the number of different moments of each caption text, int64 [n_texts]."""
    queries, videos = truth.space.decode(spans.codes)
    keys = np.stack([texts[queries], videos, spans.starts, spans.ends], axis=1)
    found = np.unique(keys, axis=0)[:, 0].astype(np.int64)
    return np.bincount(found, minlength=len(texts))[np.unique(texts)]


MOMENTS = Analysis(
    name="moments",
    title="Moments before and after correction",
    question="How do people’s spans change the scores of moments, at each tIoU?",
    source="Maeoki et al., tables 1 to 6",
    options=Options,
    result=Result,
    compute=_compute,
    reads_judgments=True,
    notes=(
        "A hit is a moment whose tIoU with an original span, or with a span of people, reaches the "
        "threshold. The tIoU is that of the evaluator of TVR. A relevant pair without spans of "
        "people is unjudged: a miss here, and a hit in the upper bound. Intervals resample videos.",
    ),
)
