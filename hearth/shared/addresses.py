"""Lists of addresses, with one row for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.urls import URLPattern, path

# An address below the prefix, its view or class of views, and its name.
Row = tuple[str, Any] | tuple[str, Any, str]


def addresses(prefix: str, rows: Iterable[Row]) -> list[URLPattern]:
    """Return the addresses below a prefix. The order of rows is that in which Django tries them.

    The name of an address is by default that of its view, with hyphens.
    """
    return [_address(prefix + route, view, *name) for route, view, *name in rows]


def _address(route: str, view: Any, name: str = "") -> Any:
    handler = view.as_view() if hasattr(view, "as_view") else view
    return path(route, handler, name=name or handler.__name__.replace("_", "-"))
