"""The figures of a campaign in words, and its charts in numbers of SVG."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from annotation.enums import CampaignState
from evaluation.core.people.pace import DAY, HOUR
from evaluation.monitor.charts import column_chart, plain, round_up
from evaluation.monitor.figures import Figure, pace_figures, turn_rows

NOON = int(datetime(2025, 11, 21, 12, tzinfo=UTC).timestamp())
TIMES = {"known": 0, "unknown": 3, "breaks": 0, "too_fast": 0, "quantiles": None}


def said(earliest: int | None, latest: int | None, reason: str | None = None) -> list[Figure]:
    forecast = {
        "wanted": 5,
        "per_hour": 1234.5,
        "hours": 24,
        "earliest": earliest,
        "latest": latest,
        "undefined": reason,
    }
    figures = {"forecast": forecast, "times": TIMES}
    return pace_figures(figures, CampaignState.OPEN)


@pytest.mark.parametrize(
    ("latest", "text"),
    [
        (NOON + 60, "about 21 Nov, 12:00"),
        (NOON + 3 * HOUR, "21 Nov, 12:00 to 15:00"),
        (NOON + 13 * HOUR, "21 Nov, 12:00 to 22 Nov, 01:00"),
        (NOON + 40 * DAY, "21 Nov 2025 to 31 Dec 2025"),
    ],
)
def test_the_end_is_a_range(latest: int, text: str) -> None:
    assert said(NOON, latest) == [
        Figure("All labels will be there", text, "UTC, at the present pace: eight times in ten"),
        Figure("Labels per hour", "1,234", "in the last 24 hours in which anybody judged"),
        Figure("Time of an answer", "–", "no times are known"),
    ]


def test_an_end_that_nobody_knows() -> None:
    first, *_ = said(NOON, None)
    assert first == Figure(
        "All labels will be there",
        "not before 21 Nov 2025",
        "at the present pace, which varies too much for a last day",
    )
    first, second = said(None, None, "judging has only begun")
    # It may be nearly through, by an hour's work.
    assert first == Figure("All labels will be there", "–", "too few hours for a forecast")
    assert second.name == "Time of an answer"


@pytest.mark.parametrize("state", [CampaignState.PAUSED, CampaignState.CLOSED])
def test_no_end_while_nobody_is_handed_pairs(state: CampaignState) -> None:
    forecast = {"per_hour": 1.0, "hours": 3, "earliest": NOON, "latest": NOON, "undefined": None}
    first, *_ = pace_figures({"forecast": forecast, "times": TIMES}, state)
    assert first.reason == f"the campaign is {state.value}"


def test_many_turns_are_one_row() -> None:
    turns = [{"number": n, "given": 100 - n, "wanted": n} for n in range(1, 13)]
    rows = turn_rows({"turns": turns})
    assert len(rows) == 10
    assert rows[0] == {"name": "First labels", "given": 99, "wanted": 1}
    assert rows[9] == {"name": "Further labels", "given": 90 + 89 + 88, "wanted": 10 + 11 + 12}


@pytest.mark.parametrize(
    ("value", "top"),
    [(0, 1), (1, 1), (1.2, 2), (3, 4), (4.1, 5), (7, 10), (11, 20), (999, 1000), (0.03, 0.04)],
)
def test_the_scale_ends_at_a_round_number(value: float, top: float) -> None:
    assert round_up(value) == pytest.approx(top)


def test_numbers_beside_the_scale() -> None:
    assert [plain(value) for value in (0, 0.5, 2.5, 2, 12.4, 46_838)] == [
        "0",
        "0.5",
        "2.5",
        "2",
        "12",
        "46,838",
    ]


def test_columns_are_stacked() -> None:
    stretches: list[Any] = [{"start": NOON + n * DAY} for n in range(3)]
    chart = column_chart(
        "Answers per day",
        stretches,
        DAY,
        [("labels", "labels", [3, 0, None]), ("others", "gold", [1, 0, None])],
    )
    assert chart is not None
    assert (chart.top, chart.half, chart.room, chart.first, chart.last) == (
        "4",
        "2",
        "3",
        "21 Nov 2025",
        "23 Nov 2025",
    )
    first, second, third = chart.columns
    assert [(part.kind, part.y, part.height) for part in first.parts] == [
        ("labels", "25.00", "75.00"),
        ("others", "0.00", "25.00"),
    ]
    assert [column.x for column in chart.columns] == ["0.10", "1.10", "2.10"]
    assert first.text == "21 Nov 2025: labels 3, gold 1"
    assert [part.height for part in second.parts] == ["0.00", "0.00"]
    assert (third.text, third.parts) == ("23 Nov 2025: nothing", [])


def test_nothing_to_draw() -> None:
    stretches: list[Any] = [{"start": NOON}]
    assert column_chart("Gold", stretches, DAY, [("bar", "gold", [None])]) is None
