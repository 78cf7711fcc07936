"""How well one annotator finds the moments of the others, by the measures of systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.core.spans import Span, where
from evaluation.core.arrays import FloatArray
from evaluation.core.moments.lists import MomentTruth
from evaluation.core.moments.scoring import score_moments
from evaluation.core.relevance.measure import Measure
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import NO_ITEM, RankedLists
from pooling.moments.core.spans import Spans

Times = tuple[tuple[float, float], ...]
"""Starts and ends of spans, in seconds."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranked list of moments of one video, and the moments that are right."""

    video: int
    moments: Times
    truth: Times


def agreed(answers: Sequence[Sequence[Span]], tolerance: float) -> Times:
    """Return the spans on which answers agree, or all their spans if they do not agree."""
    found = where(answers, tolerance)
    if found:
        return tuple((span.start / 1000, span.end / 1000) for span in found)
    return tuple(span.seconds for spans in answers for span in spans)


def held_out(
    video: int, answers: Mapping[int, Sequence[Span]], tolerance: float
) -> Iterator[Ranked]:
    """Yield the spans of each annotator of a pair next to those of the others.

    answers: the spans of each relevant answer, by annotator. The list of an annotator is in the
    order of time.
    """
    for annotator, own in answers.items():
        others = [spans for other, spans in answers.items() if other != annotator]
        if others:
            yield Ranked(video, tuple(span.seconds for span in own), agreed(others, tolerance))


def score_lists(ranked: Sequence[Ranked], measures: Iterable[Measure]) -> dict[Measure, FloatArray]:
    """Return the values of each list, float64 [n] by measure."""
    depth = max((len(row.moments) for row in ranked), default=0)
    items = np.full((len(ranked), depth), NO_ITEM, np.int32)
    starts, ends = np.zeros((2, len(ranked), depth), np.float32)
    for place, row in enumerate(ranked):
        length = len(row.moments)
        if length:
            items[place, :length] = 0
            starts[place, :length], ends[place, :length] = np.array(row.moments).T
    rows = [(place, *span) for place, row in enumerate(ranked) for span in row.truth]
    codes, right_starts, right_ends = np.array(rows, np.float64).reshape(-1, 3).T
    space = PairSpace(len(ranked), 1)
    truth = MomentTruth(space, np.arange(len(ranked)), Spans.of(codes, right_starts, right_ends))
    lists = RankedLists.of(items, 1, starts=starts, ends=ends)
    return dict(score_moments(lists, truth, measures).values)
