"""Ranked moments next to the spans that are right, and which of the moments hit one.

Evaluators differ in how they compute a time overlap (tIoU), so each measure names its own rule:

    TVR           common / hull, >=, float32
    QVHighlights  R1: common / hull; mAP: common / union, >=, float64
    Charades-STA  common / hull, >=, float64 (TALL, VSLNet)
    DiDeMo        common / hull of chunks with both ends inclusive; in seconds, that is the hull
    TVR-Ranking   common / union, >, float64

A moment hits if it reaches the threshold with an original span or with a span of people. Four or
more people who each stamped a pair are the exception: two of their stamps must be reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.relevance.judged import Judged
from hearth.shared.arrays import sorted_once
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists
from pooling.moments.core.spans import Seconds, Spans, decimals, hull_overlap

Overlap = Callable[[Seconds, Seconds, Seconds, Seconds], Seconds]

STAMPED_BY: Final = 4
STAMPS_NEEDED: Final = 2


@dataclass(frozen=True, slots=True, eq=False)
class Saliency:
    """The scores of the clips of each query's video, packed end to end.

    The scores of query q are `scores[offsets[q]:offsets[q + 1]]`, float32.
    """

    offsets: IntArray
    scores: npt.NDArray[np.float32]

    def of(self, query: int) -> npt.NDArray[np.float32]:
        return self.scores[self.offsets[query] : self.offsets[query + 1]]


@dataclass(frozen=True, eq=False)
class MomentTruth:
    """The spans by which moments are scored.

    home: int64, ascending, the original positives; moments in "the right video" are those in one of
    them. original, people: the spans of the data set and of people. judged: the labels of pairs;
    None if only the original positives count. labels_only: leave out the original spans.
    highlights: graded clips of two seconds, by person. durations: float64 [n_videos], seconds.
    """

    space: PairSpace
    home: IntArray
    original: Spans
    people: Spans = field(default_factory=Spans.none)
    judged: Judged | None = None
    labels_only: bool = False
    highlights: Spans = field(default_factory=Spans.none)
    durations: FloatArray | None = None

    @cached_property
    def home_videos(self) -> IntArray | None:
        """The right video of each query, int64 [n_queries]; None if a query has several."""
        queries, videos = self.space.decode(self.home)
        if len(queries) and (np.diff(queries) == 0).any():
            return None
        found = np.full(self.space.n_queries, -2)
        found[queries] = videos
        return found

    @cached_property
    def merged(self) -> Spans:
        """The spans of people, and the original spans of pairs that have none.

        They are the truth of measures whose value depends on all right moments, such as mAP.
        """
        if self.labels_only or not len(self.original):
            return self.people
        rest = self.original.only(~np.isin(self.original.codes, self.people.codes))
        people = Spans.of(self.people.codes, self.people.starts, self.people.ends)
        if self.original.grades is None:
            return people.joined(rest)
        graded = Spans.of(
            people.codes, people.starts, people.ends, grades=np.ones(len(people.codes))
        )
        return graded.joined(rest)

    @cached_property
    def positives(self) -> IntArray:
        """The codes of the right pairs, ascending."""
        if self.judged is None:
            return self.home
        labelled, _ = self.judged.positives()
        return labelled if self.labels_only else sorted_once(np.concatenate([labelled, self.home]))

    @cached_property
    def located(self) -> IntArray:
        """The codes of the pairs of which every moment is judged, ascending.

        A pair that is relevant without a span of people is not among them.
        """
        found = [self.people.codes]
        if not self.labels_only:
            found.append(self.original.codes)
        if self.judged is not None:
            irrelevant = self.judged.codes[self.judged.gains == 0]
            found.append(irrelevant if self.labels_only else np.setdiff1d(irrelevant, self.home))
        return sorted_once(np.concatenate(found))

    @property
    def has_stamps(self) -> bool:
        return bool(len(self.original) and self.original.people.max() > 0)


@dataclass(frozen=True, eq=False)
class MomentLists:
    """The lists of a run, one for each query, and the truth. upper: count unjudged moments as hits.

    `lists` may lack starts and ends; then only measures of videos are defined.
    """

    lists: RankedLists
    truth: MomentTruth
    saliency: Saliency | None = None
    upper: bool = False

    @property
    def n_queries(self) -> int:
        return len(self.lists)

    @property
    def has_moments(self) -> bool:
        return self.lists.starts is not None

    @cached_property
    def is_home(self) -> BoolArray:
        """Whether a moment is in the right video of its query, bool [n_queries, depth]."""
        videos = self.truth.home_videos
        if videos is None:
            return np.isin(self.lists.codes, self.truth.home) & self.lists.is_item
        return np.asarray(self.lists.items == videos[:, None])

    @cached_property
    def unjudged(self) -> BoolArray:
        """Whether it is unknown if a moment is right, bool [n_queries, depth]."""
        return self.lists.is_item & ~among(self.lists.codes, self.truth.located)

    @cached_property
    def decimal_times(self) -> tuple[FloatArray, FloatArray]:
        """Starts and ends as evaluators in float64 read them, float64 [n_queries, depth]."""
        starts, ends = self.lists.starts, self.lists.ends
        if starts is None or ends is None:
            raise ValueError("the lists rank videos and no moments")
        return decimals(starts), decimals(ends)

    def times(self, dtype: type[np.floating[Any]]) -> tuple[Seconds, Seconds]:
        starts, ends = self.lists.starts, self.lists.ends
        if starts is None or ends is None:
            raise ValueError("the lists rank videos and no moments")
        return (starts, ends) if dtype is np.float32 else self.decimal_times

    def overlaps(
        self,
        spans: Spans,
        dtype: type[np.floating[Any]] = np.float64,
        overlap: Overlap = hull_overlap,
    ) -> Seconds:
        """Return tIoU of each span with each moment of its query, [n_spans, depth].

        A moment of another video has -1.
        """
        queries, videos = self.truth.space.decode(spans.codes)
        starts, ends = self.times(dtype)
        found = overlap(
            starts[queries],
            ends[queries],
            spans.starts.astype(dtype)[:, None],
            spans.ends.astype(dtype)[:, None],
        )
        found[self.lists.items[queries] != videos[:, None]] = -1
        return found

    def best(self, dtype: type[np.floating[Any]] = np.float64) -> Seconds:
        """Return the highest tIoU of each moment with a span, [n_queries, depth]; else 0 or -1."""
        found = np.full(self.lists.items.shape, -1, dtype)
        for spans in self._sides:
            if len(spans):
                at = _starts_of_groups(self.truth.space.queries(spans.codes))
                best = np.maximum.reduceat(self.overlaps(spans, dtype), at, axis=0)
                rows = self.truth.space.queries(spans.codes[at])
                found[rows] = np.maximum(found[rows], best)
        return found

    @property
    def _sides(self) -> tuple[Spans, ...]:
        truth = self.truth
        return (truth.people,) if truth.labels_only else (truth.original, truth.people)

    def hits(self, threshold: float, dtype: type[np.floating[Any]]) -> BoolArray:
        """Return which moments hit a span, bool [n_queries, depth]."""
        key = (threshold, dtype)
        if key not in self._hits:
            self._hits[key] = self._find_hits(dtype(threshold), dtype)
        return self._hits[key]

    @cached_property
    def _hits(self) -> dict[tuple[float, type[np.floating[Any]]], BoolArray]:
        return {}

    @cached_property
    def _overlaps(self) -> dict[tuple[int, type[np.floating[Any]]], Seconds]:
        return {}

    def _find_hits(self, threshold: Any, dtype: type[np.floating[Any]]) -> BoolArray:
        found = np.zeros(self.lists.items.shape, np.bool_)
        for side, spans in enumerate(self._sides):
            if not len(spans):
                continue
            if (side, dtype) not in self._overlaps:
                self._overlaps[side, dtype] = self.overlaps(spans, dtype)
            reached = self._overlaps[side, dtype] >= threshold
            pairs = _starts_of_groups(spans.codes)
            if len(pairs) < len(spans):
                enough = np.where(_distinct_people(spans, pairs) >= STAMPED_BY, STAMPS_NEEDED, 1)
                reached = np.add.reduceat(reached, pairs, axis=0, dtype=np.int32)
                reached = reached >= enough[:, None]
            queries = self.truth.space.queries(spans.codes[pairs])
            at = _starts_of_groups(queries)
            if len(at) < len(queries):
                reached = np.logical_or.reduceat(reached, at, axis=0)
            found[queries[at]] |= reached
        return found | self.unjudged if self.upper else found

    def first_hits(
        self, threshold: float, dtype: type[np.floating[Any]], *, home: bool
    ) -> IntArray:
        """Return the rank of the first hit of each query, from 1; depth + 1 without one.

        home: drop the moments of other videos first, so that ranks are those in the right video.
        """
        hits = self.hits(threshold, dtype)
        return first_ranks(hits & self.is_home, self.is_home) if home else first_ranks(hits)


def first_ranks(hits: BoolArray, counted: BoolArray | None = None) -> IntArray:
    """Return the rank of the first hit of each list, from 1, int64 [n]; depth + 1 without one.

    counted: the moments that have a rank; None: all.
    """
    n, depth = hits.shape
    if not depth:
        return np.ones(n, np.int64)
    place = hits.argmax(axis=1)
    is_hit = hits[np.arange(n), place]
    if counted is None:
        ranks = place + 1
    else:
        ranks = np.cumsum(counted, axis=1, dtype=np.int32)[np.arange(n), place].astype(np.int64)
    return np.asarray(np.where(is_hit, ranks, depth + 1))


def among(codes: IntArray, known: IntArray) -> BoolArray:
    """Return which codes are in `known`, which is ascending."""
    if not len(known):
        return np.zeros(codes.shape, np.bool_)
    place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    return np.asarray(known[place] == codes)


def _starts_of_groups(ascending: IntArray) -> IntArray:
    return np.flatnonzero(np.diff(ascending, prepend=-1))


def _distinct_people(spans: Spans, pairs: IntArray) -> IntArray:
    """Return how many people marked spans of each pair; the truth of a file counts as none."""
    group = np.repeat(np.arange(len(pairs)), np.diff(pairs, append=len(spans)))
    is_person = spans.people > 0
    n_people = int(spans.people.max(initial=0)) + 1
    each = sorted_once(group[is_person] * n_people + spans.people[is_person])
    return np.bincount(each // n_people, minlength=len(pairs))
