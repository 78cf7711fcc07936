"""Times, hours at work, stretches of time and the forecast: by hand, and against plain Python."""

from __future__ import annotations

from datetime import UTC, datetime
from statistics import median, stdev
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.people.pace import (
    ALL_THERE,
    DAY,
    HOUR,
    ONLY_BEGUN,
    STOPPED,
    WEEK,
    Answers,
    Forecast,
    Span,
    Stretch,
    Times,
    Turn,
    answer_times,
    forecast,
    hours_at_work,
    medians,
    over_time,
    span_of,
    turns,
)

# A Friday.
NOON = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp())


def make_answers(*rows: dict[str, Any]) -> Answers:
    """Each row: person, at, and what is not as usual. Counted labels 0, without a time."""
    usual = {"person": 0, "label": 0, "kind": "counted", "planned": True, "gold": -1, "ms": -1}
    filled = [{**usual, "task": place, "at": NOON, **row} for place, row in enumerate(rows)]

    def column(name: str) -> Any:
        return np.array([row[name] for row in filled], np.int64)

    def is_kind(kind: str) -> Any:
        return np.array([row["kind"] == kind for row in filled], np.bool_)

    return Answers(
        people=column("person"),
        tasks=column("task"),
        labels=column("label"),
        is_relevant=column("label") >= 1,
        is_counted=is_kind("counted"),
        is_planned=is_kind("counted") & (column("planned") == 1),
        is_gold=is_kind("gold"),
        gold=column("gold"),
        ms=column("ms"),
        at=column("at"),
    )


# --- Times ------------------------------------------------------------------------------------


def test_times_leave_out_breaks_and_tell_of_them() -> None:
    ms = np.array([-1, 699, 700, 1000, 2000, 3000, 120_000, 120_001, -1])
    assert answer_times(ms) == Times(
        known=7, unknown=2, breaks=1, too_fast=1, quantiles=(0.775, 1.5, 2.75, 61.5)
    )


def test_no_times() -> None:
    assert answer_times(np.array([-1, -1])) == Times(0, 2, 0, 0, None)
    assert answer_times(np.empty(0, np.int64)) == Times(0, 0, 0, 0, None)
    assert answer_times(np.array([200_000])) == Times(1, 0, 1, 0, None)


def test_hours_at_work() -> None:
    answers = make_answers(
        # Ten seconds, then a break of an hour that counts as two minutes.
        {"person": 0, "at": NOON, "ms": 5000},
        {"person": 0, "at": NOON + 10, "ms": 4000},
        {"person": 0, "at": NOON + 3610},
        # In a heap after the line had been away: what each took.
        {"person": 1, "at": NOON, "ms": 3000},
        {"person": 1, "at": NOON, "ms": 4000},
        {"person": 1, "at": NOON, "ms": 500_000},
        {"person": 2, "at": NOON},
    )
    assert (hours_at_work(answers, 4) * HOUR).tolist() == [5 + 10 + 120, 3 + 4 + 120, 0, 0]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50))))
def test_medians_are_those_of_each_group(pairs: list[tuple[int, int]]) -> None:
    groups, values = np.array(pairs, np.int64).reshape(-1, 2).T
    found = medians(groups, values, 5)
    for number in range(5):
        mine = [value for group, value in pairs if group == number]
        assert np.isnan(found[number]) if not mine else found[number] == median(mine)


# --- Stretches --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "span"),
    [
        (NOON + 59 * 60, Span(NOON, HOUR, 1)),
        (NOON + 59 * HOUR, Span(NOON, HOUR, 60)),
        (NOON + 60 * HOUR, Span(NOON - 12 * HOUR, DAY, 4)),
        # Weeks begin on Monday.
        (NOON + 60 * DAY, Span(NOON - 12 * HOUR - 4 * DAY, WEEK, 10)),
    ],
)
def test_stretches_are_as_long_as_fits(last: int, span: Span) -> None:
    assert span_of(np.array([last, NOON])) == span


def test_long_ones_for_years() -> None:
    span = span_of(np.array([NOON, NOON + 3000 * DAY]))
    assert span is not None
    assert (span.width, span.count) == (4 * WEEK, 109)
    assert datetime.fromtimestamp(span.start, UTC).weekday() == 0
    assert span_of(np.empty(0, np.int64)) is None


def test_over_time() -> None:
    answers = make_answers(
        {"person": 0, "label": 1, "ms": 2000},
        {"person": 1, "label": 0, "ms": 4000},
        {"person": 1, "label": 1, "kind": "surplus", "ms": 130_000},
        {"person": 0, "kind": "gold", "gold": 1, "ms": 3000},
        # Gold that is retired: an answer, but neither right nor wrong.
        {"person": 0, "kind": "gold", "gold": -1},
        {"person": 3, "kind": "gold", "gold": 0, "at": NOON + 2 * HOUR},
    )
    assert over_time(answers, Span(NOON, HOUR, 3)) == (
        Stretch(NOON, 5, counted=2, relevant=1, gold=1, right=1, people=2, seconds=3.0),
        Stretch(NOON + HOUR, 0, counted=0, relevant=0, gold=0, right=0, people=0, seconds=None),
        Stretch(NOON + 2 * HOUR, 1, counted=0, relevant=0, gold=1, right=0, people=1, seconds=None),
    )


def test_turns() -> None:
    """Three tasks wait for their first label, two for a third, one is in conflict after three."""
    live, required = np.array([0, 2, 3, 1]), np.array([2, 3, 3, 1])
    is_open, tasks = np.array([True, True, False, False]), np.array([3, 2, 1, 10])
    assert turns(live, required, is_open, tasks) == [
        Turn(1, given=13, wanted=3),
        Turn(2, given=3, wanted=3),
        Turn(3, given=1, wanted=2),
    ]
    none = np.empty(0, np.int64)
    assert turns(none, none, none == 1, none) == []


# --- Forecast ---------------------------------------------------------------------------------


def at_hours_ago(*counts: int) -> Any:
    """So many labels half an hour ago, an hour and a half ago, and so on."""
    return np.repeat(NOON - HOUR // 2 - HOUR * np.arange(len(counts)), counts)


def test_an_even_pace_ends_when_it_ends() -> None:
    found = forecast(at_hours_ago(10, 10, 10, 10), now=NOON, wanted=50)
    end = NOON + 5 * HOUR
    assert found == Forecast(50, per_hour=10, hours=4, earliest=end, latest=end)


def test_hours_in_which_nobody_judges_stay_such() -> None:
    found = forecast(at_hours_ago(10, 0, 0, 10, 10, 0), now=NOON, wanted=30)
    # Three of five hours: the sixth is before the first of them.
    assert (found.per_hour, found.hours) == (10, 3)
    assert found.earliest == found.latest == NOON + round(30 / 10 * 5 / 3 * HOUR)


def test_an_uneven_pace_has_a_range() -> None:
    counts = [8, 12, 10, 10, 9, 11]
    found = forecast(at_hours_ago(*counts), now=NOON, wanted=100)
    spread = 1.2816 * stdev(counts) * (1 / 6 + 1 / 10) ** 0.5
    assert found == Forecast(
        100,
        per_hour=10,
        hours=6,
        earliest=NOON + round(100 / (10 + spread) * HOUR),
        latest=NOON + round(100 / (10 - spread) * HOUR),
    )


def test_a_pace_that_varies_too_much_has_no_end() -> None:
    found = forecast(at_hours_ago(1, 100, 1, 1), now=NOON, wanted=10)
    assert found.latest is None
    assert found.earliest is not None


def test_only_the_last_active_hours_count() -> None:
    found = forecast(at_hours_ago(*[10] * 24, *[1000] * 10), now=NOON, wanted=10)
    assert (found.per_hour, found.hours) == (10, 24)


@pytest.mark.parametrize(
    ("at", "wanted", "reason"),
    [
        (at_hours_ago(10, 10, 10), 0, ALL_THERE),
        (np.empty(0, np.int64), 5, ONLY_BEGUN),
        (at_hours_ago(10, 10), 5, ONLY_BEGUN),
        (at_hours_ago(10, 10, 10) - 2 * DAY, 5, STOPPED),
    ],
)
def test_where_nobody_knows(at: Any, wanted: int, reason: str) -> None:
    assert forecast(at, now=NOON, wanted=wanted) == Forecast(wanted, undefined=reason)
