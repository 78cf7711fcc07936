"""Tables that are sorted by a click on a head, without a script."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from config.shared.errors import InvalidInput
from evaluation.scores.tables import Column

Row = TypeVar("Row")


def asked_sort(sort: str, columns: Mapping[str, str], default: str) -> str:
    """The name of a column, with a minus sign in front for the other way round."""
    if sort.removeprefix("-") not in {*columns, ""}:
        raise InvalidInput(f"the order is one of {', '.join(columns)}, not {sort[:50]!r}")
    return sort if sort.removeprefix("-") else default


def heads(columns: Mapping[str, str], sort: str, *, texts: Collection[str]) -> list[Column]:
    """The heads, each with what a click on it sorts by: first the highest, of `texts` from A."""
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    return [
        Column(
            key=name,
            title=title,
            next_sort=(name if descending else f"-{name}")
            if name == key
            else (name if name in texts else f"-{name}"),
            order=("descending" if descending else "ascending") if name == key else "",
        )
        for name, title in columns.items()
    ]


def in_order(rows: Sequence[Row], sort: str, value: Callable[[Row, str], Any]) -> list[Row]:
    """Sorted by a column; what is equal stays in its order, what has no value (None) comes last in
    either direction."""
    key = sort.removeprefix("-")
    values = [(value(row, key), row) for row in rows]
    known = [pair for pair in values if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=sort.startswith("-"))
    return [row for _, row in known] + [row for given, row in values if given is None]
