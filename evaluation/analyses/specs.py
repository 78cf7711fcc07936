"""Pieces of Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Encoding = dict[str, Any]

BARS = {"type": "bar", "tooltip": True}
LINES = {"type": "line", "point": True, "tooltip": True}
DOTS = {"type": "point", "size": 60, "tooltip": True}
# Not read out: a dot on each tells what there is.
RULES = {"type": "rule", "strokeWidth": 2, "opacity": 0.6, "aria": False}
CELLS = {"type": "rect", "tooltip": True}


def quantity(name: str, title: str, **more: Any) -> Encoding:
    """A field of numbers on a scale."""
    return {"field": name, "type": "quantitative", "title": title, **more}


def step(name: str, title: str, **more: Any) -> Encoding:
    """A field of few whole numbers, each at a place of its own."""
    axis = {"labelAngle": 0, "labelOverlap": True}
    return {"field": name, "type": "ordinal", "title": title, "axis": axis, **more}


def name_of(name: str, title: str | None = None, order: Sequence[str] | None = None) -> Encoding:
    """A field of names; in the order given, or in that of the data."""
    sort = None if order is None else list(order)
    return {"field": name, "type": "nominal", "title": title, "sort": sort}


def offset(encoding: Encoding) -> Encoding:
    """The same names side by side within one place."""
    return {key: value for key, value in encoding.items() if key != "title"}


def low_high(interval: Sequence[float] | None) -> dict[str, float | None]:
    """The ends of an interval as fields of a row; null where it is undefined."""
    low, high = interval or (None, None)
    return {"low": low, "high": high}


def spec(rows: list[dict[str, Any]], mark: Any, **encoding: Encoding) -> dict[str, Any]:
    """One view of rows."""
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}
