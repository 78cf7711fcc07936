"""Write many rows and read whole columns with COPY on PostgreSQL.

The foreign keys of the written rows can be checked together instead of row by row.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from django.db import IntegrityError, connection, models

from hearth.shared import copy_binary

Field: TypeAlias = "models.Field[Any, Any]"
ForeignKey: TypeAlias = "models.ForeignKey[Any, Any]"

ROWS_WORTH_CHECKING_TOGETHER = 1_000
# The number of keys in one check, which limits its text to a few megabytes.
KEYS_PER_CHECK = 500_000
# The first version of PostgreSQL that can give a role the right to set one parameter.
FIRST_WITH_RIGHTS_OF_PARAMETERS = 15_00_00
# Bit 2 of the type of a trigger stands for INSERT. The triggers of foreign keys are internal.
MAY_CHECK_TOGETHER = """
    SELECT has_parameter_privilege('session_replication_role', 'SET') AND NOT EXISTS (
        SELECT FROM pg_trigger
        WHERE tgrelid = quote_ident(%s)::regclass AND NOT tgisinternal AND tgtype & 4 > 0)"""


def copy_rows(
    model: type[models.Model], constant: Mapping[Field, Any], values: Mapping[Field, Any]
) -> None:
    """Write rows. constant: the fields with one value. values: arrays and lists of values."""
    # Errors are wrapped, as Django does for its own methods.
    with connection.cursor() as cursor, connection.wrap_database_errors:
        constants = [_column(cursor, field, [value]) for field, value in constant.items()]
        columns = {field: _column(cursor, field, column) for field, column in values.items()}
        ordered = sorted(columns, key=lambda field: not copy_binary.is_of_one_size(columns[field]))
        names = names_of([*constant, *ordered])
        sql = f"COPY {quoted_table(model)} ({names}) FROM STDIN (FORMAT binary)"
        rows = copy_binary.render_rows(constants, [columns[field] for field in ordered])
        cursor.copy_expert(
            sql, Pieces(chain([copy_binary.BEFORE_ROWS], _ahead(rows), [copy_binary.AFTER_ROWS]))
        )


def _column(cursor: Any, field: Field, values: Any) -> copy_binary.Column:
    """Return the values of a field as a column of its type."""
    kind = str(field.db_type(connection)).partition("(")[0]
    try:
        return copy_binary.column_of(kind, values)
    except OverflowError as error:
        cursor.execute(f"SELECT %s::{kind}", error.args)  # so that PostgreSQL raises its error
        raise


@contextmanager
def references_checked_together(
    model: type[models.Model], n_rows: int, keys_of: Callable[[ForeignKey], npt.NDArray[Any]]
) -> Iterator[None]:
    """After the block, check the foreign keys of all rows that it has written, in one step.

    PostgreSQL itself checks each foreign key with one database query for each row. Like PostgreSQL,
    this function locks the rows that are referred to. It needs the right to set
    `session_replication_role`, which turns triggers off. If this right is missing, PostgreSQL
    checks each row. keys_of: returns the distinct keys of a field, ascending, without None.
    """
    with connection.cursor() as cursor:
        if not _may_check_together(cursor, model, n_rows):
            yield
            return
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield
        cursor.execute("SET LOCAL session_replication_role = origin")
        for field in model._meta.concrete_fields:
            if isinstance(field, models.ForeignKey):
                keys = keys_of(field)
                for start in range(0, len(keys), KEYS_PER_CHECK):
                    _check_references(cursor, field, keys[start : start + KEYS_PER_CHECK].tolist())


def _may_check_together(cursor: Any, model: type[models.Model], n_rows: int) -> bool:
    """Return whether the foreign keys of the new rows can be checked together.

    This requires a transaction, enough rows, and the right to turn triggers off. No trigger of
    Hearth may react to the new rows.
    """
    server: Any = connection
    has_rights = server.pg_version >= FIRST_WITH_RIGHTS_OF_PARAMETERS
    if not has_rights or not connection.in_atomic_block or n_rows < ROWS_WORTH_CHECKING_TOGETHER:
        return False
    cursor.execute(MAY_CHECK_TOGETHER, [model._meta.db_table])
    return bool(cursor.fetchone()[0])


def _check_references(cursor: Any, field: ForeignKey, keys: list[Any]) -> None:
    """Lock the rows with these keys. Raises `IntegrityError` if one of them does not exist."""
    column = connection.ops.quote_name(str(field.target_field.column))
    rows = f"SELECT FROM {quoted_table(field.related_model)} WHERE"
    wanted, params = _condition(column, field.db_type(connection), keys)

    def count(condition: str, params: list[Any]) -> int:
        sql = f"SELECT count(*) FROM ({rows} {condition}) AS found"  # noqa: S608 - names come from the model
        cursor.execute(sql, params)
        return int(cursor.fetchone()[0])

    # Rows that this transaction has written need no lock, because no other transaction can see or
    # delete them.
    of_this = "xmin = pg_current_xact_id()::xid"
    is_of_this = count(f"{column} = %s AND {of_this}", [keys[0]]) == 1
    if is_of_this and count(f"{wanted} AND {of_this}", params) == len(keys):
        return
    missing = len(keys) - count(f"{wanted} FOR KEY SHARE", params)
    if missing:
        raise IntegrityError(f"{missing} of the rows that {field} refers to do not exist")


def _condition(column: str, type_of_keys: str | None, keys: list[Any]) -> tuple[str, list[Any]]:
    """Return the condition that a column has one of these keys, and its parameters."""
    low, high = keys[0], keys[-1]
    if isinstance(low, int) and high - low + 1 == len(keys):  # so the keys need not be sent
        return f"{column} BETWEEN %s AND %s", [low, high]
    return f"{column} = ANY(%s::{type_of_keys}[])", [f"{{{','.join(map(str, keys))}}}"]


def _ahead(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces. While the server reads a piece, a thread renders the next piece."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        coming = thread.submit(next, pieces, b"")
        while piece := coming.result():
            coming = thread.submit(next, pieces, b"")
            yield piece


class Pieces:
    """Pieces of bytes as a file that psycopg2 reads.

    A piece can be larger than the size that psycopg2 requests, because psycopg2 accepts this.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)

    def read(self, size: int) -> bytes:
        return next(self._pieces, b"")


def copy_columns_out(sql: str, params: Any, n_columns: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the integer columns of a database query as int64 arrays. No column may contain NULL.

    In PostgreSQL's binary format, all these rows have the same size, so numpy can read them without
    making a Python object for each value.
    """
    stream = io.BytesIO()
    with connection.cursor() as cursor, connection.wrap_database_errors:
        copy = f"COPY ({cursor.mogrify(sql, params).decode()}) TO STDOUT (FORMAT binary)"
        cursor.copy_expert(copy, stream)
    rows = np.frombuffer(
        stream.getbuffer()[len(copy_binary.BEFORE_ROWS) : -len(copy_binary.AFTER_ROWS)], np.uint8
    )
    if not len(rows):
        return tuple(np.empty(0, np.int64) for _ in range(n_columns))
    row = _type_of_row(rows, n_columns)
    if len(rows) % row.itemsize:
        raise ValueError("a column of integers contains NULL")
    columns = [rows.view(row)[str(place)] for place in range(n_columns)]
    if any((column["size"] != column.dtype["value"].itemsize).any() for column in columns):
        raise ValueError("a column of integers contains NULL")
    return tuple(column["value"].astype(np.int64) for column in columns)


def _type_of_row(rows: npt.NDArray[np.uint8], n_columns: int) -> np.dtype[Any]:
    """Return the type of a row in the binary format, in which a size comes before each value."""
    fields: list[Any] = [("n_columns", ">i2")]
    for place in range(n_columns):
        start = np.dtype(fields).itemsize
        size = int(rows[start : start + 4].view(">i4")[0])
        if size not in (1, 2, 4, 8):
            raise ValueError("a column of integers contains NULL or another type")
        fields.append((str(place), [("size", ">i4"), ("value", f">i{size}")]))
    return np.dtype(fields)


def quoted_table(model: type[models.Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def names_of(fields: Iterable[Field]) -> str:
    return ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
