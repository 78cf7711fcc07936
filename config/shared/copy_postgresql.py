"""COPY on PostgreSQL: rows as text, with one check of each foreign key for all of them, and reading
whole columns."""

from __future__ import annotations

import datetime
import io
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from types import NoneType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from django.db import IntegrityError, connection, models

ForeignKey: TypeAlias = "models.ForeignKey[Any, Any]"

# The number of rows in each piece of text, which limits it to some megabytes.
ROWS_PER_PIECE = 20_000
ROWS_WORTH_CHECKING_TOGETHER = 1_000
# The number of keys in one check, which limits its text to some megabytes.
KEYS_PER_CHECK = 500_000
# Bytes of COPY's binary format before and after the rows.
HEADER, TRAILER = 19, 2
# The version of PostgreSQL that can give a role the right to set one parameter.
FIRST_WITH_RIGHTS_OF_PARAMETERS = 15_00_00
# Bit 2 of the type of a trigger stands for INSERT. The triggers of foreign keys are internal.
MAY_CHECK_TOGETHER = """
    SELECT has_parameter_privilege('session_replication_role', 'SET') AND NOT EXISTS (
        SELECT FROM pg_trigger
        WHERE tgrelid = quote_ident(%s)::regclass AND NOT tgisinternal AND tgtype & 4 > 0)"""


def copy_rows(
    model: type[models.Model], fixed: dict[str, Any], cells: dict[str, list[Any]]
) -> None:
    """Write rows. fixed: the value of each column that is the same in all rows."""
    names = ", ".join(map(connection.ops.quote_name, [*fixed, *cells]))
    sql = f"COPY {quoted_table(model)} ({names}) FROM STDIN"
    # Errors are wrapped, as Django does for its own methods.
    with connection.cursor() as cursor, connection.wrap_database_errors:
        cursor.copy_expert(sql, CopyText(_ahead(_copy_pieces(fixed, cells))), size=1 << 20)


@contextmanager
def references_checked_together(
    model: type[models.Model], n_rows: int, keys_of: Callable[[ForeignKey], npt.NDArray[Any]]
) -> Iterator[None]:
    """Check each foreign key of the rows that the block writes with one query.

    PostgreSQL would check it with one query for each row. Like that check, this one locks the rows
    that are referred to. It needs the right to set `session_replication_role`, which turns triggers
    off. Without it, PostgreSQL checks each row. keys_of: returns the distinct keys of a field,
    ascending, without None.
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
    """Return whether triggers may be turned off, and no trigger of Hearth reacts to new rows."""
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

    # No other transaction can see the rows of this one, or delete them, so they need no lock.
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


def _copy_pieces(fixed: dict[str, Any], cells: dict[str, list[Any]]) -> Iterator[str]:
    """Yield some rows at a time in PostgreSQL's text format, as copies of one filled template."""
    columns = [_copy_texts(column) for column in cells.values()]
    marks = ["%d" if isinstance(column, list) else "%s" for column in columns]
    row = "\t".join([_copy_text(v).replace("%", "%%") for v in fixed.values()] + marks) + "\n"
    rows = zip(*columns, strict=True)
    while piece := tuple(chain.from_iterable(islice(rows, ROWS_PER_PIECE))):
        yield row * (len(piece) // len(cells)) % piece


def _ahead(pieces: Iterator[str]) -> Iterator[str]:
    """Yield the pieces, while a thread renders the next one and the server reads the last one."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        coming = thread.submit(next, pieces, "")
        while piece := coming.result():
            coming = thread.submit(next, pieces, "")
            yield piece


def _copy_texts(column: list[Any]) -> list[int] | Iterator[str]:
    """Return a column in PostgreSQL's text format. Integers stay as they are."""
    types = set(map(type, column))
    if types == {int}:
        return column
    if types <= {str, NoneType}:
        # Columns such as a state have few different texts.
        rendered = {text: _copy_text(text) for text in set(column)}
        return map(rendered.__getitem__, column)
    return map(_copy_text, column)


def _copy_text(value: Any) -> str:
    match value:
        case None:
            return "\\N"
        case bool():
            return "t" if value else "f"
        case str():
            return escape_for_copy(value)
        case bytes():
            return "\\\\x" + value.hex()
        case datetime.datetime():
            return value.isoformat()
        case uuid.UUID() | int() | float():
            return str(value)
    raise TypeError(f"no COPY text for {type(value).__name__}")


def escape_for_copy(text: str) -> str:
    """Return a text with the escapes of PostgreSQL's text format."""
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


class CopyText(io.RawIOBase):
    """Rows in PostgreSQL's text format as a file that psycopg2 reads, rendered piece by piece."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        read, length = [self._rest], len(self._rest)
        while (size < 0 or length < size) and (piece := next(self._pieces, "")):
            read.append(piece.encode())
            length += len(read[-1])
        whole = b"".join(read)
        cut = length if size < 0 else size
        self._rest = whole[cut:]
        return whole[:cut]


def copy_columns_out(sql: str, params: Any, n_columns: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the integer columns of a query as int64 arrays. No column may contain NULL.

    In PostgreSQL's binary format, all rows have the same size, so no Python value is made of them.
    """
    stream = io.BytesIO()
    with connection.cursor() as cursor, connection.wrap_database_errors:
        copy = f"COPY ({cursor.mogrify(sql, params).decode()}) TO STDOUT (FORMAT binary)"
        cursor.copy_expert(copy, stream)
    rows = np.frombuffer(stream.getbuffer()[HEADER:-TRAILER], np.uint8)
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
    """Return the type of a row in the binary format: each value has its size in front of it."""
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
