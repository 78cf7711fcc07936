"""Selecting, ordering and loading captions and videos."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Count

from evaluation.catalogue.selectors import masks
from evaluation.catalogue.selectors.counts import Counts, pair_counts
from evaluation.core.arrays import IntArray
from evaluation.models import LabelSource
from hearth.shared.tables import Order
from pooling.enums import MediaState
from pooling.models import Benchmark, Query, Video
from pooling.selectors.catalogue import (
    Catalogue,
    captions_containing,
    catalogue_of,
    videos_containing,
)

# The rows of a CSV file are loaded in batches of this size.
ROWS_PER_PART = 500


@dataclass(frozen=True, slots=True)
class CaptionRow:
    """A caption in a list. positives: the videos that are original positives."""

    query: Query
    words: int
    positives: list[Video]
    pairs: int
    judged: int
    relevant: int

    @property
    def positive_ids(self) -> list[str]:
        return [video.key for video in self.positives]


@dataclass(frozen=True, slots=True)
class VideoRow:
    """A video in a list. captions: the number of captions that have it as an original positive."""

    video: Video
    captions: int
    pairs: int
    judged: int
    relevant: int


@dataclass(frozen=True, slots=True, eq=False)
class EntryList:
    """The captions or videos of a benchmark that pass a filter. numbers: their numbers."""

    benchmark: Benchmark
    catalogue: Catalogue
    counts: Counts
    numbers: IntArray

    def columns(self, key: str) -> Mapping[str, npt.NDArray[Any]]:
        """Return the values of all captions or videos by which a list can be sorted."""
        counts = self.counts
        return {"pairs": counts.pairs, "judged": counts.judged, "relevant": counts.relevant}

    def rows(self, numbers: Sequence[int]) -> list[Any]:
        """Load captions or videos by their numbers."""
        raise NotImplementedError

    def counts_at(self, number: int) -> tuple[int, int, int]:
        """Return the numbers of pairs, of judged ones and of relevant ones."""
        counts = self.counts
        return int(counts.pairs[number]), int(counts.judged[number]), int(counts.relevant[number])

    def in_order(self, order: Order) -> list[int]:
        """Return the numbers in an order. Equal rows keep the order of the benchmark."""
        columns = self.columns(order.key)
        if order.key not in columns:  # the order of the benchmark
            ordered = self.numbers[::-1] if order.descending else self.numbers
        else:
            values = columns[order.key][self.numbers]  # NaN is last
            values = -values if order.descending else values
            ordered = self.numbers[np.argsort(values, kind="stable")]
        found: list[int] = ordered.tolist()
        return found

    def all_rows(self, numbers: Sequence[int]) -> Iterator[Any]:
        """Load captions or videos in batches, so that only one batch is in memory."""
        for start in range(0, len(numbers), ROWS_PER_PART):
            yield from self.rows(numbers[start : start + ROWS_PER_PART])


class CaptionList(EntryList):
    """The captions that pass a filter."""

    def columns(self, key: str) -> Mapping[str, npt.NDArray[Any]]:
        own = {"words": self.catalogue.words, "positives": self.catalogue.positives_per_query}
        return {**own, **super().columns(key)}

    def rows(self, numbers: Sequence[int]) -> list[CaptionRow]:
        """Load captions by their numbers, with two database queries."""
        queries = _by_number(self.benchmark.queries, numbers)
        positives = {number: self.catalogue.original_videos_of(number) for number in numbers}
        shown = sorted({video for videos in positives.values() for video in videos})
        videos = _by_number(self.benchmark.videos, shown)
        return [
            CaptionRow(
                queries[number],
                int(self.catalogue.words[number]),
                [videos[video] for video in positives[number]],
                *self.counts_at(number),
            )
            for number in numbers
        ]


class VideoList(EntryList):
    """The videos that pass a filter."""

    def columns(self, key: str) -> Mapping[str, npt.NDArray[Any]]:
        own: dict[str, npt.NDArray[Any]] = {"captions": self.catalogue.positives_per_video}
        if key == "duration":
            own["duration"] = _durations(self.benchmark)
        return {**own, **super().columns(key)}

    def rows(self, numbers: Sequence[int]) -> list[VideoRow]:
        """Load videos by their numbers, with one database query."""
        videos, captions = _by_number(self.benchmark.videos, numbers), self.catalogue
        return [
            VideoRow(
                videos[number],
                int(captions.positives_per_video[number]),
                *self.counts_at(number),
            )
            for number in numbers
        ]


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

    q: parts of words; the text or the key must contain each of them. least, most: limits of the
    number of words. tag: the name of a tag.
    """
    catalogue = catalogue_of(benchmark)
    counts = pair_counts(benchmark, source).captions
    kept = masks.within_limits(catalogue.words, least, most)
    kept &= masks.have_positives(catalogue.positives_per_query, positives)
    kept &= masks.are_judged(counts, judged)
    if q:
        kept &= masks.are_among(captions_containing(benchmark, q), len(kept))
    if tag:
        kept &= masks.are_among(masks.tagged_numbers(benchmark, tag), len(kept))
    return CaptionList(benchmark, catalogue, counts, np.flatnonzero(kept))


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

    q: parts of words; the key must contain each of them. least, most: limits of the duration in
    seconds. tag: the name of a tag of a caption that has the video as an original positive.
    """
    catalogue = catalogue_of(benchmark)
    counts = pair_counts(benchmark, source).videos
    kept = masks.have_positives(catalogue.positives_per_video, captions) & masks.are_judged(
        counts, judged
    )
    if q:
        kept &= masks.are_among(videos_containing(benchmark, q), len(kept))
    if tag:
        kept &= catalogue.videos_of_queries(masks.tagged_numbers(benchmark, tag))
    if least is not None or most is not None:
        kept &= masks.within_limits(_durations(benchmark), least, most)
    if state:
        videos = Video.objects.filter(benchmark=benchmark, state=state)
        kept &= masks.are_among(list(videos.values_list("number", flat=True)), len(kept))
    return VideoList(benchmark, catalogue, counts, np.flatnonzero(kept))


def _durations(benchmark: Benchmark) -> npt.NDArray[np.float64]:
    """Return the seconds of each video, NaN if unknown; float64 [n_videos]."""
    rows = Video.objects.filter(benchmark=benchmark).order_by("number")
    return np.array(list(rows.values_list("duration", flat=True)), np.float64)


def _by_number(rows: Any, numbers: Sequence[int]) -> dict[int, Any]:
    return {row.number: row for row in rows.filter(number__in=numbers)}


def video_states(benchmark: Benchmark) -> dict[MediaState, int]:
    """Return the number of videos in each state."""
    videos = Video.objects.filter(benchmark=benchmark).order_by()
    counts = dict(videos.values_list("state").annotate(Count("pk")))
    return {state: counts.get(state, 0) for state in MediaState}
