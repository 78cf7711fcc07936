"""All addresses of the site, and snapshots of all rows."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import apps
from django.db import connection
from django.urls import URLPattern, URLResolver, get_resolver

NOT_THERE = {"int": "999999", "uuid": str(uuid.UUID(int=1)), "str": "nothing", "path": "nothing"}
# Regular expressions of allauth and of the Django admin, and a text that each matches.
PARTS = {
    r"(?P<app_label>auth|accounts|jobs|pooling|annotation|evaluation)/": "pooling/",
    r"(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/": "1-nothing/",
    r"(?P<key>[-:\w]+)/": "nothing/",
    r"(?P<url>.*)$": "nothing",
}
PLACEHOLDER = re.compile(r"<(?:(\w+):)?\w+>")

# The rows of these tables change with each request.
UNSTABLE = {"sessions.session"}


def addresses() -> dict[str, str]:
    """Return an address for each URL pattern, by the pattern. The objects in it do not exist."""
    return {route: _address(route) for route in _routes(get_resolver().url_patterns)}


def _routes(patterns: Iterable[URLPattern | URLResolver], prefix: str = "/") -> Iterator[str]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        else:
            yield route


def _address(route: str) -> str:
    for part, text in PARTS.items():
        route = route.replace(part, text)
    route = re.sub(r"\(\?P<app_label>[^)]*\)", "pooling", route)
    route = PLACEHOLDER.sub(lambda found: NOT_THERE[found[1] or "str"], route)
    return route.replace("^", "").replace("$", "").replace("\\Z", "").replace("/?", "/")


Row = dict[str, Any]
Snapshot = dict[tuple[str, Any], Row]


def snapshot() -> Snapshot:
    """Return all rows of all tables except `UNSTABLE`, by table and primary key.

    The values are those of the database driver, because converting them takes most of the time.
    """
    rows: Snapshot = {}
    for model in apps.get_models():
        meta = model._meta
        if meta.managed and not meta.proxy and meta.label_lower not in UNSTABLE:
            columns = [field.column for field in meta.concrete_fields]
            with connection.cursor() as cursor:
                selected = ", ".join(f'"{column}"' for column in columns)
                cursor.execute(f'SELECT {selected} FROM "{meta.db_table}"')  # noqa: S608
                for values in cursor:
                    row = dict(zip(columns, map(_as_bytes, values), strict=True))
                    rows[meta.label_lower, row[meta.pk.column]] = row
    return rows


def _as_bytes(value: Any) -> Any:
    """Return a value that can be compared. psycopg2 returns bytes as `memoryview`."""
    return bytes(value) if isinstance(value, memoryview) else value


def changes(before: Snapshot, after: Snapshot) -> list[tuple[str, Row]]:
    """Return the rows that were added or changed, with their tables, sorted by table.

    For each removed row, the result contains the table with “removed”, and an empty row.
    """
    changed = [(key[0], row) for key, row in after.items() if before.get(key) != row]
    removed = [(f"{key[0]} removed", {}) for key in before if key not in after]
    return sorted(changed + removed, key=lambda entry: entry[0])
