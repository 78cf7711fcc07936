"""Answers over time: the charts, the table and the CSV file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from evaluation.core.people.pace import HOUR, Period
from evaluation.monitor.charts import Chart, Series, column_chart, period_label, period_name, utc
from evaluation.monitor.selectors import OwnFigures
from hearth.shared.numbers import Figure, ratio
from hearth.shared.tables import Column, csv_text

PERIOD_COLUMNS = [
    Column("start", "From (UTC)"),
    Column("answers", "Answers", "count"),
    Column("counted", "Labels", "count"),
    Column("relevant", "Relevant labels", "percent sign"),
    Column("people", "Annotators", "count"),
    Column("seconds", "Median time", "seconds"),
    Column("gold", "Control pairs correct", "percent sign"),
]
CSV_COLUMNS = ("answers", "counted", "relevant", "people", "seconds", "gold", "right")
Count = Literal["counted", "relevant", "gold", "right"]


def answers_chart(figures: OwnFigures) -> Chart | None:
    """Return a chart of labels with other answers stacked on top."""
    periods = figures["stretches"]
    counted = [float(period["counted"]) for period in periods]
    others = [float(period["answers"] - period["counted"]) for period in periods]
    series = [Series("bar-labelled", "labels", counted)]
    if any(others):
        series.append(Series("bar-original", "control pairs and surplus", others))
    return _chart(figures, "Number of answers, by {period}", series)


def gold_chart(figures: OwnFigures) -> Chart | None:
    return _share_chart(figures, "control pairs correct", "right", "gold")


def relevant_chart(figures: OwnFigures) -> Chart | None:
    return _share_chart(figures, "relevant labels", "relevant", "counted")


def seconds_chart(figures: OwnFigures) -> Chart | None:
    values = [period["seconds"] for period in figures["stretches"]]
    series = [Series("bar-labelled", "median", values)]
    return _chart(figures, "Median time of an answer, by {period}", series, unit=" s")


def _share_chart(figures: OwnFigures, noun: str, part: Count, whole: Count) -> Chart | None:
    shares = [_share(period[part], period[whole]) for period in figures["stretches"]]
    values = [None if share is None else 100 * share for share in shares]
    series = [Series("bar-labelled", noun, values)]
    return _chart(figures, f"Share of {noun}, by {{period}}", series, unit=" %", top=100)


def _chart(
    figures: OwnFigures,
    title: str,
    series: Sequence[Series],
    *,
    unit: str = "",
    top: float | None = None,
) -> Chart | None:
    """Return a chart with a column per period, or None if there is no value.

    title: a text with `{period}` for the name of a period.
    """
    span = figures["span"]
    if span is None:
        return None
    starts = [period["start"] for period in figures["stretches"]]
    title = title.format(period=period_name(span["width"]))
    return column_chart(title, starts, span["width"], series, unit=unit, top=top)


def period_value(period: Period, key: str) -> Any:
    """Return the value by which the table over time is sorted."""
    match key:
        case "relevant":
            return _share(period["relevant"], period["counted"])
        case "gold":
            return _share(period["right"], period["gold"])
        case _:
            return period[key]  # type: ignore[literal-required]


def period_rows(periods: Sequence[Period], width: int) -> list[dict[str, Figure]]:
    """Return the cells of the table over time."""
    return [
        {
            "start": Figure(period_label(period["start"], width)),
            "answers": Figure(period["answers"], "count"),
            "counted": Figure(period["counted"], "count"),
            "relevant": Figure(ratio(period["relevant"], period["counted"])),
            "people": Figure(period["people"], "count"),
            "seconds": Figure(period["seconds"], "seconds"),
            "gold": Figure(
                f"{period['right']:,} of {period['gold']:,}" if period["gold"] else None
            ),
        }
        for period in periods
    ]


def periods_csv(figures: OwnFigures | None) -> str:
    """Return a CSV file with a row per period, including periods without answers."""
    rows = []
    if figures is not None and figures["span"] is not None:
        hours = figures["span"]["width"] // HOUR
        rows = [
            [
                f"{utc(period['start']):%Y-%m-%dT%H:%MZ}",
                hours,
                *(period[name] for name in CSV_COLUMNS),  # type: ignore[literal-required]
            ]
            for period in figures["stretches"]
        ]
    return csv_text(["from_utc", "hours", *CSV_COLUMNS], rows)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
