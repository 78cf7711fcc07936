"""Selecting, ordering and loading captions and videos."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Count

from config.shared.tables import Order
from evaluation.catalogue.enums import JudgedPairs, Positives
from evaluation.catalogue.selectors.counts import Counts, pair_counts
from evaluation.core.arrays import IntArray
from evaluation.models import LabelSource
from pooling.core.packing import unpack_numbers
from pooling.enums import MediaState
from pooling.models import Benchmark, Query, Tag, Video
from pooling.selectors.catalogue import Catalogue, catalogue_of

BoolArray = npt.NDArray[np.bool_]
# Rows of files are loaded in parts of this number.
ROWS_PER_PART = 500


@dataclass(frozen=True, slots=True)
class CaptionRow:
    """A caption in a list. positives: the keys of the videos that are original positives."""

    query: Query
    words: int
    positives: list[Video]
    pairs: int
    judged: int
    relevant: int


@dataclass(frozen=True, slots=True)
class VideoRow:
    """A video in a list. captions: the number of captions that have it as an original positive."""

    video: Video
    captions: int
    pairs: int
    judged: int
    relevant: int


@dataclass(frozen=True, slots=True, eq=False)
class CaptionList:
    """The captions of a benchmark that pass a filter. source: the labels that are counted."""

    benchmark: Benchmark
    source: LabelSource | None
    catalogue: Catalogue
    counts: Counts
    numbers: IntArray

    def in_order(self, order: Order) -> list[int]:
        columns = {
            "words": self.catalogue.words,
            "positives": self.catalogue.positives_per_query,
            **_count_columns(self.counts),
        }
        return _in_order(self.numbers, order, columns)

    def rows(self, numbers: Sequence[int]) -> list[CaptionRow]:
        """Load captions by their numbers, with two queries."""
        queries = _by_number(Query.objects.filter(benchmark=self.benchmark), numbers)
        positives = {number: self.catalogue.original_videos_of(number) for number in numbers}
        shown = sorted({video for videos in positives.values() for video in videos})
        videos = _by_number(Video.objects.filter(benchmark=self.benchmark), shown)
        return [
            CaptionRow(
                queries[number],
                int(self.catalogue.words[number]),
                [videos[video] for video in positives[number]],
                *_counts_at(self.counts, number),
            )
            for number in numbers
        ]

    def all_rows(self, numbers: Sequence[int]) -> Iterator[CaptionRow]:
        """Load captions part by part, so that only one part is in memory."""
        for part in _parts(numbers):
            yield from self.rows(part)


@dataclass(frozen=True, slots=True, eq=False)
class VideoList:
    """The videos of a benchmark that pass a filter. source: the labels that are counted."""

    benchmark: Benchmark
    source: LabelSource | None
    catalogue: Catalogue
    counts: Counts
    numbers: IntArray

    def in_order(self, order: Order) -> list[int]:
        columns = {
            "captions": self.catalogue.positives_per_video,
            **_count_columns(self.counts),
        }
        if order.key == "duration":
            columns["duration"] = _durations(self.benchmark)
        return _in_order(self.numbers, order, columns)

    def rows(self, numbers: Sequence[int]) -> list[VideoRow]:
        """Load videos by their numbers, with one query."""
        videos = _by_number(Video.objects.filter(benchmark=self.benchmark), numbers)
        captions = self.catalogue.positives_per_video
        return [
            VideoRow(videos[number], int(captions[number]), *_counts_at(self.counts, number))
            for number in numbers
        ]

    def all_rows(self, numbers: Sequence[int]) -> Iterator[VideoRow]:
        """Load videos part by part, so that only one part is in memory."""
        for part in _parts(numbers):
            yield from self.rows(part)


def find_captions(
    benchmark: Benchmark,
    source: LabelSource | None,
    *,
    q: str = "",
    least: int | None = None,
    most: int | None = None,
    positives: str = "",
    tag: str = "",
    judged: str = "",
) -> CaptionList:
    """Return the captions that pass all filters. An empty value does not limit them.

    q: parts of words of the caption or its key. least, most: words. tag: the name of a tag.
    """
    catalogue = catalogue_of(benchmark)
    counts = pair_counts(benchmark, source).captions
    kept = _limits(catalogue.words, least, most)
    kept &= _has_positives(catalogue.positives_per_query, positives)
    kept &= _is_judged(counts, judged)
    if q:
        kept &= _is_among(catalogue.captions.containing(q), len(kept))
    if tag:
        kept &= _is_among(_tagged(benchmark, tag), len(kept))
    return CaptionList(benchmark, source, catalogue, counts, np.flatnonzero(kept))


def find_videos(
    benchmark: Benchmark,
    source: LabelSource | None,
    *,
    q: str = "",
    state: str = "",
    least: float | None = None,
    most: float | None = None,
    captions: str = "",
    tag: str = "",
    judged: str = "",
) -> VideoList:
    """Return the videos that pass all filters. An empty value does not limit them.

    q: a part of the key. least, most: seconds. tag: the name of a tag of a caption that has the
    video as an original positive.
    """
    catalogue = catalogue_of(benchmark)
    counts = pair_counts(benchmark, source).videos
    kept = _has_positives(catalogue.positives_per_video, captions) & _is_judged(counts, judged)
    if q:
        kept &= _is_among(catalogue.videos.containing(q), len(kept))
    if tag:
        kept &= catalogue.videos_of_queries(_tagged(benchmark, tag))
    if least is not None or most is not None:
        kept &= _limits(_durations(benchmark), least, most)
    if state:
        videos = Video.objects.filter(benchmark=benchmark, state=state)
        kept &= _is_among(list(videos.values_list("number", flat=True)), len(kept))
    return VideoList(benchmark, source, catalogue, counts, np.flatnonzero(kept))


def _limits(values: npt.NDArray[Any], least: float | None, most: float | None) -> BoolArray:
    """Return which values lie within the limits. An undefined value (NaN) lies within none."""
    kept = np.ones(len(values), np.bool_)
    if least is not None:
        kept &= values >= least
    if most is not None:
        kept &= values <= most
    return kept


def _has_positives(counts: IntArray, wanted: str) -> BoolArray:
    match wanted:
        case Positives.NONE:
            return counts == 0
        case Positives.ONE:
            return counts == 1
        case Positives.SEVERAL:
            return counts > 1
    return np.ones(len(counts), np.bool_)


def _is_judged(counts: Counts, wanted: str) -> BoolArray:
    is_pooled = counts.pairs > 0
    match wanted:
        case JudgedPairs.ALL:
            return is_pooled & (counts.judged == counts.pairs)
        case JudgedPairs.SOME:
            return (counts.judged > 0) & (counts.judged < counts.pairs)
        case JudgedPairs.NONE:
            return is_pooled & (counts.judged == 0)
        case JudgedPairs.NOT_POOLED:
            return ~is_pooled
    return np.ones(len(is_pooled), np.bool_)


def _is_among(numbers: Iterable[int] | npt.NDArray[Any], n_all: int) -> BoolArray:
    found = np.zeros(n_all, np.bool_)
    found[numbers if isinstance(numbers, np.ndarray) else list(numbers)] = True
    return found


def _tagged(benchmark: Benchmark, name: str) -> npt.NDArray[np.int32]:
    tag = Tag.objects.get(benchmark=benchmark, name=name)
    return unpack_numbers(bytes(tag.queries))


def _durations(benchmark: Benchmark) -> npt.NDArray[np.float64]:
    """Return the seconds of each video, NaN if unknown; float64 [n_videos]."""
    rows = Video.objects.filter(benchmark=benchmark).order_by("number")
    return np.array(list(rows.values_list("duration", flat=True)), np.float64)


def _count_columns(counts: Counts) -> dict[str, npt.NDArray[Any]]:
    return {"pairs": counts.pairs, "judged": counts.judged, "relevant": counts.relevant}


def _counts_at(counts: Counts, number: int) -> tuple[int, int, int]:
    return int(counts.pairs[number]), int(counts.judged[number]), int(counts.relevant[number])


def _in_order(
    numbers: IntArray, order: Order, columns: Mapping[str, npt.NDArray[Any]]
) -> list[int]:
    """Return the numbers in an order. Equal rows keep the order of the benchmark; NaN is last."""
    if order.key not in columns:  # the order of the benchmark
        return (numbers[::-1] if order.descending else numbers).tolist()
    values = columns[order.key][numbers]
    return numbers[np.argsort(-values if order.descending else values, kind="stable")].tolist()


def _by_number(rows: Any, numbers: Sequence[int]) -> dict[int, Any]:
    return {row.number: row for row in rows.filter(number__in=numbers)}


def _parts(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), ROWS_PER_PART):
        yield numbers[start : start + ROWS_PER_PART]


def video_states(benchmark: Benchmark) -> dict[MediaState, int]:
    """Return the number of videos in each state."""
    videos = Video.objects.filter(benchmark=benchmark).order_by()
    counts = dict(videos.values_list("state").annotate(Count("pk")))
    return {state: counts.get(state, 0) for state in MediaState}
