"""Rows that many tests begin with: made once by services, and then written again as they were.

Services take a tenth of a second for a benchmark with runs, labels and scores. Writing the same
rows again takes a tenth of that. Each test still begins with an empty database and is rolled back.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar

from django.apps import apps
from django.db import IntegrityError, connection, models, transaction

from tests.conftest import KEPT_TABLES

# Rows that are older are made again, because services compare their times with the present.
SECONDS = 60

Made = TypeVar("Made", bound=models.Model)
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Kept:
    """What a call has made: the rows by table, the returned object, and the time of the call."""

    rows: dict[str, list[Row]]
    made: models.Model
    at: float


def replayed(make: Callable[[Path], Made]) -> Callable[[Path], Made]:
    """Let a function write the rows of its last call again, and return the same object.

    The function gets an empty folder and returns one object. It must change only the database and
    uploaded files, and must not create secrets.
    """
    last: Kept | None = None

    @functools.wraps(make)
    def again(folder: Path) -> Made:
        nonlocal last
        if last and time.monotonic() - last.at < SECONDS and write(last.rows):
            return type(last.made)._base_manager.get(pk=last.made.pk)
        before = {table: set(rows) for table, rows in all_rows().items()}
        made = make(folder)
        after = all_rows()
        rows = {
            table: [row for row in found if row not in before[table]]
            for table, found in after.items()
        }
        changes_others = any(before[table].difference(after[table]) for table in before)
        last = None if changes_others else Kept(rows, made, time.monotonic())
        return made

    return again


def all_rows() -> dict[str, list[Row]]:
    """Return the rows of all tables that a test can write to."""
    tables = {
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed
    }
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(tables - KEPT_TABLES):
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608
            found[table] = [tuple(map(as_parameter, row)) for row in cursor.fetchall()]
    return found


def as_parameter(value: Any) -> Any:
    if isinstance(value, memoryview):
        return bytes(value)
    is_stored_as_text = connection.vendor == "sqlite" and isinstance(value, datetime | date)
    return str(value) if is_stored_as_text else value


def write(rows: dict[str, list[Row]]) -> bool:
    """Write rows. Write none and return False if a primary key or other unique value is in use."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            for table, made in rows.items():
                if made:
                    one = f"({', '.join(['%s'] * len(made[0]))})"
                    values = ", ".join([one] * len(made))
                    statement = f'INSERT INTO "{table}" VALUES {values}'  # noqa: S608
                    cursor.execute(statement, [value for row in made for value in row])
    except IntegrityError:
        return False
    return True
