"""Times, hours, periods and the forecast, by hand and compared with plain Python."""

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
    LabelRound,
    Period,
    Timeline,
    Times,
    answer_times,
    forecast,
    hours_at_work,
    label_rounds,
    medians,
    over_time,
    timeline_of,
)

# A Friday.
NOON = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp())


def make_answers(*rows: dict[str, Any]) -> Answers:
    """Return answers from rows of values. The default is a counted label 0 without a time."""
    defaults = {"person": 0, "label": 0, "kind": "counted", "planned": True, "gold": -1, "ms": -1}
    filled = [{**defaults, "task": place, "at": NOON, **row} for place, row in enumerate(rows)]

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


def test_breaks_are_counted_and_not_in_the_quantiles() -> None:
    ms = np.array([-1, 699, 700, 1000, 2000, 3000, 120_000, 120_001, -1])
    assert answer_times(ms) == Times(
        known=7, unknown=2, breaks=1, too_fast=1, quantiles=[0.775, 1.5, 2.75, 61.5]
    )


def test_no_times() -> None:
    assert answer_times(np.array([-1, -1])) == Times(
        known=0, unknown=2, breaks=0, too_fast=0, quantiles=None
    )
    assert answer_times(np.empty(0, np.int64)) == Times(
        known=0, unknown=0, breaks=0, too_fast=0, quantiles=None
    )
    assert answer_times(np.array([200_000])) == Times(
        known=1, unknown=0, breaks=1, too_fast=0, quantiles=None
    )


def test_hours_at_work() -> None:
    answers = make_answers(
        # Ten seconds, then a break of an hour that counts as two minutes.
        {"person": 0, "at": NOON, "ms": 5000},
        {"person": 0, "at": NOON + 10, "ms": 4000},
        {"person": 0, "at": NOON + 3610},
        # Three answers arrived together after a lost connection: their own times count.
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


# --- Periods ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "timeline"),
    [
        (NOON + 59 * 60, Timeline(start=NOON, width=HOUR, count=1)),
        (NOON + 59 * HOUR, Timeline(start=NOON, width=HOUR, count=60)),
        (NOON + 60 * HOUR, Timeline(start=NOON - 12 * HOUR, width=DAY, count=4)),
        # Weeks begin on Monday.
        (NOON + 60 * DAY, Timeline(start=NOON - 12 * HOUR - 4 * DAY, width=WEEK, count=10)),
    ],
)
def test_periods_are_the_shortest_possible(last: int, timeline: Timeline) -> None:
    assert timeline_of(np.array([last, NOON])) == timeline


def test_years_have_periods_of_four_weeks() -> None:
    timeline = timeline_of(np.array([NOON, NOON + 3000 * DAY]))
    assert timeline is not None
    assert (timeline["width"], timeline["count"]) == (4 * WEEK, 109)
    assert datetime.fromtimestamp(timeline["start"], UTC).weekday() == 0
    assert timeline_of(np.empty(0, np.int64)) is None


@pytest.mark.parametrize("weeks", [4 * 399 + 1, 4 * 400, 4 * 401, 5000, 416_000])
def test_a_date_millennia_away_gives_at_most_400_periods(weeks: int) -> None:
    ends = NOON, NOON + weeks * WEEK
    timeline = timeline_of(np.array(ends))
    assert timeline is not None
    start, width, count = timeline["start"], timeline["width"], timeline["count"]
    assert (width % (4 * WEEK), count <= 400) == (0, True)
    assert start <= ends[0] < start + width
    assert start + (count - 1) * width <= ends[1] < start + count * width
    # Half of this width would need more than 400 periods.
    assert width == 4 * WEEK or 2 * count > 400


def test_answers_over_time() -> None:
    answers = make_answers(
        {"person": 0, "label": 1, "ms": 2000},
        {"person": 1, "label": 0, "ms": 4000},
        {"person": 1, "label": 1, "kind": "surplus", "ms": 130_000},
        {"person": 0, "kind": "gold", "gold": 1, "ms": 3000},
        # The gold item is retired: the answer is neither correct nor wrong.
        {"person": 0, "kind": "gold", "gold": -1},
        {"person": 3, "kind": "gold", "gold": 0, "at": NOON + 2 * HOUR},
    )
    empty = Period(
        start=NOON, answers=0, counted=0, relevant=0, gold=0, right=0, people=0, seconds=None
    )
    first = {"answers": 5, "counted": 2, "relevant": 1, "gold": 1, "right": 1, "people": 2}
    assert over_time(answers, Timeline(start=NOON, width=HOUR, count=3)) == [
        {**empty, **first, "seconds": 3.0},
        {**empty, "start": NOON + HOUR},
        {**empty, "start": NOON + 2 * HOUR, "answers": 1, "gold": 1, "people": 1},
    ]


def test_rounds_count_existing_and_missing_labels() -> None:
    """Three tasks need two labels each, two need a third one, and the other eleven need none."""
    live, required = np.array([0, 2, 3, 1]), np.array([2, 3, 3, 1])
    is_open, tasks = np.array([True, True, False, False]), np.array([3, 2, 1, 10])
    assert label_rounds(live, required, is_open, tasks) == [
        LabelRound(number=1, given=13, wanted=3),
        LabelRound(number=2, given=3, wanted=3),
        LabelRound(number=3, given=1, wanted=2),
    ]
    none = np.empty(0, np.int64)
    assert label_rounds(none, none, none == 1, none) == []


# --- Forecast ---------------------------------------------------------------------------------


def at_hours_ago(*counts: int) -> Any:
    """Return times of labels: `counts[n]` labels half an hour and n hours before `NOON`."""
    return np.repeat(NOON - HOUR // 2 - HOUR * np.arange(len(counts)), counts)


def test_a_constant_speed_has_an_exact_end() -> None:
    found = forecast(at_hours_ago(10, 10, 10, 10), now=NOON, labels_needed=50)
    end = NOON + 5 * HOUR
    assert found == Forecast(
        wanted=50, per_hour=10, hours=4, earliest=end, latest=end, undefined=None
    )


def test_the_share_of_hours_without_answers_stays() -> None:
    found = forecast(at_hours_ago(10, 0, 0, 10, 10, 0), now=NOON, labels_needed=30)
    # Three of the last five hours have answers. The hour before these five has none and does not
    # count, because no answer is older.
    assert (found["per_hour"], found["hours"]) == (10, 3)
    assert found["earliest"] == found["latest"] == NOON + round(30 / 10 * 5 / 3 * HOUR)


def test_a_varying_speed_has_a_range() -> None:
    counts = [8, 12, 10, 10, 9, 11]
    found = forecast(at_hours_ago(*counts), now=NOON, labels_needed=100)
    spread = 1.2816 * stdev(counts) * (1 / 6 + 1 / 10) ** 0.5
    assert found == Forecast(
        wanted=100,
        per_hour=10,
        hours=6,
        earliest=NOON + round(100 / (10 + spread) * HOUR),
        latest=NOON + round(100 / (10 - spread) * HOUR),
        undefined=None,
    )


def test_a_speed_that_varies_too_much_has_no_latest_end() -> None:
    found = forecast(at_hours_ago(1, 100, 1, 1), now=NOON, labels_needed=10)
    assert found["latest"] is None
    assert found["earliest"] is not None


def test_only_the_last_active_hours_count() -> None:
    found = forecast(at_hours_ago(*[10] * 24, *[1000] * 10), now=NOON, labels_needed=10)
    assert (found["per_hour"], found["hours"]) == (10, 24)


@pytest.mark.parametrize(
    ("at", "wanted", "reason"),
    [
        (at_hours_ago(10, 10, 10), 0, ALL_THERE),
        (np.empty(0, np.int64), 5, ONLY_BEGUN),
        (at_hours_ago(10, 10), 5, ONLY_BEGUN),
        (at_hours_ago(10, 10, 10) - 2 * DAY, 5, STOPPED),
    ],
)
def test_forecast_is_undefined_with_a_reason(at: Any, wanted: int, reason: str) -> None:
    assert forecast(at, now=NOON, labels_needed=wanted) == Forecast(
        wanted=wanted, per_hour=None, hours=0, earliest=None, latest=None, undefined=reason
    )
