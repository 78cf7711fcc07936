"""Read and write whole columns of the database as numpy arrays.

A loop of saves writes about a thousand rows per second. `copy_columns` writes several hundred
thousand, by COPY on PostgreSQL and by one INSERT for many rows on SQLite. Signals, `save()` and
`auto_now` do not run, so constraints in the database must guard the rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, groupby, islice
from types import NoneType
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from django.db import connection, models, transaction

from hearth.shared.arrays import sorted_once
from hearth.shared.copy_postgresql import (
    Field,
    copy_columns_out,
    copy_rows,
    names_of,
    quoted_table,
    references_checked_together,
)

IntArray = npt.NDArray[np.int64]
Column = Any  # a numpy array, a sequence of Python values, or one value for every row
Cells: TypeAlias = "npt.NDArray[Any] | Sequence[Any]"

# The number of rows in each piece of a read, which limits the memory to a few megabytes.
ROWS_PER_PIECE = 50_000
ROWS_WORTH_ANALYSING = 1_000
SETTINGS_OF_LONG_TRANSACTIONS = {
    "postgresql": (
        "SET LOCAL statement_timeout = 0",
        "SET LOCAL lock_timeout = 0",
        "SET LOCAL idle_in_transaction_session_timeout = 0",
    ),
    "sqlite": ("PRAGMA cache_size = -262144",),  # in KiB
}
ROWS_PER_INSERT = 8_000
# The number of rows whose Python values are in memory at the same time.
ROWS_PER_COPY = 500_000


@contextmanager
def long_transaction() -> Iterator[None]:
    """Open a transaction without the time limits that apply to requests.

    On SQLite, the connection gets a larger cache until it is closed, because changed pages that do
    not fit into the cache are written several times.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            for setting in SETTINGS_OF_LONG_TRANSACTIONS[connection.vendor]:
                cursor.execute(setting)
        yield


def lock_row(row: models.Model) -> None:
    """Lock a row until the end of the transaction, after waiting for other locks on it.

    Other transactions can still create rows that refer to it. SQLite has only one writer anyway.
    """
    type(row)._base_manager.select_for_update(no_key=True).get(pk=row.pk)


@contextmanager
def snapshot() -> Iterator[None]:
    """Let several reads see the same state of the database while others write."""
    with _deferred_on_sqlite(), long_transaction():
        if connection.vendor == "postgresql" and len(connection.savepoint_ids) == 0:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


@contextmanager
def _deferred_on_sqlite() -> Iterator[None]:
    """Let transactions on SQLite take no lock until they write."""
    if connection.vendor != "sqlite":
        yield
        return
    sqlite: Any = connection
    sqlite.ensure_connection()  # sets the mode
    mode = sqlite.transaction_mode
    sqlite.transaction_mode = "DEFERRED"
    try:
        yield
    finally:
        sqlite.transaction_mode = mode


@contextmanager
def by_index() -> Iterator[None]:
    """Read through indexes, even if PostgreSQL estimates that reading the whole table is faster.

    PostgreSQL overestimates the cost of looking up many keys in an index that is in memory.
    """
    with _planned_without("enable_seqscan"):
        yield


@contextmanager
def in_key_order() -> Iterator[None]:
    """Join tables in the order of their keys, even if PostgreSQL prefers to hash one of them.

    PostgreSQL overestimates the cost of reading a table in the order of an index. Hashed tables
    that exceed `work_mem` are written to files.
    """
    with _planned_without("enable_hashjoin"):
        yield


@contextmanager
def _planned_without(method: str) -> Iterator[None]:
    """Let PostgreSQL plan database queries without a method, such as hash joins.

    method: the name of PostgreSQL's setting that allows the method.
    """
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL {method} = off")
        yield
        cursor.execute(f"SET LOCAL {method} = on")


def reserve_ids(model: type[models.Model], count: int) -> IntArray:
    """Return `count` unused primary keys of `model`, ascending, int64 [count].

    Call it inside the transaction that writes the rows. On SQLite no other transaction can write in
    the meantime. On PostgreSQL the sequence never returns a number twice.
    """
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # The inner query looks the sequence up once, and not for each number. The smallest
            # number is enough unless the numbers have gaps. They have gaps if another transaction
            # drew numbers at the same time. Then all numbers are returned.
            cursor.execute(
                "SELECT min(id), CASE WHEN max(id) - min(id) >= count(*) THEN array_agg(id) END "
                "FROM (SELECT nextval((SELECT pg_get_serial_sequence(%s, %s)::regclass)) AS id "
                "FROM generate_series(1, %s)) AS numbers",
                [table, "id", count],
            )
            smallest, numbers = cursor.fetchone()
        else:
            cursor.execute("SELECT seq + 1 FROM sqlite_sequence WHERE name = %s", [table])
            smallest, numbers = (cursor.fetchone() or (1,))[0], None
    if numbers is not None:
        return np.sort(np.array(numbers, np.int64))
    return np.arange(count, dtype=np.int64) + (smallest or 0)


def copy_columns(model: type[models.Model], columns: Mapping[str, Column]) -> int:
    """Insert rows from columns; return the number of rows.

    `columns` maps field names (for a foreign key its attribute, such as `query_id`) to an array, a
    sequence, or one value for all rows. Values are NULL where a masked array is masked, and where a
    sequence has None. Other fields take their default. Raises `ValueError` if the columns differ in
    length.
    """
    return copy_parts(model, [columns])


def copy_parts(model: type[models.Model], parts: Iterable[Mapping[str, Column]]) -> int:
    """Insert rows as `copy_columns` does, part by part, so that only one part is in memory."""
    count = sum(_copy(model, columns) for columns in parts)
    if connection.vendor == "postgresql" and count >= ROWS_WORTH_ANALYSING:
        _analyse_postgresql(model._meta.db_table)
    return count


def _copy(model: type[models.Model], columns: Mapping[str, Column]) -> int:
    lengths = {len(column) for column in columns.values() if _is_column(column)}
    if len(lengths) != 1:
        raise ValueError(f"columns of different length: {sorted(lengths)}")
    (count,) = lengths
    if count == 0:
        return 0
    fields = _fields_to_write(model, columns)
    constant = {field: value for field in fields for value in _value_of_all(field, columns)}
    varying = [field for field in fields if field not in constant]
    # Rows are written in pieces, because Python values need ten times the memory of arrays.
    pieces = (
        _cells_of_columns(varying, columns, range(start, min(start + ROWS_PER_COPY, count)))
        for start in range(0, count, ROWS_PER_COPY)
    )
    if connection.vendor == "postgresql":
        with references_checked_together(model, count, lambda field: _keys(field, columns)):
            for cells in pieces:
                copy_rows(model, constant, cells)
    else:
        for cells in pieces:
            _insert_sqlite(model, constant, cells)
    return count


def _keys(field: Field, columns: Mapping[str, Column]) -> npt.NDArray[Any]:
    """Return the distinct values of a field in the rows, ascending, without NULL."""
    column = columns.get(field.attname, field.get_default())
    if isinstance(column, np.ndarray):
        return sorted_once(np.ma.compressed(column))
    return np.array(sorted(set(column if _is_column(column) else [column]) - {None}), object)


def _cells_of_columns(
    fields: list[Field], columns: Mapping[str, Column], rows: range
) -> dict[Field, Cells]:
    """Return the values of some rows.

    If several columns have the same array, they share their cells, so that the values are sent to
    SQLite only once.
    """
    of_array: dict[int, Cells] = {}
    cells: dict[Field, Cells] = {}
    for field in fields:
        column = columns.get(field.attname)
        if isinstance(column, np.ndarray):
            cells[field] = of_array.setdefault(id(column), _cells(field, columns, rows))
        else:
            cells[field] = _cells(field, columns, rows)
    return cells


class Among(models.Func):
    """A condition that a column has one of many integers: `rows.filter(Among("task_id", ids))`.

    All integers are passed as one parameter. With `__in`, each integer would be a parameter.
    Thousands of parameters are slow, and databases limit their number.
    """

    output_field = models.BooleanField()
    function = None

    def __init__(self, column: str, numbers: IntArray) -> None:
        super().__init__(models.F(column))
        self.numbers = numbers

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> Any:
        column, params = compiler.compile(self.source_expressions[0])
        if connection.vendor == "postgresql":
            listed = ",".join(map(str, self.numbers.tolist()))
            return f"{column} = ANY(%s::bigint[])", [*params, f"{{{listed}}}"]
        listed = json.dumps(self.numbers.tolist())
        return f"{column} IN (SELECT value FROM JSON_EACH(%s))", [*params, listed]  # noqa: S608


class WholeSeconds(models.Func):
    """A time as integer seconds since 1970 (UTC), for `read_columns`."""

    output_field = models.BigIntegerField()
    template = "CAST(FLOOR(EXTRACT(EPOCH FROM %(expressions)s)) AS BIGINT)"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # The % is escaped twice: for the template and for the parameters.
        context["template"] = "CAST(STRFTIME('%%%%s', %(expressions)s) AS BIGINT)"
        return self.as_sql(compiler, connection, **context)


class WholeThousandths(models.Func):
    """A number in thousandths, rounded down, such as milliseconds; -1 for NULL."""

    output_field = models.BigIntegerField()
    template = "COALESCE(CAST(FLOOR(%(expressions)s * 1000) AS BIGINT), -1)"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # Not every SQLite has FLOOR. For numbers from 0, CAST rounds down as well.
        context["template"] = "COALESCE(CAST(%(expressions)s * 1000 AS BIGINT), -1)"
        return self.as_sql(compiler, connection, **context)


def read_columns(queryset: models.QuerySet[Any], *names: str) -> tuple[IntArray, ...]:
    """Return integer columns of a queryset as int64 arrays. No column may contain NULL."""
    sql, params = queryset.values_list(*names).query.sql_with_params()
    width = len(names)
    if connection.vendor == "postgresql":
        return copy_columns_out(sql, params, width)
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        # Each piece becomes a flat array, because a list of tuples would need ten times the memory.
        pieces = [
            np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * width)
            for rows in iter(lambda: cursor.fetchmany(ROWS_PER_PIECE), [])
        ] or [np.empty(0, np.int64)]
    return tuple(np.concatenate([piece[at::width] for piece in pieces]) for at in range(width))


def _is_column(value: Column) -> bool:
    return isinstance(value, np.ndarray) or (
        isinstance(value, Sequence) and not isinstance(value, str | bytes)
    )


def _fields_to_write(model: type[models.Model], columns: Mapping[str, Column]) -> list[Field]:
    fields = model._meta.concrete_fields
    unknown = set(columns) - {field.attname for field in fields}
    if unknown:
        raise ValueError(f"{model.__name__} has no columns {sorted(unknown)}")
    return [field for field in fields if not field.primary_key or field.attname in columns]


def _value_of_all(field: Field, columns: Mapping[str, Column]) -> list[Any]:
    """Return the value that all rows have in this field, as a list; empty if values can differ."""
    if field.attname in columns:
        column = columns[field.attname]
        return [] if _is_column(column) else [_prepared(field, column)]
    return [] if _has_default_of_each_row(field) else [_prepared(field, field.get_default())]


def _cells(field: Field, columns: Mapping[str, Column], rows: range) -> Cells:
    if field.attname not in columns:
        return [_prepared(field, field.get_default()) for _ in rows]
    values = columns[field.attname][rows.start : rows.stop]
    if isinstance(values, np.ndarray) or _are_prepared(field, values):
        return cast("Cells", values)
    return [_prepared(field, value) for value in values]


def _has_default_of_each_row(field: Field) -> bool:
    """Return whether the default is computed, and may differ between rows."""
    return field.has_default() and callable(field.default) and field.default not in (list, dict)


def _are_prepared(field: Field, values: Sequence[Any]) -> bool:
    """Return whether the database accepts all values without conversion. This check is fast."""
    if isinstance(field, models.CharField | models.TextField):
        return set(map(type, values)) <= {str, NoneType}
    return isinstance(field, models.IntegerField) and set(map(type, values)) <= {int, NoneType}


def _prepared(field: Field, value: Any) -> Any:
    if value is None or isinstance(field, models.BinaryField):
        return value
    return field.get_db_prep_save(value, connection)


def _insert_sqlite(
    model: type[models.Model], constant: dict[Field, Any], cells: dict[Field, Cells]
) -> None:
    """Insert many rows with each statement, which takes half the time of single rows."""
    names = names_of([*constant, *cells])
    lists = {id(column): _as_list(column) for column in cells.values()}
    places = {key: f"column{place}" for place, key in enumerate(lists, start=1)}
    values = ", ".join(["%s"] * len(constant) + [places[id(column)] for column in cells.values()])
    row = f"({', '.join(['%s'] * len(lists))})"
    insert = f"INSERT INTO {quoted_table(model)} ({names}) SELECT {values} FROM "  # noqa: S608 - names come from the model
    rows = zip(*lists.values(), strict=True)
    with connection.cursor() as cursor:
        max_values = cursor.connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)
        max_rows = min(ROWS_PER_INSERT, (max_values - len(constant)) // len(lists))
        statements = iter(lambda: list(islice(rows, max_rows)), [])
        for n_rows, same_size in groupby(statements, len):
            sql = f"{insert} (VALUES {', '.join([row] * n_rows)})"
            cursor.executemany(sql, [[*constant.values(), *chain(*part)] for part in same_size])


def _as_list(cells: Cells) -> Sequence[Any]:
    if isinstance(cells, np.ndarray):
        listed: list[Any] = cells.tolist()  # None where it is masked
        return listed
    return cells


def _analyse_postgresql(table: str) -> None:
    """Update the planner's statistics after many new rows.

    Otherwise, until the next autovacuum, the planner assumes a small table and scans all of it. A
    claim of tasks then takes a second instead of milliseconds.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {connection.ops.quote_name(table)}")
