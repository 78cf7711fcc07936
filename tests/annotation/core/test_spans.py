"""Spans: their stored form, overlaps, and the rule "where" with worked examples and properties."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.consensus import NO_LABEL, State, resolve
from annotation.core.spans import (
    InvalidSpans,
    Span,
    SpanFault,
    SupportedSpan,
    Unsettled,
    canonical,
    milliseconds,
    resolve_spans,
    set_tiou,
    tiou,
    where,
)


def s(start: float, end: float) -> Span:
    return Span(round(start * 1000), round(end * 1000))


@pytest.mark.parametrize(
    ("seconds", "stored"),
    [(12.3, 12300), (15.84, 15840), (0.0005, 0), (0.0015, 2), (12.3455, 12346), (2.6745, 2674)],
)
def test_times_are_rounded_half_to_even(seconds: float, stored: int) -> None:
    assert milliseconds(seconds) == stored


def test_spans_are_stored_sorted_and_rounded_and_can_touch() -> None:
    assert canonical([[20, 25.0004], [12.3, 15.84], [15.84, 16]], 24.6) == (
        Span(12300, 15840),
        Span(15840, 16000),
        Span(20000, 25000),
    )
    assert canonical([]) == ()


@pytest.mark.parametrize(
    ("spans", "fault"),
    [
        ([[float("nan"), 1]], SpanFault.NUMBER),
        ([[0, float("inf")]], SpanFault.NUMBER),
        ([[-0.001, 1]], SpanFault.NEGATIVE),
        ([[1, 1]], SpanFault.ORDER),
        ([[2, 1]], SpanFault.ORDER),
        ([[1, 1.0004]], SpanFault.ORDER),
        ([[0, 10.501]], SpanFault.LATE),
        ([[0, 2], [1.999, 3]], SpanFault.OVERLAP),
        ([[n / 10, n / 10 + 0.05] for n in range(21)], SpanFault.MANY),
    ],
)
def test_invalid_spans_are_refused(spans: list[list[float]], fault: SpanFault) -> None:
    with pytest.raises(InvalidSpans) as refused:
        canonical(spans, 10.0)
    assert refused.value.fault == fault


def test_a_span_can_end_half_a_second_after_the_video() -> None:
    assert canonical([[0, 10.5]], 10.0) == (Span(0, 10500),)


def test_overlaps_are_exact_at_the_tolerance() -> None:
    assert tiou(s(0, 10), s(0, 7)) == 0.7
    assert tiou(s(0, 10), s(5, 15)) == 1 / 3
    assert tiou(s(0, 5), s(5, 10)) == tiou(s(0, 5), s(6, 10)) == 0
    # Split and merged spans agree.
    assert set_tiou([s(0, 4), s(4, 10)], [s(0, 10)]) == 1
    assert set_tiou([s(0, 4), s(6, 10)], [s(0, 10)]) == 0.8
    assert set_tiou([], [s(0, 1)]) == set_tiou([], []) == 0


A, B = s(0, 10), s(20, 30)


@pytest.mark.parametrize(
    ("answers", "settled"),
    [
        # A single answer counts as it is.
        ([[A, B]], [(0, 10, 1), (20, 30, 1)]),
        # Two agree: the mean edges. 0.0005 s is rounded to even.
        ([[A], [s(0, 9)]], [(0, 9.5, 2)]),
        ([[s(0, 10.001)], [s(0, 10)]], [(0, 10, 2)]),
        ([[s(0, 10.003)], [s(0, 10)]], [(0, 10.002, 2)]),
        # One has two spans, the other one that matches: the matched one settles.
        ([[A, B], [s(1, 10)]], [(0.5, 10, 2), (20, 30, 1)]),
        # Both spans match.
        ([[A, B], [s(21, 30), s(1, 10)]], [(0.5, 10, 2), (20.5, 30, 2)]),
        # Disjoint, or below the tolerance.
        ([[A], [B]], []),
        ([[A], [s(5.1, 10)]], []),
        ([[A], [s(5, 10)]], [(2.5, 10, 2)]),
        # Two of three are more than half, two of four are not.
        ([[A], [B], [s(1, 10)]], [(0.5, 10, 2), (20, 30, 1)]),
        ([[A], [s(1, 10)], [B], [s(21, 30)]], []),
        # The median of three.
        ([[A], [s(1, 10)], [s(2, 12)]], [(1, 10, 3)]),
        # b overlaps a and c enough, but a and c do not: the larger overlap joins first.
        ([[s(0, 10)], [s(3, 13)], [s(5, 15)]], [(0, 10, 1), (4, 14, 2)]),
        # Equal overlaps: the pair that starts earlier.
        ([[s(0, 10)], [s(3, 13)], [s(6, 16)]], [(1.5, 11.5, 2), (6, 16, 1)]),
        # An annotator's two spans never join one group.
        ([[s(0, 6), s(6, 10)], [s(0, 10)]], [(0, 8, 2), (6, 10, 1)]),
        ([], []),
    ],
)
def test_where(answers: list[list[Span]], settled: list[tuple[float, float, int]]) -> None:
    expected = tuple(SupportedSpan(*s(start, end), support) for start, end, support in settled)
    assert where(answers, 0.5) == expected


SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), min_size=1, max_size=3).map(
    lambda rows: sorted({Span(start, start + length) for start, length in rows})
)


@given(st.lists(SPANS, min_size=1, max_size=4), st.sampled_from([0.3, 0.5, 0.7, 1.0]))
def test_settled_spans_cover_what_was_marked(answers: list[list[Span]], tolerance: float) -> None:
    found = where(answers, tolerance)
    n_marked = sum(map(len, answers))
    assert found == tuple(sorted(found))
    assert all(span.start < span.end and span.support <= len(answers) for span in found)
    assert not found or sum(span.support for span in found) == n_marked
    counting = [span for span in found if 2 * span.support > len(answers)]
    assert bool(found) == bool(counting)


@given(st.lists(SPANS, min_size=1, max_size=3), st.sampled_from([0.3, 0.5, 0.7]))
def test_the_order_of_answers_matters_only_for_equal_spans(
    answers: list[list[Span]], tolerance: float
) -> None:
    all_spans = [span for spans in answers for span in spans]
    if len(set(all_spans)) == len(all_spans):
        assert {where(order, tolerance) for order in permutations(answers)} == {
            where(answers, tolerance)
        }


@given(SPANS, st.integers(1, 5))
def test_equal_answers_settle_at_their_spans(spans: list[Span], n: int) -> None:
    found = where([spans] * n, 1.0)
    assert {(span.start, span.end) for span in found} == {tuple(span) for span in spans}


def test_outcomes_say_which_part_is_unsettled() -> None:
    cases = [
        # labels, spans of the relevant answers, planned
        ([1], [[A]], 1, State.RESOLVED, 1, 1, Unsettled.NOTHING, 1),
        ([0], [], 1, State.RESOLVED, 0, 1, Unsettled.NOTHING, 0),
        ([1, 0], [[A]], 2, State.PENDING, NO_LABEL, 3, Unsettled.WHETHER, 0),
        ([1, 1], [[A], [s(1, 10)]], 2, State.RESOLVED, 1, 2, Unsettled.NOTHING, 1),
        ([1, 1], [[A], [B]], 2, State.PENDING, NO_LABEL, 3, Unsettled.WHERE, 0),
        # At the maximum, the pair stays relevant.
        ([1, 1, 1], [[A], [B], [s(40, 50)]], 2, State.CONFLICTED, 1, 3, Unsettled.WHERE, 0),
        ([1, 1, 0], [[A], [B]], 2, State.CONFLICTED, 1, 3, Unsettled.WHERE, 0),
        # A later answer "not relevant" leaves one relevant answer, whose spans count.
        ([0, 0, 1], [[A]], 2, State.RESOLVED, 0, 3, Unsettled.NOTHING, 0),
    ]
    labels, answers, planned, states, decided, required, unsettled, n_spans = zip(
        *cases, strict=True
    )
    counts = np.array([np.bincount(of_one, minlength=2) for of_one in labels])
    whether = resolve(counts, np.array(planned), labels_max=3)
    found = resolve_spans(whether, answers, labels_max=3)
    assert found.states.tolist() == [int(state) for state in states]
    assert found.labels.tolist() == list(decided)
    assert found.required.tolist() == list(required)
    assert found.unsettled.tolist() == [int(part) for part in unsettled]
    assert [len(spans) for spans in found.spans] == list(n_spans)
