"""Scores of moments by their length and position, next to a prior that ignores the caption."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.moments.lists import MomentTruth
from evaluation.core.moments.prior import frequent_windows, group_of
from evaluation.core.moments.scoring import score_moments
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.moments import truth_of
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Interval, Run, Score, Shown
from hearth.shared.progress import Progress
from pooling.core.ranked_lists import NO_ITEM, RankedLists
from pooling.moments.selectors import moment_lists, video_durations

PRIOR: Final = "Frequency prior"
LENGTHS: Final = (0.25, 0.5)
POSITIONS: Final = (1 / 3, 2 / 3)
GROUPS: Final = {
    "Length": ("up to a quarter of the video", "a quarter to a half", "a half or more"),
    "Middle": ("in the first third", "in the second third", "in the last third"),
}
HIT, STRICT, OVERLAP = map(parse_measure, ("R@1(tIoU>=0.5)", "R@1(tIoU>=0.7)", "mIoU"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    confidence: options.Confidence = 0.95


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The scores of a run, or of the prior, in the right videos.

    start, length: means of the first moments, as shares of the video
    """

    run: Run
    hit: Annotated[Score, Shown("R@1, tIoU 0.5, %", "percent")]
    hit_interval: Interval
    strict: Annotated[Score, Shown("R@1, tIoU 0.7, %", "percent")]
    overlap: Annotated[Score, Shown("mIoU, %", "percent")]
    start: Annotated[float | None, Shown("Mean start, % of the video", "percent")]
    length: Annotated[float | None, Shown("Mean length, % of the video", "percent")]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The captions whose original moment has a length or a position.

    truth: the share of captions in this group
    predicted: the share of the run’s first moments that have this length or position
    hit: R@1 at tIoU 0.5 of the captions of the group
    """

    run: Run
    by: Annotated[str, Shown("By")]
    group: Annotated[str, Shown("Original moment")]
    captions: Annotated[int, Shown("Captions", "count")]
    truth: Annotated[float, Shown("Of all captions, %", "percent")]
    predicted: Annotated[float | None, Shown("Of first moments, %", "percent")]
    hit: Annotated[Score, Shown("R@1, tIoU 0.5, %", "percent")]
    interval: Interval


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    confidence: float
    captions: int
    rows: Annotated[
        list[ScoreRow], Tabled("scores", "Scores of {captions} captions, next to the prior")
    ]
    groups: Annotated[list[GroupRow], Tabled("groups", "By length and position", is_optional=True)]

    def findings(self) -> list[str]:
        if not self.rows:
            return ["No caption has a moment in a video of known length."]
        *runs, prior = self.rows
        below = [row.run for row in runs if (row.hit or 0) <= (prior.hit or 0)]
        share = f"{100 * (prior.hit or 0):.1f}\N{NO-BREAK SPACE}%"
        return [
            f"The frequency prior, which ignores video and caption, reaches {share} at tIoU 0.5. "
            f"Runs that are not better: {', '.join(below) or 'none'}."
        ]

    def charts(self) -> list[charts.Chart]:
        found = []
        for by in GROUPS:
            rows = [row for row in self.groups if row.by == by]
            if rows:
                view = charts.dashed_lines(
                    charts.data_of(rows),
                    charts.name_of("run"),
                    x=charts.step("group", "Original moment", sort=list(GROUPS[by])),
                    y=charts.quantity("hit", "R@1", axis={"format": charts.PERCENT}),
                    color=charts.name_of("run"),
                )
                text = f"R@1 at tIoU 0.5 of each run, by the {by.lower()} of the original moment."
                found.append(charts.Chart(by.lower(), f"Hits by {by.lower()}", text, view))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Captions:
    """The captions with an original moment in a video of known length.

    numbers, videos: int64 [n]. seconds: float64 [n], of the videos. starts, ends: float64 [n], the
    first original moment as shares of the video.
    """

    numbers: IntArray
    videos: IntArray
    seconds: FloatArray
    starts: FloatArray
    ends: FloatArray


def _captions(truth: MomentTruth, durations: FloatArray) -> _Captions:
    spans = truth.original
    queries, videos = truth.space.decode(spans.codes)
    numbers, first = np.unique(queries, return_index=True)
    seconds = durations[videos[first]]
    known = seconds > 0
    rows, numbers, seconds = first[known], numbers[known], seconds[known]
    starts, ends = (np.clip(x[rows] / seconds, 0, 1) for x in (spans.starts, spans.ends))
    return _Captions(numbers, videos[rows], seconds, starts, ends)


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    truth = truth_of(inputs)
    captions = _captions(truth, video_durations(inputs.benchmark))
    rows: list[ScoreRow] = []
    groups: list[GroupRow] = []
    if len(captions.numbers):
        for number, run in enumerate(inputs.runs):
            progress(number, len(inputs.runs), "scoring moments")
            if (lists := moment_lists(run)) is not None:
                _add(run.name, lists, truth, captions, options, rows, groups)
        _add(PRIOR, _prior(truth, captions), truth, captions, options, rows, groups)
    return Result(options.confidence, len(captions.numbers), rows, groups)


def _prior(truth: MomentTruth, captions: _Captions) -> RankedLists:
    """Return the most frequent windows of all captions as a ranked list of each."""
    windows = frequent_windows(captions.starts, captions.ends)
    shape = (truth.space.n_queries, len(windows))
    items = np.full(shape, NO_ITEM, np.int32)
    items[captions.numbers] = captions.videos[:, None]
    starts, ends = np.zeros((2, *shape), np.float32)
    starts[captions.numbers] = captions.seconds[:, None] * windows[:, 0]
    ends[captions.numbers] = captions.seconds[:, None] * windows[:, 1]
    scores = np.tile(np.arange(len(windows), 0, -1).astype(np.float32), (len(items), 1))
    return RankedLists.of(items, truth.space.n_videos, starts=starts, ends=ends, scores=scores)


def _add(
    run: str,
    lists: RankedLists,
    truth: MomentTruth,
    captions: _Captions,
    options: Options,
    rows: list[ScoreRow],
    groups: list[GroupRow],
) -> None:
    values = score_moments(lists, truth, (HIT, STRICT, OVERLAP)).values
    hit, strict, overlap = (values[one][captions.numbers] for one in (HIT, STRICT, OVERLAP))
    start, end, listed = _first_moments(lists, captions)
    starts, lengths = start[listed].tolist(), (end - start)[listed].tolist()
    share, interval = _share(hit, captions.videos, options)
    rows.append(
        ScoreRow(
            run,
            share,
            interval,
            float(strict.mean()),
            float(overlap.mean()),
            float(np.mean(starts)) if starts else None,
            float(np.mean(lengths)) if starts else None,
        )
    )
    groups += _groups(run, hit, (start, end, listed), captions, options)


def _first_moments(
    lists: RankedLists, captions: _Captions
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return start and end of the first moment in the right video as shares, and whether it is."""
    is_home = lists.items[captions.numbers] == captions.videos[:, None]
    listed: BoolArray = is_home.any(axis=1)
    if lists.starts is None or lists.ends is None or not lists.depth:
        none = np.zeros(len(listed))
        return none, none, np.zeros(len(listed), np.bool_)
    place = is_home.argmax(axis=1)
    start, end = (
        np.clip(times[captions.numbers, place] / captions.seconds, 0, 1).astype(np.float64)
        for times in (lists.starts, lists.ends)
    )
    return start, end, listed


def _groups(
    run: str,
    hit: FloatArray,
    first: tuple[FloatArray, FloatArray, BoolArray],
    captions: _Captions,
    options: Options,
) -> Iterator[GroupRow]:
    start, end, listed = first
    sides: dict[str, tuple[Any, FloatArray, FloatArray]] = {
        "Length": (LENGTHS, captions.ends - captions.starts, end - start),
        "Middle": (POSITIONS, (captions.ends + captions.starts) / 2, (end + start) / 2),
    }
    for by, (bounds, right, predicted) in sides.items():
        own, found = group_of(right, bounds), group_of(predicted[listed], bounds)
        for number, name in enumerate(GROUPS[by]):
            rows = own == number
            if rows.any():
                share, interval = _share(hit[rows], captions.videos[rows], options)
                yield GroupRow(
                    run,
                    by,
                    name,
                    int(rows.sum()),
                    float(rows.mean()),
                    float((found == number).mean()) if len(found) else None,
                    share,
                    interval,
                )


def _share(
    values: FloatArray, videos: IntArray, options: Options
) -> tuple[float, list[float] | None]:
    rng = np.random.default_rng(0)
    found = mean_interval(values, 1000, rng=rng, confidence=options.confidence, clusters=videos)
    return float(values.mean()), found.ends


MOMENT_BIAS = Analysis(
    name="moment-bias",
    title="Length and position of moments",
    question="Do runs find moments, or only where moments usually are?",
    options=Options,
    result=Result,
    compute=_compute,
    reads_judgments=True,
    notes=(
        "The frequency prior ranks the most frequent original moments, as tenths of the video, for "
        "every caption. It is computed from the moments by which it is scored, so it is a little "
        "too high. Moments in the right video count. R@1 and mIoU are those of VSLNet, by the "
        "selected labels. Groups are those of the first original moment of each caption. Videos of "
        "unknown length are left out. Intervals resample videos. Otani et al. (2020) compare "
        "systems with such priors.",
    ),
)
