"""Filters of the rows of a page: tabs, each with the number of its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpRequest

from hearth.shared.errors import InvalidInput

# Parameters that choose a place among the rows. The addresses of the tabs lack them, so that a
# filter starts at the first row.
PLACES = ("page", "task")


@dataclass(frozen=True, slots=True)
class Filter:
    """One tab. query: the query string of its address."""

    value: str
    label: str
    count: int
    is_current: bool
    query: str


def requested_filter(request: HttpRequest, name: str, values: Iterable[str]) -> str:
    """Return the value of a parameter of the address, or "" if it is missing.

    Raises `InvalidInput` if it is not one of the values.
    """
    value, known = request.GET.get(name, ""), list(filter(None, values))
    if value and value not in known:
        raise InvalidInput(f"The {name} must be one of {', '.join(known)}, not {value[:50]!r}.")
    return value


def filters(
    request: HttpRequest, name: str, choices: Iterable[tuple[str, str, int]]
) -> list[Filter]:
    """Return the tabs for the values of a parameter: (value, label, number of rows)."""
    current = request.GET.get(name, "")
    return [
        Filter(value, label, count, value == current, _query(request, name, value))
        for value, label, count in choices
    ]


def _query(request: HttpRequest, name: str, value: str) -> str:
    """Return the query string of the request with another value of the filter, or without it."""
    parameters = request.GET.copy()
    for other in (name, *PLACES):
        parameters.pop(other, None)
    if value:
        parameters[name] = value
    return parameters.urlencode()
