"""The original spans and those of people, per video of a caption, on one timeline."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from annotation.questions.spans.answers import people_spans_of_caption
from pooling.models import Query, Video
from pooling.moments.core.spans import Spans
from pooling.moments.models import OriginalSpan


@dataclass(frozen=True, slots=True)
class TimelineBar:
    """A span in seconds, and its place on the timeline in %. people: who marked it."""

    start: float
    end: float
    left: str
    width: str
    people: int


@dataclass(slots=True)
class Timeline:
    """The spans of a caption in a video. last: the end of the timeline, in seconds."""

    video: Video
    last: float = 0
    original: list[TimelineBar] = field(default_factory=list)
    people: list[TimelineBar] = field(default_factory=list)


Marked = list[tuple[float, float, int]]


def timelines(query: Query, people: Spans, only: Video | None = None) -> list[Timeline]:
    """Return a timeline for each video of a caption with spans, by number.

    people: spans of the caption; their field `people` is the support. only: just this video.
    """
    rows = OriginalSpan.objects.filter(positive__query=query, grade=None)
    original: dict[int, Marked] = defaultdict(list)
    names = ("positive__video__number", "start", "end", "person")
    for number, *span in rows.order_by("start", "end", "person").values_list(*names):
        original[number].append((span[0], span[1], span[2]))
    marked: dict[int, Marked] = defaultdict(list)
    numbers = query.benchmark.pair_space.videos(people.codes).tolist()
    columns = (people.starts.tolist(), people.ends.tolist(), people.people.tolist())
    for number, *mark in zip(numbers, *columns, strict=True):
        marked[number].append((mark[0], mark[1], mark[2]))
    wanted = {*original, *marked} if only is None else {only.number} & {*original, *marked}
    videos = query.benchmark.videos.filter(number__in=wanted).order_by("number") if wanted else ()
    return [_timeline(video, original[video.number], marked[video.number]) for video in videos]


def _timeline(video: Video, original: Marked, people: Marked) -> Timeline:
    last = max([video.duration or 0, *(end for _, end, _ in (*original, *people))])
    both = ([_bar(*span, last) for span in spans] for spans in (original, people))
    return Timeline(video, last, *both)


def _bar(start: float, end: float, people: int, last: float) -> TimelineBar:
    # A very short span stays visible.
    width = max(0.5, 100 * (end - start) / last)
    left = min(99.5, 100 * start / last)
    return TimelineBar(start, end, f"{left:.2f}%", f"{width:.2f}%", people)


def current_spans(query: Query) -> Spans:
    """Return the spans of the current answers and rulings; the field `people` is the support."""
    found = people_spans_of_caption(query)
    return Spans.of(found.codes, found.starts, found.ends, found.support)
