"""Queries that are compiled once and run many times with other values.

Django builds the SQL of a query anew each time, which takes the web process longer than the
database needs to answer. Where people wait at every key press, a query is written as any other,
with `Given("name")` in place of its values, and compiled at its first use:

    video_by_key = PreparedRead(lambda: Video.objects.filter(key=Given("key")))
    video = video_by_key.first(key="v7")

Compiled once per connection: a connection belongs to one thread and speaks one dialect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models import Expression, Field, QuerySet
from django.db.models.sql import UpdateQuery

Row = TypeVar("Row", bound=models.Model)


class Given(Expression):
    """A value that is known when the query is run; `field` prepares it for the database."""

    def __init__(self, name: str, field: Field[Any, Any] | None = None) -> None:
        super().__init__(output_field=field)
        self.name = name
        self.stored_as = field

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]

    def value_in(self, values: dict[str, Any], connection: Any) -> Any:
        value = values[self.name]
        return (
            value if self.stored_as is None else self.stored_as.get_db_prep_save(value, connection)
        )


class _Prepared:
    """A query, compiled for each connection that has run it."""

    def _compile(self, connection: Any) -> tuple[Any, str, list[Any]]:
        """What to read results with, the SQL, and its parameters with `Given` among them."""
        raise NotImplementedError

    def _execute(self, cursor: Any, connection: Any, values: dict[str, Any]) -> Any:
        known = connection.__dict__.setdefault("_hearth_prepared", {})
        if self not in known:
            known[self] = self._compile(connection)
        reader, sql, params = known[self]
        cursor.execute(
            sql,
            [one.value_in(values, connection) if isinstance(one, Given) else one for one in params],
        )
        return reader


class PreparedRead(_Prepared, Generic[Row]):
    """A SELECT. `build` makes the queryset; it may select related rows, values, and lock."""

    def __init__(self, build: Callable[[], QuerySet[Row, Any]]) -> None:
        self.build = build

    def all(self, **values: Any) -> list[Any]:
        """The rows: instances, or tuples where the queryset gives those."""
        connection = connections[DEFAULT_DB_ALIAS]
        with connection.cursor() as cursor:
            queryset, compiler = self._execute(cursor, connection, values)
            rows = cursor.fetchall()
        # Both are this thread's own: what reads the rows is handed them instead of a cursor.
        compiler.execute_sql = lambda *_, **__: [rows]
        return list(queryset._iterable_class(queryset))

    def first(self, **values: Any) -> Any | None:
        found = self.all(**values)
        return found[0] if found else None

    def _compile(self, connection: Any) -> tuple[Any, str, list[Any]]:
        queryset = self.build()
        compiler = queryset.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        queryset.query.get_compiler = lambda *_, **__: compiler  # type: ignore[method-assign]
        return (queryset, compiler), sql, list(params)


class PreparedUpdate(_Prepared):
    """An UPDATE of the rows of `build`, setting columns to expressions or `Given` values."""

    def __init__(self, build: Callable[[], QuerySet[Any]], **columns: Any) -> None:
        self.build = build
        self.columns = columns

    def run(self, **values: Any) -> int:
        """Returns how many rows were changed."""
        connection = connections[DEFAULT_DB_ALIAS]
        with connection.cursor() as cursor:
            self._execute(cursor, connection, values)
            return int(cursor.rowcount)

    def _compile(self, connection: Any) -> tuple[Any, str, list[Any]]:
        query: Any = self.build().query.chain(UpdateQuery)
        query.add_update_values(self.columns)
        sql, params = query.get_compiler(connection=connection).as_sql()
        return None, sql, list(params)


class PreparedInsert(_Prepared, Generic[Row]):
    """An INSERT of one row with all columns of the model but its key.

    Values not given take the field's default. Signals and `save()` do not run.
    """

    def __init__(self, model: type[Row]) -> None:
        self.model = model
        self.fields = [field for field in model._meta.concrete_fields if not field.primary_key]

    def run(self, **values: Any) -> Row:
        """The stored instance, with its key."""
        instance = self.model(**values)
        connection = connections[DEFAULT_DB_ALIAS]
        cells = {field.attname: field.pre_save(instance, add=True) for field in self.fields}
        with connection.cursor() as cursor:
            self._execute(cursor, connection, cells)
            ((instance.pk,),) = cursor.fetchall()
        instance._state.adding, instance._state.db = False, connection.alias
        return instance

    def _compile(self, connection: Any) -> tuple[Any, str, list[Any]]:
        table = connection.ops.quote_name(self.model._meta.db_table)
        names = ", ".join(connection.ops.quote_name(str(field.column)) for field in self.fields)
        marks = ", ".join(["%s"] * len(self.fields))
        key = connection.ops.quote_name(str(self.model._meta.pk.column))
        # Names are the model's own.
        sql = f"INSERT INTO {table} ({names}) VALUES ({marks}) RETURNING {key}"  # noqa: S608
        return None, sql, [Given(field.attname, field) for field in self.fields]
