"""Charts as Vega-Lite specifications, and the pieces they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.lab.analyses.rows import cells_of
from evaluation.lab.analyses.tables import Row

Encoding = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Chart:
    """A Vega-Lite specification with its data. The page adds colours and fonts.

    text: the text alternative, which describes what the chart shows. narrow: the specification for
    a page that is too narrow for `spec`; None if `spec` fits every page.
    """

    name: str
    title: str
    text: str
    spec: dict[str, Any] = field(repr=False)
    narrow: dict[str, Any] | None = field(default=None, repr=False)


# Names of series that have the same colour in all charts. The kinds are keys of the colours in
# static/js/evaluation/lab/chart-specs.js.
ORIGINAL_POSITIVES, NEITHER_RUN = "Original positives", "neither"
BY_LABELS, WITH_LABELS, NEW_POSITIVES = "By the labels", "With the labels", "New positives"
SERIES_KINDS = {
    ORIGINAL_POSITIVES: "original",
    NEITHER_RUN: "original",
    BY_LABELS: "labels",
    WITH_LABELS: "labels",
    NEW_POSITIVES: "labels",
}

BARS = {"type": "bar", "tooltip": True}
LINES = {"type": "line", "point": True, "tooltip": True}
PATHS = {"type": "line", "point": {"size": 80}, "tooltip": True}
DOTS = {"type": "point", "size": 60, "tooltip": True}
# Hidden from screen readers, because the dot on each line carries the value.
RULES = {"type": "rule", "strokeWidth": 2, "opacity": 0.6, "aria": False}
CELLS = {"type": "rect", "tooltip": True}
# The band of an interval behind its line.
BAND = {"type": "area", "opacity": 0.25, "aria": False}


# The format of shares on an axis. Without it, Vega writes six decimals if there is only one value.
PERCENT = ".1~%"


def quantity(name: str, title: str, **more: Any) -> Encoding:
    """Return the encoding of numbers."""
    return {"field": name, "type": "quantitative", "title": title, **more}


def count(name: str, title: str, **more: Any) -> Encoding:
    """Return the encoding of counts on a logarithmic scale from 0 with a tick at each power of ten.

    By default, Vega writes ticks only at the upper end.
    """
    axis = {"values": [0, *(10**power for power in range(7))], "format": ",d"}
    return quantity(name, title, scale={"type": "symlog"}, axis=axis, **more)


def step(name: str, title: str, **more: Any) -> Encoding:
    """Return the encoding of a few whole numbers or names, each with its own position."""
    axis = {"labelAngle": 0, "labelOverlap": True}
    return {"field": name, "type": "ordinal", "title": title, "axis": axis, **more}


def name_of(name: str, title: str | None = None, order: Sequence[str] | None = None) -> Encoding:
    """Return the encoding of names, in the order of `order`, or else of the data."""
    sort = None if order is None else list(order)
    return {"field": name, "type": "nominal", "title": title, "sort": sort}


def horizontal_labels(name: str, order: Sequence[str], side_by_side: int) -> Encoding:
    """Return the encoding of long names, each above its `side_by_side` dots.

    Names beside the dots would leave no room for anything else on a phone.
    """
    axis = {
        "domain": False,
        "labelAlign": "left",
        "labelBaseline": "middle",
        "labelLimit": 300,
        # A dot takes 20 pixels. This offset moves a name from the middle of its dots to above the
        # first dot.
        "labelOffset": -10 * side_by_side - 6,
        "labelPadding": -6,
        "ticks": False,
    }
    scale = {"paddingInner": 0.4, "paddingOuter": 0.4}
    return {**name_of(name, order=order), "axis": axis, "scale": scale}


def offset(encoding: Encoding) -> Encoding:
    """Return the encoding for `xOffset` or `yOffset`, which puts the names side by side."""
    return {key: value for key, value in encoding.items() if key != "title"}


def low_high(interval: Sequence[float | None] | None) -> dict[str, float | None]:
    """Return the ends of an interval as fields of a row; null if it is undefined."""
    low, high = interval or (None, None)
    return {"low": low, "high": high}


def spans(
    rows: Sequence[Row], encoding: dict[str, Encoding], mark: Encoding = RULES
) -> list[dict[str, Any]]:
    """Return a list of one layer, which shows the intervals of the rows.

    The list is empty if all intervals are undefined, because Vega cannot scale them.
    """
    return (
        [{"mark": mark, "encoding": encoding}]
        if any(row["low"] is not None for row in rows)
        else []
    )


def spec(rows: Sequence[Row], mark: Encoding, **encoding: Encoding) -> dict[str, Any]:
    """Return one view of the rows."""
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}


def by_measure(
    rows: Sequence[Row], view: dict[str, Any], *, same_scale: bool = False
) -> dict[str, Any]:
    """Return a view for each measure, in the order of the rows, at most three side by side.

    same_scale: whether all views have the same horizontal axis.
    """
    measures = dict.fromkeys(row["measure"] for row in rows)
    own_scales = {} if same_scale else {"resolve": {"scale": {"x": "independent"}}}
    return {
        "data": {"values": rows},
        "facet": name_of("measure", order=list(measures)),
        "columns": 3,
        **own_scales,
        "spec": view,
    }


def dashed_lines(rows: Sequence[Row], dashes: Encoding, **encoding: Encoding) -> dict[str, Any]:
    """Return lines that are also distinguished by dashes.

    Their dots are a separate layer. Otherwise the legend of the dashes would show the dots,
    which are all alike.
    """
    legend = {"symbolType": "stroke", "symbolSize": 500, "symbolStrokeWidth": 2}
    return {
        "data": {"values": rows},
        "encoding": encoding,
        "layer": [
            {"mark": "line", "encoding": {"strokeDash": {**dashes, "legend": legend}}},
            {"mark": {"type": "point", "tooltip": True}},
        ],
    }


def dots(rows: Sequence[Row], place: str, at: Encoding, score: Encoding) -> dict[str, Any]:
    """Return a chart with a dot for the score of each row, on a line that shows its `interval`.

    place: the axis of the groups, x or y. at: the encoding of the groups. score: the encoding of
    the scores. The dots of several runs are side by side.
    """
    values = [{**row, **low_high(row["interval"])} for row in rows]
    along = "y" if place == "x" else "x"
    line = {along: {**score, "field": "low"}, f"{along}2": {"field": "high"}}
    run = name_of("run")
    return {
        "data": {"values": values},
        "encoding": {place: at, f"{place}Offset": offset(run), "color": run},
        "layer": [
            *spans(values, line),
            {"mark": {"type": "point", "tooltip": True}, "encoding": {along: score}},
        ],
    }


def data_of(rows: Sequence[Any]) -> list[Row]:
    """Return rows as the data of a chart."""
    return [row if isinstance(row, Mapping) else cells_of(row) for row in rows]


def melt(
    rows: Sequence[Any],
    keep: str,
    series: Mapping[str, str],
    value: str,
    into: str,
    intervals: Mapping[str, str] | None = None,
) -> list[Row]:
    """Return a row for each row and series.

    keep: the fields to copy, separated by spaces. series: the title of each field whose value
    becomes `value`; the title becomes `into`. intervals: the field of the interval of each field.
    """
    return [
        {
            **{name: row[name] for name in keep.split()},
            into: title,
            value: row[name],
            **(low_high(row[intervals[name]]) if intervals else {}),
        }
        for row in data_of(rows)
        for name, title in series.items()
    ]


def score_axis(name: str = "score", title: str = "Score", **more: Any) -> Encoding:
    """Return the encoding of scores, on a scale that need not begin at 0."""
    return quantity(name, title, axis={"format": PERCENT, **more}, scale={"zero": False})


def dots_by_measure(
    rows: Sequence[Row], x: Encoding, height: int = 26, **encoding: Encoding
) -> dict[str, Any]:
    """Return a view for each measure, with a dot for each row of a run, on its line if it has one.

    height: of a run, in pixels. encoding: that of dots and lines, such as the color.
    """
    size = {"width": 300, "height": {"step": height}}
    encoding = {"y": name_of("run"), **encoding}
    if "low" in rows[0]:
        return by_measure(rows, {**size, **dots_on_lines(rows, x, **encoding)})
    return by_measure(rows, {**size, "mark": DOTS, "encoding": {"x": x, **encoding}})


def dots_below_names(rows: Sequence[Row], x: Encoding, name: str, series: str) -> dict[str, Any]:
    """Return a dot for each row on a line from `low` to `high`, with the names above their dots.

    name, series: the fields of the names, and of the names of the dots that are side by side.
    """
    names, sides = ([*dict.fromkeys(row[field] for row in rows)] for field in (name, series))
    at, side = horizontal_labels(name, names, len(sides)), name_of(series, order=sides)
    mark = {"type": "point", "tooltip": True}
    drawn = dots_on_lines(rows, x, mark, y=at, yOffset=offset(side), color=side)
    return {"height": {"step": 20}, **drawn}


def bars(rows: Sequence[Any], x: Encoding, y: Encoding, group: Encoding) -> dict[str, Any]:
    """Return bars for the names of a group, side by side at each step of `x`."""
    return spec(data_of(rows), BARS, x=x, y=y, xOffset=offset(group), color=group)


def lines(rows: Sequence[Any], x: Encoding, y: Encoding, group: Encoding) -> dict[str, Any]:
    """Return a line for each name of a group."""
    return spec(data_of(rows), LINES, x=x, y=y, color=group)


def bands(
    rows: Sequence[Any], x: Encoding, y: Encoding, group: Encoding | None, interval: str
) -> dict[str, Any]:
    """Return a line for each name of a group, within the band of its interval.

    interval: the field of the interval.
    """
    values = [{**row, **low_high(row[interval])} for row in data_of(rows)]
    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    return {
        "data": {"values": values},
        "encoding": {"x": x, **({"color": group} if group else {})},
        "layer": [*spans(values, ends, BAND), {"mark": LINES, "encoding": {"y": y}}],
    }


def dots_on_lines(
    rows: Sequence[Row], x: Encoding, mark: Encoding = DOTS, **encoding: Encoding
) -> dict[str, Any]:
    """Return the layers of a dot for each row, on a line from `low` to `high`.

    encoding: what dots and lines have in common, such as y and color.
    """
    line = {"x": {**x, "field": "low"}, "x2": {"field": "high"}}
    return {
        "encoding": encoding,
        "layer": [*spans(rows, line), {"mark": mark, "encoding": {"x": x}}],
    }
