"""Columns over time as SVG with plain attributes: no script and no inline style.

The plot is stretched to the width of the page, so all words stand beside it in HTML. Numbers for
SVG are texts here: Django would write them with the separators of a language.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.core.people.pace import DAY, HOUR, WEEK

# Of the room for one column, how much it fills.
FILLED = 0.8
NAMES = {HOUR: "hour", DAY: "day", WEEK: "week", 4 * WEEK: "four weeks"}


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a column: a class for its colour, and where it stands in a plot 100 high."""

    kind: str
    y: str
    height: str


@dataclass(frozen=True, slots=True)
class Column:
    """One stretch of time; `text` is read on pointing at it."""

    x: str
    text: str
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class Chart:
    """`top` and `half` are what the upper and the middle line stand for."""

    title: str
    columns: list[Column]
    top: str
    half: str
    first: str
    last: str
    legend: list[tuple[str, str]]

    @property
    def room(self) -> str:
        return str(len(self.columns))

    @property
    def width(self) -> str:
        return str(FILLED)


def column_chart(
    title: str,
    stretches: Sequence[dict[str, Any]],
    width: int,
    parts: Sequence[tuple[str, str, Sequence[float | None]]],
    *,
    unit: str = "",
    top: float | None = None,
) -> Chart | None:
    """Columns of stacked parts, each with the class of its colour, its name and a value for each
    stretch (None: no column there); None where nothing is there to draw.

    top: what the whole height stands for, else a round number above the highest column.
    """
    stacks = zip(*(values for _, _, values in parts), strict=True)
    sums = [sum(value or 0 for value in values) for values in stacks]
    if not any(value is not None for _, _, values in parts for value in values):
        return None
    highest = top or round_up(max(sums))
    columns = []
    for place, stretch in enumerate(stretches):
        pieces, below, said = [], 0.0, []
        for kind, name, values in parts:
            value = values[place]
            if value is None:
                continue
            height = 100 * value / highest
            below += height
            pieces.append(Part(kind, f"{100 - below:.2f}", f"{height:.2f}"))
            said.append(f"{name} {plain(value)}{unit}")
        text = f"{moment(stretch['start'], width)}: {', '.join(said) or 'nothing'}"
        columns.append(Column(f"{place + (1 - FILLED) / 2:.2f}", text, pieces))
    return Chart(
        title=title,
        columns=columns,
        top=f"{plain(highest)}{unit}",
        half=f"{plain(highest / 2)}{unit}",
        first=moment(stretches[0]["start"], width),
        last=moment(stretches[-1]["start"], width),
        legend=[(kind, name) for kind, name, _ in parts] if len(parts) > 1 else [],
    )


def round_up(value: float) -> float:
    """The next of 1, 2, 4, 5 and 10 times a power of ten: halves of these are round, too."""
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value > 0:
        power /= 10
    return next((step * power for step in (1, 2, 4, 5) if step * power >= value), 10 * power)


def plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def moment(start: int, width: int) -> str:
    """When a stretch begins, in UTC; hours are told only where the stretch is one."""
    at = datetime.datetime.fromtimestamp(start, datetime.UTC)
    return f"{at:%-d %b, %H:%M}" if width < DAY else f"{at:%-d %b %Y}"
