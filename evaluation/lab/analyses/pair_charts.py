"""A matrix of the values of pairs, such as the overlap of every two runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.lab.analyses.charts import BARS, CELLS, Chart, horizontal_labels, name_of, quantity
from evaluation.lab.analyses.results import Row

# Number of columns of a matrix that fit on a phone, and maximum number of pairs in a list.
COLUMNS_ON_PHONE = 4
PAIRS_DRAWN = 30
PLURALS = {"run": "runs", "proxy": "proxies"}


def pair_chart(
    pairs: Sequence[Row], noun: str, name: str, key: str, title: str, format: str
) -> Chart:
    """Return a matrix of all names. If it is too wide for a phone, there is a list of the pairs.

    pairs: rows with the two names as `names`, and the value, 0 to 1, at `key`. noun: for what has
    the names, a key of `PLURALS`. name: for the value.
    """
    names = list(dict.fromkeys(one for pair in pairs for one in pair["names"]))
    return Chart(
        name.lower(),
        title,
        f"A matrix of the {PLURALS[noun]}; each cell is the {name} of two of them.",
        _matrix(pairs, names, noun, key, title, format),
        narrow=_list_of_pairs(pairs, key, title, format) if len(names) > COLUMNS_ON_PHONE else None,
    )


def _matrix(
    pairs: Sequence[Row], names: list[str], noun: str, key: str, title: str, format: str
) -> dict[str, Any]:
    """Return a square of cells that contain their numbers."""
    rows = [
        {noun: one, f"other {noun}": other, key: pair[key]}
        for pair in pairs
        for one, other in (pair["names"], pair["names"][::-1])
    ]
    colours = quantity(key, title, scale={"scheme": "oranges", "domain": [0, 1]}, legend=None)
    text_colour = {
        "condition": {"test": f"datum['{key}'] > 0.6", "value": "white"},
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
    """Return a bar for each pair, the highest first, below the two names."""
    ordered = sorted(pairs, key=lambda pair: -(pair[key] or 0))[:PAIRS_DRAWN]
    rows = [{"pair": " – ".join(pair["names"]), key: pair[key]} for pair in ordered]
    # The title is above the chart, and as a title of the axis it would be too long for a phone.
    head = None if len(pairs) <= PAIRS_DRAWN else f"The {PAIRS_DRAWN} highest"
    value = quantity(key, title, axis={"format": format, "title": head}, scale={"domain": [0, 1]})
    number = {"text": quantity(key, title, format=format)}
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
