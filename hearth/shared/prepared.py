"""Database queries that are compiled once per connection and then run many times.

Django builds the SQL of a query each time. This takes a large part of the time of storing an
annotator's answer (decision 23). A prepared query has `Given("name")` in place of its values:

    video_by_key = Prepared(lambda: Video.objects.filter(key=Given("key")))
    video = video_by_key.first(key="v7")

A connection belongs to one thread, so no two threads share a compiled query. PostgreSQL plans a
query once per connection, too (PREPARE), unless connections are pooled: planning the lock of a task
with all that belongs to it takes three times as long as finding its row.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Expression, QuerySet
from django.db.models.sql import UpdateQuery

_waiting: ContextVar[list[tuple[str, list[Any]]] | None] = ContextVar("waiting", default=None)


class Given(Expression):
    """A value that each call passes by name: a number, text or time, or None in an UPDATE."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]


@contextmanager
def sent_together() -> Iterator[None]:
    """Send the updates of this block at its end, on PostgreSQL as one message to the server.

    Use it in a transaction, and only for updates whose results the block does not read.
    """
    token = _waiting.set([])
    try:
        yield
        statements = _waiting.get()
    finally:
        _waiting.reset(token)
    _execute(statements or [])


def _once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls this one only the first time, and then returns the same."""
    found: list[Any] = []

    def first_result(*arguments: Any) -> Any:
        if not found:
            found.append(function(*arguments))
        return found[0]

    return first_result


def _execute(statements: list[tuple[str, list[Any]]]) -> int:
    """Execute the statements, and return the number of rows of the last one."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor == "postgresql" and len(statements) > 1:
        sql = "; ".join(sql for sql, _ in statements)
        statements = [(sql, [value for _, params in statements for value in params])]
    with connection.cursor() as cursor:
        for sql, params in statements:
            cursor.execute(sql, params)
        return int(cursor.rowcount)


def _adapted(value: Any, connection: Any) -> Any:
    """Return a value as Django stores it. SQLite stores times in UTC, without the offset."""
    if isinstance(value, datetime.datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return value


class Prepared:
    """A SELECT of the queryset that `build` returns.

    If there are `columns`, it is an UPDATE of the rows of the queryset.
    """

    def __init__(self, build: Callable[[], QuerySet[Any, Any]], **columns: Any) -> None:
        self.build, self.columns = build, columns

    def all(self, **values: Any) -> list[Any]:
        (queryset, compiler), rows = self._run(values)
        # The compiler reads these rows instead of a cursor's.
        compiler.execute_sql = lambda *_, **__: [rows]
        return list(queryset._iterable_class(queryset))

    def first(self, **values: Any) -> Any | None:
        return next(iter(self.all(**values)), None)

    def update(self, **values: Any) -> int | None:
        """Update the rows and return their number.

        In a block of `sent_together`, the statement waits for the end, and the number is unknown.
        """
        connection: Any = connections[DEFAULT_DB_ALIAS]
        # The first cursor of a request opens a lost connection again.
        with connection.cursor():
            statement = self._statement(values, connection)[1:]
        waiting = _waiting.get()
        if waiting is None:
            return _execute([statement])
        waiting.append(statement)
        return None

    def _run(self, values: dict[str, Any]) -> tuple[Any, list[Any]]:
        connection: Any = connections[DEFAULT_DB_ALIAS]
        with connection.cursor() as cursor:
            reader, sql, params = self._statement(values, connection)
            cursor.execute(sql, params)
            return reader, cursor.fetchall()

    def _statement(self, values: dict[str, Any], connection: Any) -> tuple[Any, str, list[Any]]:
        """Return the reader of the rows, the SQL and its parameters. The connection is open."""
        compiled = connection.__dict__.setdefault("_hearth_prepared", {})
        if self not in compiled:
            compiled[self] = self._compile(connection)
        reader, sql, params = compiled[self]
        if connection.vendor == "postgresql" and not settings.DATABASE_POOLED:
            sql, params = self._planned(connection, sql, params)
        given = [values[p.name] if isinstance(p, Given) else p for p in params]
        return reader, sql, [_adapted(value, connection) for value in given]

    def _planned(self, connection: Any, sql: str, params: Sequence[Any]) -> tuple[str, list[Given]]:
        """Return the SQL that executes the query by its name on the server, and its parameters."""
        link, names = connection.__dict__.get("_hearth_planned", (None, {}))
        if link is not connection.connection:
            # Names belong to one connection with the server. Django's object outlives it.
            link, names = connection.connection, {}
            connection.__dict__["_hearth_planned"] = link, names
        if self not in names:
            # Without Django's cursor, so that the number of database queries stays the same.
            with connection.wrap_database_errors, link.cursor() as cursor:
                numbers = count(1)
                places = [
                    f"${next(numbers)}"
                    if isinstance(param, Given)
                    else cursor.mogrify("%s", [param]).decode()
                    for param in params
                ]
                cursor.execute(f"PREPARE hearth_{len(names)} AS {sql % tuple(places)}")
            names[self] = f"hearth_{len(names)}"
        given = [param for param in params if isinstance(param, Given)]
        values = f" ({', '.join(['%s'] * len(given))})" if given else ""
        return f"EXECUTE {names[self]}{values}", given

    def _compile(self, connection: Any) -> tuple[Any, str, Any]:
        queryset: Any = self.build()
        query = queryset.query.chain(UpdateQuery) if self.columns else queryset.query
        if self.columns:
            query.add_update_values(self.columns)
        compiler = query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        queryset.query.get_compiler = lambda *_, **__: compiler
        # These depend only on the columns, and Django computes them for each execution.
        compiler.get_converters = _once(compiler.get_converters)
        compiler.has_composite_fields = _once(compiler.has_composite_fields)
        return (queryset, compiler), sql, params
