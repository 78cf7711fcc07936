"""A matrix of the values of pairs, such as the overlap of every two runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.lab.analyses.charts import BARS, CELLS, Chart, horizontal_labels, name_of, quantity
from evaluation.lab.analyses.tables import Row

# Number of columns of a matrix that fit on a phone, and maximum number of pairs in a list.
COLUMNS_ON_PHONE = 4
PAIRS_DRAWN = 30
PLURALS = {"run": "runs", "proxy": "proxies"}


def pair_charts(
    pairs: Sequence[Row], noun: str, name: str, key: str, title: str, format: str
) -> list[Chart]:
    """Return a matrix of the values of all pairs, or no chart if all values are undefined.

    On a phone, a list of the pairs with the highest values replaces a matrix that is too wide.
    Pairs with an undefined value are left out of both.

    pairs: rows with the two names as `names`, and the value, -1 to 1, at `key`; None if undefined.
    noun: the noun for the objects of a pair, a key of `PLURALS`. name: a noun for the value, such
    as "overlap", which the text of the chart uses; in lower case, it is the name of the chart.
    title: the title of the chart, which describes the value. format: the Vega-Lite format of the
    value.
    """
    defined = [pair for pair in pairs if pair[key] is not None]
    if not defined:
        return []
    names = list(dict.fromkeys(one for pair in defined for one in pair["names"]))
    wide = len(names) > COLUMNS_ON_PHONE
    chart = Chart(
        name.lower(),
        title,
        f"A matrix of the {PLURALS[noun]}; each cell is the {name} of two of them.",
        _matrix(defined, names, noun, key, title, format),
        narrow=_list_of_pairs(defined, key, title, format) if wide else None,
    )
    return [chart]


def _domain(pairs: Sequence[Row], key: str) -> list[float]:
    """Return the ends of the scale: 0 to 1, or from the lowest value if one is negative."""
    return [min(0, *(pair[key] for pair in pairs)), 1]


def _matrix(
    pairs: Sequence[Row], names: list[str], noun: str, key: str, title: str, format: str
) -> dict[str, Any]:
    """Return a square of cells that contain their numbers."""
    rows = [
        {noun: one, f"other {noun}": other, key: pair[key]}
        for pair in pairs
        for one, other in (pair["names"], pair["names"][::-1])
    ]
    low, high = domain = _domain(pairs, key)
    colours = quantity(key, title, scale={"scheme": "oranges", "domain": domain}, legend=None)
    dark = low + 0.6 * (high - low)
    text_colour = {
        "condition": {"test": f"datum['{key}'] > {dark}", "value": "white"},
        "value": "#25211c",
    }
    numbers = {"text": quantity(key, title, format=format), "color": text_colour}
    # Numbers need room, so a matrix of many names can be wider than the page.
    size = {"width": {"step": 44}, "autosize": "pad"} if len(names) > COLUMNS_ON_PHONE else {}
    return {
        "data": {"values": rows},
        "height": {"step": 40},
        **size,
        "encoding": {
            "x": {**name_of(noun, order=names), "axis": {"labelAngle": -30}},
            "y": name_of(f"other {noun}", order=names),
        },
        "layer": [
            {"mark": CELLS, "encoding": {"color": colours}},
            {"mark": {"type": "text"}, "encoding": numbers},
        ],
    }


def _list_of_pairs(pairs: Sequence[Row], key: str, title: str, format: str) -> dict[str, Any]:
    """Return a bar for each of the `PAIRS_DRAWN` highest values, below the two names."""
    ordered = sorted(pairs, key=lambda pair: -pair[key])[:PAIRS_DRAWN]
    # A number is written to the right of its bar. The right end of a negative bar is at 0.
    rows = [
        {"pair": " – ".join(pair["names"]), key: pair[key], "end": max(0, pair[key])}
        for pair in ordered
    ]
    # The title is above the chart, and as a title of the axis it would be too long for a phone.
    head = None if len(pairs) <= PAIRS_DRAWN else f"The {PAIRS_DRAWN} highest"
    axis, scale = {"format": format, "title": head}, {"domain": _domain(ordered, key)}
    value = quantity(key, title, axis=axis, scale=scale)
    number = {
        "x": {**value, "field": "end"},
        "text": quantity(key, title, format=format),
    }
    at_end = {"type": "text", "align": "left", "dx": 4, "aria": False}
    return {
        "data": {"values": rows},
        "height": {"step": 40},
        "encoding": {
            "x": value,
            "y": horizontal_labels("pair", [row["pair"] for row in rows], 1),
        },
        "layer": [
            {"mark": {**BARS, "height": 10}},
            {"mark": at_end, "encoding": number},
        ],
    }
