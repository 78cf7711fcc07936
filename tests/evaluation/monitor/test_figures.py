"""Tests of the named figures of a campaign and of its charts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from annotation.enums import CampaignState
from evaluation.core.people.pace import DAY, HOUR, WEEK, Forecast, LabelRound, Times
from evaluation.monitor.charts import Series, column_chart, period_name, round_up
from evaluation.monitor.figures import (
    LabelRoundRow,
    NamedFigure,
    label_round_rows,
    speed_figures,
)
from hearth.shared.numbers import PERCENT_SIGN, Figure, short, undefined

NOON = int(datetime(2025, 11, 21, 12, tzinfo=UTC).timestamp())
TIMES = Times(known=0, unknown=3, breaks=0, too_fast=0, quantiles=None)


def named_figures(
    earliest: int | None,
    latest: int | None,
    reason: str | None = None,
    state: CampaignState = CampaignState.OPEN,
) -> list[NamedFigure]:
    forecast = Forecast(
        wanted=5, per_hour=1234.5, hours=24, earliest=earliest, latest=latest, undefined=reason
    )
    return speed_figures(forecast, TIMES, state)


def texts(figures: list[NamedFigure]) -> list[tuple[str, str, str]]:
    return [(name, figure.text, figure.remark) for name, figure in figures]


@pytest.mark.parametrize(
    ("latest", "text"),
    [
        (NOON + 60, "about 21 Nov, 12:00"),
        (NOON + 3 * HOUR, "21 Nov, 12:00 to 15:00"),
        (NOON + 13 * HOUR, "21 Nov, 12:00 to 22 Nov, 01:00"),
        (NOON + 40 * DAY, "21 Nov 2025 to 31 Dec 2025"),
    ],
)
def test_the_expected_end_is_a_range(latest: int, text: str) -> None:
    assert texts(named_figures(NOON, latest)) == [
        (
            "All labels complete",
            text,
            f"UTC, with a probability of 80{PERCENT_SIGN} at the current speed",
        ),
        ("Labels per hour", "1,234", "in the last 24 hours with answers"),
        ("Time of an answer", "–", "no answer has a time"),
    ]


def test_the_expected_end_is_unknown() -> None:
    first, *_ = named_figures(NOON, None)
    assert first == (
        "All labels complete",
        Figure(
            "not before 21 Nov 2025",
            note="at the current speed, which varies too much for a latest date",
        ),
    )
    first, second = named_figures(None, None, "judging has only begun")
    # This reason is not shown, because the campaign may be nearly complete after an hour of work.
    assert first == ("All labels complete", undefined("too few hours for a forecast"))
    assert second[0] == "Time of an answer"


@pytest.mark.parametrize("state", [CampaignState.PAUSED, CampaignState.CLOSED])
def test_the_expected_end_is_undefined_while_no_pairs_are_assigned(state: CampaignState) -> None:
    (_, first), *_ = named_figures(NOON, NOON, state=state)
    assert first.reason == f"the campaign is {state.value}"


def test_label_rounds_after_the_ninth_are_one_row() -> None:
    rounds = [LabelRound(number=n, given=100 - n, wanted=n) for n in range(1, 13)]
    rows = label_round_rows(rounds)
    assert len(rows) == 10
    assert rows[0] == LabelRoundRow("First labels", "99", "1")
    # The sums of rounds 10 to 12: 90 + 89 + 88, and 10 + 11 + 12.
    assert rows[9] == LabelRoundRow("Further labels", "267", "33")


@pytest.mark.parametrize(
    ("value", "top"),
    [(0, 1), (1, 1), (1.2, 2), (3, 4), (4.1, 5), (7, 10), (11, 20), (999, 1000), (0.03, 0.04)],
)
def test_the_axis_of_a_chart_ends_at_a_round_number(value: float, top: float) -> None:
    assert round_up(value) == pytest.approx(top)


def test_numbers_on_the_axis_of_a_chart() -> None:
    assert [short(value) for value in (0, 0.5, 2.5, 2, 12.4, 46_838)] == [
        "0",
        "0.5",
        "2.5",
        "2",
        "12",
        "46,838",
    ]


def test_columns_are_stacked() -> None:
    chart = column_chart(
        "Answers per day",
        [NOON + n * DAY for n in range(3)],
        DAY,
        [Series("labels", "labels", [3, 0, None]), Series("others", "gold", [1, 0, None])],
    )
    assert chart is not None
    assert (chart.top, chart.half, chart.n_columns, chart.first, chart.last) == (
        "4",
        "2",
        "3",
        "21 Nov 2025",
        "23 Nov 2025",
    )
    first, second, third = chart.columns
    assert [(segment.kind, segment.y, segment.height) for segment in first.segments] == [
        ("labels", "25.00", "75.00"),
        ("others", "0.00", "25.00"),
    ]
    assert [column.x for column in chart.columns] == ["0.10", "1.10", "2.10"]
    assert first.text == "21 Nov 2025: labels 3, gold 1"
    assert [segment.height for segment in second.segments] == ["0.00", "0.00"]
    assert (third.text, third.segments) == ("23 Nov 2025: nothing", [])


def test_charts_without_values_are_empty() -> None:
    assert column_chart("Gold", [NOON], DAY, [Series("bar", "gold", [None])]) is None


def test_every_period_has_a_name() -> None:
    assert [period_name(width) for width in (HOUR, DAY, WEEK, 4 * WEEK, 1044 * WEEK)] == [
        "hour",
        "day",
        "week",
        "four weeks",
        "1,044 weeks",
    ]
