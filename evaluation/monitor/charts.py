"""Column charts over time as SVG with plain attributes, without scripts or inline styles.

The plot is stretched to the width of the page, so all texts are in HTML next to it. Numbers for SVG
are stored as texts, because Django would format them with the separators of the page's language.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.core.people.pace import DAY, HOUR, WEEK
from hearth.shared.numbers import short

# The width of a column, as a share of the width of its period.
FILLED = 0.8
NAMES = {HOUR: "hour", DAY: "day", WEEK: "week", 4 * WEEK: "four weeks"}


@dataclass(frozen=True, slots=True)
class Series:
    """One value per period, None for a period without a column. kind: CSS class of the colour."""

    kind: str
    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a column: the CSS class of its colour, and its place in a plot of height 100."""

    kind: str
    y: str
    height: str


@dataclass(frozen=True, slots=True)
class ChartColumn:
    """One period. `text` is shown when the pointer is over the column."""

    x: str
    text: str
    segments: list[Segment]


@dataclass(frozen=True, slots=True)
class Chart:
    """A column chart. `top` and `half` are the values of the upper and the middle line."""

    title: str
    columns: list[ChartColumn]
    top: str
    half: str
    first: str
    last: str
    legend: list[tuple[str, str]]

    @property
    def n_columns(self) -> str:
        return str(len(self.columns))

    @property
    def width(self) -> str:
        return str(FILLED)


def column_chart(
    title: str,
    starts: Sequence[int],
    width: int,
    series: Sequence[Series],
    *,
    unit: str = "",
    top: float | None = None,
) -> Chart | None:
    """Return a chart of stacked columns, or None if no series has a value.

    starts: when each period begins, in seconds since 1970. width: the length of a period in
    seconds. top: the value at the full height of the chart. If it is None, the chart uses a round
    number that is not below the highest column.
    """
    if all(value is None for part in series for value in part.values):
        return None
    stacks = list(zip(*(part.values for part in series), strict=True))
    highest = top or round_up(max(sum(value or 0 for value in stack) for stack in stacks))
    labels = [period_label(start, width) for start in starts]
    return Chart(
        title=title,
        columns=[
            ChartColumn(
                x=f"{place + (1 - FILLED) / 2:.2f}",
                text=f"{label}: {_describe(series, place, unit)}",
                segments=_segments(series, place, highest),
            )
            for place, label in enumerate(labels)
        ],
        top=f"{short(highest)}{unit}",
        half=f"{short(highest / 2)}{unit}",
        first=labels[0],
        last=labels[-1],
        legend=[(part.kind, part.name) for part in series] if len(series) > 1 else [],
    )


def _segments(series: Sequence[Series], place: int, highest: float) -> list[Segment]:
    """Return the segments of one column, stacked from the bottom."""
    segments, below = [], 0.0
    for part in series:
        value = part.values[place]
        if value is not None:
            height = 100 * value / highest
            below += height
            segments.append(Segment(part.kind, f"{100 - below:.2f}", f"{height:.2f}"))
    return segments


def _describe(series: Sequence[Series], place: int, unit: str) -> str:
    values = [(part.name, part.values[place]) for part in series]
    texts = [f"{name} {short(value)}{unit}" for name, value in values if value is not None]
    return ", ".join(texts) or "nothing"


def round_up(value: float) -> float:
    """Return the smallest of 1, 2, 4 and 5 times a power of ten that is not below the value.

    Half of such a number is also round.
    """
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value > 0:
        power /= 10
    return next((step * power for step in (1, 2, 4, 5) if step * power >= value), 10 * power)


def utc(at: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at, datetime.UTC)


def period_name(width: int) -> str:
    """Return the name of a period of this length in seconds."""
    return NAMES.get(width, f"{width // WEEK:,} weeks")


def period_label(start: int, width: int) -> str:
    """Return when a period begins, in UTC, with the hour if the period is shorter than a day."""
    at = utc(start)
    return f"{at:%-d %b, %H:%M}" if width < DAY else f"{at:%-d %b %Y}"
