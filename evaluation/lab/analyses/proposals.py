"""How many clips that people stamped are among the proposals of a system, or another's stamps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.paragraphs.clips import Clips, Spans, best_overlaps, densevid, recall
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses import options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import VIDEOS, Inputs
from evaluation.lab.analyses.intervals import INTERVALS_NOTE
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Interval, Score, Shown
from hearth.shared.progress import Progress
from pooling.models import Benchmark
from pooling.moments.selectors import original_spans
from pooling.paragraphs.selectors import clips_by_video, has_paragraphs, paragraphs_of

THRESHOLDS: Final = (0.3, 0.5, 0.7, 0.9)
ORIGINAL, EVERYONE = "original stamps", "all stamps"
WITH_PROPOSALS, EVERY = "with proposals", "all"
# The right clips of one part. A video can have thousands of proposals for each of them.
_PART = 1000

OfVideos = Mapping[int, Spans]
"""The clips of each video, float64 [n, 2], by its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    """Options of the analysis. clips: the hashes of the stored proposals and stamps."""

    unit: options.Unit = VIDEOS
    clips: list[str] | None = None

    def filled(self, inputs: Inputs) -> Options:
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["clips"] = [each.sha256 for each in inputs.benchmark.clip_sets.all()]
        return Options(**values)


@dataclass(frozen=True, slots=True)
class OverlapRow:
    """How many of the right clips some found clip overlaps enough.

    clips: number of right clips
    recall: the share of the right clips with a tIoU of at least the threshold
    precision, video_recall: those of densevid_eval: above the threshold, and means over videos
    """

    threshold: Annotated[float, Shown("tIoU", "coefficient")]
    n_videos: Annotated[int, Shown("Number of videos", "count")]
    clips: Annotated[int, Shown("Clips", "count")]
    recall: Annotated[Score, Shown("Recall of clips, %", "percent")]
    recall_interval: Interval
    precision: Annotated[Score, Shown("densevid precision, %", "percent")]
    video_recall: Annotated[Score, Shown("densevid recall, %", "percent")]


@dataclass(frozen=True, slots=True)
class ProposalRow(OverlapRow):
    """The proposals of a file against stamps.

    videos: `with proposals`, or `all` stamped videos, where a video without proposals has 0
    """

    proposals: Annotated[str, Shown("Proposals")]
    truth: Annotated[str, Shown("Right clips")]
    videos: Annotated[str, Shown("Videos")]


@dataclass(frozen=True, slots=True)
class PeopleRow(OverlapRow):
    """The stamps of a person as if they were proposals, against those of another person."""

    person: Annotated[str, Shown("Stamps of")]
    other: Annotated[str, Shown("Against those of")]


FIGURES = "threshold n_videos clips recall recall_interval precision video_recall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """Proposals and people's ceiling."""

    proposals: Annotated[
        list[ProposalRow],
        Tabled(
            "proposals",
            "Proposals against stamps, with {interval}",
            columns=f"proposals truth videos {FIGURES}",
        ),
    ]
    people: Annotated[
        list[PeopleRow],
        Tabled(
            "people",
            "People’s ceiling: one person’s stamps against another’s, with {interval}",
            note="Only videos that both stamped count. A system can hardly agree better with a "
            "person than another person does.",
            columns=f"person other {FIGURES}",
            is_optional=True,
        ),
    ]

    def warnings(self) -> list[str]:
        if not self.proposals and not self.people:
            return ["This benchmark has no proposals, and stamps of at most one person."]
        return self.few_units_warnings()


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    proposals: list[ProposalRow] = []
    people: list[PeopleRow] = []
    units: set[int] = set()
    if has_paragraphs(inputs.benchmark):
        stored = list(inputs.benchmark.clip_sets.all())
        stamps = _stamps(paragraphs_of(inputs.benchmark).sentences)
        further = {each.name: clips_by_video(each) for each in stored if each.by_person}
        truths = {ORIGINAL: list(stamps.values())}
        if further:
            truths[EVERYONE] = [*stamps.values(), *further.values()]
        units = set().union(*stamps.values(), *further.values())
        for done, each in enumerate(stored):
            progress(done, len(stored), "comparing clips")
            if not each.by_person:
                found = clips_by_video(each)
                proposals += _proposal_rows(each.name, found, truths, options)
        people = list(_people_rows({**stamps, **further}, options))
    return Result(
        unit=VIDEOS,
        units=len(units),
        confidence=options.confidence,
        proposals=proposals,
        people=people,
    )


def _stamps(sentences: Benchmark) -> dict[str, OfVideos]:
    """Return the original spans of each person, by a name."""
    spans = original_spans(sentences)
    videos = sentences.pair_space.videos(spans.codes)
    both = np.column_stack([spans.starts, spans.ends])
    people = np.unique(spans.people).tolist()
    return {
        ORIGINAL if len(people) == 1 else f"person {person}": _by_video(videos[own], both[own])
        for person in people
        if len(own := np.flatnonzero(spans.people == person))
    }


def _by_video(videos: IntArray, spans: Spans) -> dict[int, Spans]:
    order = np.argsort(videos, kind="stable")
    numbers, first = np.unique(videos[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(spans[order], first[1:]), strict=True))


def _proposal_rows(
    name: str, found: OfVideos, truths: Mapping[str, list[OfVideos]], options: Options
) -> Iterator[ProposalRow]:
    for truth, of_people in truths.items():
        stamped = set().union(*of_people)
        shared = stamped & set(found)
        parts = {WITH_PROPOSALS: shared} if shared else {}
        if stamped - shared:
            parts[EVERY] = stamped
        for videos, numbers in parts.items():
            for figures in _figures(found, [_only(each, numbers) for each in of_people], options):
                yield ProposalRow(*figures, name, truth, videos)


def _people_rows(people: Mapping[str, OfVideos], options: Options) -> Iterator[PeopleRow]:
    for person, found in people.items():
        for other, truth in people.items():
            if person != other and (shared := set(found) & set(truth)):
                for figures in _figures(found, [_only(truth, shared)], options):
                    yield PeopleRow(*figures, person, other)


def _only(clips: OfVideos, numbers: set[int]) -> OfVideos:
    return {number: spans for number, spans in clips.items() if number in numbers}


_Figures = tuple[float, int, int, Score, list[float] | None, Score, Score]


def _figures(found: OfVideos, truths: list[OfVideos], options: Options) -> Iterator[_Figures]:
    """Yield the values of `OverlapRow` for each threshold."""
    right = _clips(truths)
    best = _best(right, _clips([_only(found, set(right.owner.tolist()))]))
    for threshold in THRESHOLDS:
        interval = mean_interval(
            (best >= threshold).astype(np.float64),
            options.resamples,
            rng=np.random.default_rng(options.seed),
            confidence=options.confidence,
            clusters=right.owner,
        )
        means = densevid(found, truths, threshold)
        yield (
            threshold,
            len(np.unique(right.owner)),
            len(best),
            recall(best, threshold),
            None if interval.ends is None else list(interval.ends),
            None if means is None else means.precision,
            None if means is None else means.recall,
        )


def _clips(sets: list[OfVideos]) -> Clips:
    owners = [np.full(len(spans), number) for each in sets for number, spans in each.items()]
    spans = [spans for each in sets for spans in each.values()]
    if not owners:
        return Clips(np.zeros(0, np.int64), np.zeros((0, 2)), np.empty(0))
    return Clips(np.concatenate(owners), np.concatenate(spans), np.empty(0))


def _best(right: Clips, found: Clips) -> FloatArray:
    """Return the highest tIoU of each right clip, part by part to limit the use of memory."""
    return np.concatenate(
        [
            best_overlaps(
                Clips(right.owner[at : at + _PART], right.spans[at : at + _PART], np.empty(0)),
                found,
            )
            for at in range(0, len(right.owner), _PART)
        ]
    )


PROPOSALS = Analysis(
    name="proposals",
    title="Proposals of clips",
    question="Do proposed clips cover those that people stamped, and how well do people agree?",
    source="Shao et al., Find and Focus, figure 4",
    options=Options,
    result=Result,
    compute=_compute,
    selects=(),
    runs_needed=0,
    reads_lists=False,
    notes=(
        "Recall of clips is the share of the right clips that some proposal overlaps with a tIoU "
        "of at least the threshold. densevid_eval, the evaluator of ActivityNet Captions, computes "
        "otherwise: a tIoU above the threshold, means over videos instead of clips, and of several "
        "people’s stamps the best value of each video. Its precision is the share of the "
        "proposals that overlap a right clip.",
        INTERVALS_NOTE,
    ),
)
