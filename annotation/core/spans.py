"""Spans of videos that people marked: their stored form, their overlap, and the rule "where".

A span is a start and an end in whole milliseconds. In this unit, overlaps and medians are exact.
`where` decides beside `annotation.core.consensus.resolve`: a pair is first relevant by its labels,
and then `where` decides at which times, by these rules:

1. The spans of a single answer count as they are.
2. Otherwise, the pairs of spans of different annotators whose overlap reaches the tolerance are
   joined into groups, those with the largest overlap first. Two groups are joined only if no
   annotator occurs twice and every two spans reach the tolerance.
3. A group of more than half of the annotators counts. Its edges are medians. If one group counts,
   it is settled where the caption applies, and the spans in no such group are listed with the
   support 1. Otherwise it is unsettled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from enum import IntEnum, StrEnum
from itertools import combinations, pairwise
from math import isfinite
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.core.consensus import NO_LABEL, Int64Array, Outcomes, State

SPANS_MAX = 20
# A span can end this much after the end of the video, because players and files differ.
SECONDS_OVER = 0.5
TOLERANCE = 0.5


class Span(NamedTuple):
    """A span of a video, in whole milliseconds."""

    start: int
    end: int

    @property
    def seconds(self) -> tuple[float, float]:
        return self.start / 1000, self.end / 1000


class SpanFault(StrEnum):
    """Why spans are refused."""

    NUMBER = "A time must be a finite number of seconds."
    MANY = "An answer can have at most 20 spans."
    NEGATIVE = "A span must not start before the video."
    ORDER = "A span must end after its start."
    LATE = "A span must not end after the video."
    OVERLAP = "The spans must not overlap."


class InvalidSpans(ValueError):
    def __init__(self, fault: SpanFault) -> None:
        super().__init__(fault.value)
        self.fault = fault


class Unsettled(IntEnum):
    """The part of an outcome that further answers or a lead must settle."""

    NOTHING = 0
    WHETHER = 1
    WHERE = 2


def tolerance_fault(tolerance: float) -> str | None:
    """Return why a minimum overlap is invalid, or None."""
    if 0 < tolerance <= 1:
        return None
    return f"The minimum overlap must be above 0 and at most 1, not {tolerance}."


def milliseconds(seconds: float) -> int:
    """Return a time in milliseconds. The decimal number that people see is rounded half to even."""
    return int((Decimal(repr(float(seconds))) * 1000).to_integral_value(ROUND_HALF_EVEN))


def canonical(spans: Iterable[Sequence[float]], duration: float | None = None) -> tuple[Span, ...]:
    """Return spans in the form in which they are stored: rounded, sorted, and without overlaps.

    spans: start and end in seconds. duration: of the video, or None if it is unknown. Raises
    `InvalidSpans`.
    """
    pairs = [(float(start), float(end)) for start, end in spans]
    if not all(map(isfinite, (time for pair in pairs for time in pair))):
        raise InvalidSpans(SpanFault.NUMBER)
    found = sorted(Span(milliseconds(start), milliseconds(end)) for start, end in pairs)
    last = None if duration is None else milliseconds(duration + SECONDS_OVER)
    if len(found) > SPANS_MAX:
        raise InvalidSpans(SpanFault.MANY)
    for span in found:
        if span.start < 0:
            raise InvalidSpans(SpanFault.NEGATIVE)
        if span.end <= span.start:
            raise InvalidSpans(SpanFault.ORDER)
        if last is not None and span.end > last:
            raise InvalidSpans(SpanFault.LATE)
    if any(later.start < earlier.end for earlier, later in pairwise(found)):
        raise InvalidSpans(SpanFault.OVERLAP)
    return tuple(found)


def tiou(one: Span, other: Span) -> float:
    """Return the length of the intersection of two spans over the length of their union."""
    shared = min(one.end, other.end) - max(one.start, other.start)
    if shared <= 0:
        return 0.0
    return shared / (one.end - one.start + other.end - other.start - shared)


def set_tiou(some: Sequence[Span], others: Sequence[Span]) -> float:
    """Return the overlap of two unions of spans: their intersection over their union.

    It does not depend on how the same times are split into spans. Without any span, it is 0.
    """
    both, either = 0, 0
    edges = sorted({edge for span in (*some, *others) for edge in span})
    for start, end in pairwise(edges):
        covered = [
            any(s.start <= start and end <= s.end for s in spans) for spans in (some, others)
        ]
        both += (end - start) * all(covered)
        either += (end - start) * any(covered)
    return both / either if either else 0.0


class SupportedSpan(NamedTuple):
    """A span of the outcome. support: the number of annotators who marked it."""

    start: int
    end: int
    support: int


class _Marked(NamedTuple):
    """A span of the answer with this place in the order of answers."""

    span: Span
    answer: int


def where(
    answers: Sequence[Sequence[Span]], tolerance: float = TOLERANCE
) -> tuple[SupportedSpan, ...]:
    """Return the spans at which a relevant pair is settled, sorted, or () if it is unsettled.

    answers: the spans of each relevant answer, one answer per annotator, in order of judgment.
    """
    if len(answers) == 1:
        return tuple(SupportedSpan(*span, 1) for span in answers[0])
    groups = _groups([*_marked(answers)], tolerance)
    counting = [group for group in groups if 2 * len(group) > len(answers)]
    if not counting:
        return ()
    single = [marked for group in groups if group not in counting for marked in group]
    found = [_median_span(group) for group in counting]
    return tuple(sorted([*found, *(SupportedSpan(*marked.span, 1) for marked in single)]))


def _marked(answers: Sequence[Sequence[Span]]) -> Iterator[_Marked]:
    for place, spans in enumerate(answers):
        yield from (_Marked(span, place) for span in spans)


def _groups(marked: list[_Marked], tolerance: float) -> list[list[_Marked]]:
    """Join spans into groups by rule 2. A span that is joined with no other is a group."""
    group_of = {one: [one] for one in marked}
    for one, other in _pairs_by_overlap(marked, tolerance):
        some, others = group_of[one], group_of[other]
        if some is others or {m.answer for m in some} & {m.answer for m in others}:
            continue
        if all(tiou(a.span, b.span) >= tolerance for a in some for b in others):
            some += others
            group_of |= dict.fromkeys(others, some)
    return list({id(group): group for group in group_of.values()}.values())


def _pairs_by_overlap(marked: list[_Marked], tolerance: float) -> list[tuple[_Marked, _Marked]]:
    """Return the pairs that reach the tolerance: larger overlap first, then the earlier span."""
    pairs = combinations(sorted(marked), 2)
    found = [
        (tiou(one.span, other.span), one, other)
        for one, other in pairs
        if one.answer != other.answer
    ]
    reached = [row for row in found if row[0] >= tolerance]
    return [(one, other) for _, one, other in sorted(reached, key=lambda row: (-row[0], *row[1:]))]


def _median_span(group: Sequence[_Marked]) -> SupportedSpan:
    starts = _median([marked.span.start for marked in group])
    return SupportedSpan(starts, _median([marked.span.end for marked in group]), len(group))


def _median(times: list[int]) -> int:
    """Return the median. Of an even number, it is the mean of the middle two, half to even."""
    ordered = sorted(times)
    total = ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]
    half, odd = divmod(total, 2)
    return half + (half & odd)


@dataclass(frozen=True, slots=True, eq=False)
class SpanOutcomes(Outcomes):
    """The outcomes of n pairs, with the times of those that are relevant.

    unsettled: int8 [n], values of `Unsettled`. spans: the spans of each pair, empty unless it is
    settled where the caption applies. A pair that is relevant and in conflict about the times is
    `CONFLICTED` and keeps its label.
    """

    unsettled: npt.NDArray[np.int8]
    spans: tuple[tuple[SupportedSpan, ...], ...]


def resolve_spans(
    whether: Outcomes,
    answers: Sequence[Sequence[Sequence[Span]]],
    *,
    labels_max: npt.NDArray[np.integer] | int,
    threshold: int = 1,
    tolerance: float = TOLERANCE,
) -> SpanOutcomes:
    """Decide where the relevant pairs apply, after `resolve` has decided whether they do.

    whether: the outcomes by labels. answers: for each pair, the spans of its relevant answers.
    labels_max, threshold: as for `resolve`. A relevant pair without settled times is pending while
    it may get another label. Otherwise it is in conflict.
    """
    states, labels = whether.states.copy(), whether.labels.copy()
    required = whether.required.copy()
    spans: list[tuple[SupportedSpan, ...]] = [()] * len(states)
    unsettled = np.where(states == State.RESOLVED, Unsettled.NOTHING, Unsettled.WHETHER)
    most = np.broadcast_to(labels_max, states.shape)
    for place in np.flatnonzero((states == State.RESOLVED) & (labels >= threshold)).tolist():
        spans[place] = where(answers[place], tolerance)
        if spans[place]:
            continue
        unsettled[place] = Unsettled.WHERE
        if whether.n_labels[place] < most[place]:
            states[place], labels[place] = State.PENDING, NO_LABEL
            required[place] += 1
        else:
            states[place] = State.CONFLICTED
    return SpanOutcomes(
        states=states,
        labels=labels,
        required=required,
        n_labels=whether.n_labels,
        unsettled=unsettled.astype(np.int8),
        spans=tuple(spans),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PeopleSpans:
    """The spans of a benchmark by people, one row per span and pair, sorted by pair, start and end.

    codes: int64 [n], pair codes. starts, ends: float64 [n], seconds. support: int64 [n], the number
    of annotators who marked the span. unsettled: int64 [m], the codes of pairs with relevant
    answers whose times are not settled.
    """

    codes: Int64Array
    starts: npt.NDArray[np.float64]
    ends: npt.NDArray[np.float64]
    support: Int64Array
    unsettled: Int64Array
