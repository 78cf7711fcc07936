"""One annotator scored against the others, by the measures of systems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from annotation.core.spans import TOLERANCE, Span
from annotation.models import Campaign
from annotation.questions.spans.answers import span_answers
from evaluation.core.moments.ceiling import Ranked, agreed, held_out, score_lists
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Interval, Score, Shown
from hearth.shared.progress import Progress
from pooling.models import Benchmark, Run
from pooling.moments.core.spans import decimals
from pooling.moments.selectors import moment_lists

PEOPLE: Final = "An annotator against the others"
MEASURES: Final = ("R@1(tIoU>=0.3)", "R@1(tIoU>=0.5)", "R@1(tIoU>=0.7)", "mIoU")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    confidence: options.Confidence = 0.95


@dataclass(frozen=True, slots=True)
class CeilingRow:
    """The scores of annotators or of a run, on pairs that several annotators located.

    lists: an annotator and a pair, or a pair in whose video the run ranks a moment
    """

    who: Annotated[str, Shown("Ranked by")]
    lists: Annotated[int, Shown("Lists", "count")]
    low: Annotated[Score, Shown("R@1, tIoU 0.3, %", "percent")]
    low_interval: Interval
    middle: Annotated[Score, Shown("tIoU 0.5, %", "percent")]
    middle_interval: Interval
    high: Annotated[Score, Shown("tIoU 0.7, %", "percent")]
    high_interval: Interval
    overlap: Annotated[Score, Shown("mIoU, %", "percent")]
    overlap_interval: Interval


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    confidence: float
    pairs: int
    rows: Annotated[
        list[CeilingRow],
        Tabled("ceiling", "Scores on the {pairs} pairs that several people located"),
    ]

    def findings(self) -> list[str]:
        if not self.rows:
            return ["No pair has spans of two annotators."]
        people, *runs = self.rows
        above = [row.who for row in runs if (row.middle or 0) > (people.middle or 0)]
        text = (
            f"An annotator reaches {100 * (people.middle or 0):.1f}\N{NO-BREAK SPACE}% at tIoU 0.5."
        )
        if runs:
            text += f" Runs above: {', '.join(above) or 'none'}."
        return [text]

    def charts(self) -> list[charts.Chart]:
        if not self.rows:
            return []
        names = {"low": "0.3", "middle": "0.5", "high": "0.7"}
        values = charts.melt(self.rows, "who", names, "score", "tIoU")
        view = charts.dashed_lines(
            values,
            charts.name_of("who"),
            x=charts.name_of("tIoU"),
            y=charts.score_axis(),
            color=charts.name_of("who"),
        )
        text = "The share of first moments that hit, by tIoU, of an annotator and of each run."
        return [charts.Chart("ceiling", "First moments that hit", text, view)]


Answers = dict[int, dict[int, list[Span]]]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    answers, tolerance = _answers(inputs.benchmark)
    space = inputs.benchmark.pair_space
    videos = {code: int(space.videos(code)) for code in answers}
    people = [
        row for code, spans in answers.items() for row in held_out(videos[code], spans, tolerance)
    ]
    rows = [_row(PEOPLE, people, options)] if people else []
    truth = {code: agreed(list(spans.values()), tolerance) for code, spans in answers.items()}
    for number, run in enumerate(inputs.runs if people else ()):
        progress(number, len(inputs.runs), "scoring moments")
        if ranked := list(_of_run(run, truth)):
            rows.append(_row(run.name, ranked, options))
    return Result(options.confidence, len(answers), rows)


def _answers(benchmark: Benchmark) -> tuple[Answers, float]:
    """Return the spans of pairs with two or more relevant answers, and the lowest tolerance."""
    found = span_answers(benchmark)
    answers: Answers = defaultdict(lambda: defaultdict(list))
    columns = (found.codes, found.annotators, found.starts, found.ends)
    for code, annotator, start, end in zip(*(c.tolist() for c in columns), strict=True):
        answers[code][annotator].append(Span(start, end))
    campaigns = Campaign.objects.filter(pk__in=np.unique(found.campaigns).tolist())
    tolerances = [own["tolerance"] for own in campaigns.values_list("options", flat=True)]
    several = {code: dict(spans) for code, spans in answers.items() if len(spans) > 1}
    return several, min(tolerances, default=TOLERANCE)


def _of_run(run: Run, truth: Mapping[int, tuple[tuple[float, float], ...]]) -> Iterator[Ranked]:
    """Yield the moments of a run in the video of each pair, if it has one there."""
    lists = moment_lists(run)
    if lists is None or lists.starts is None or lists.ends is None:
        return
    starts, ends = decimals(lists.starts), decimals(lists.ends)
    for code, spans in truth.items():
        query, video = run.benchmark.pair_space.decode(code)
        places = np.flatnonzero(lists.items[query] == video)
        if len(places):
            times = zip(starts[query, places].tolist(), ends[query, places].tolist(), strict=True)
            yield Ranked(video, tuple(times), spans)


def _row(who: str, ranked: Sequence[Ranked], options: Options) -> CeilingRow:
    measures = list(map(parse_measure, MEASURES))
    values = score_lists(ranked, measures)
    videos = np.array([row.video for row in ranked])
    cells: list[float | list[float] | None] = []
    for measure in measures:
        found = mean_interval(
            values[measure],
            1000,
            rng=np.random.default_rng(0),
            confidence=options.confidence,
            clusters=videos,
        )
        cells += [float(values[measure].mean()), found.ends]
    return CeilingRow(who, len(ranked), *cells)  # type: ignore[arg-type]


CEILING = Analysis(
    name="ceiling",
    title="Human ceiling of moments",
    question="How well does one annotator find the moments of the others?",
    options=Options,
    result=Result,
    compute=_compute,
    selects=("runs",),
    reads_judgments=True,
    notes=(
        "Each annotator’s spans of a pair, in the order of time, are scored as a ranked list "
        "against the spans of the other annotators: those on which they agree, or all of them if "
        "they do not agree. Runs are scored on the same pairs against the spans of all annotators. "
        "A pair counts for a run only if the run ranks a moment of its video. R@1 and mIoU are "
        "those of VSLNet, and intervals resample videos.",
    ),
)
