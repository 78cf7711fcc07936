"""Move a whole database from SQLite to PostgreSQL.

The rows are sent as text to COPY, because `dumpdata` and `loaddata` would build an object for each
row. Indexes and foreign keys are dropped first and created at the end, which checks every row.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypedDict

import environ
import psycopg2
from django.conf import settings
from django.db import connection
from django.db.transaction import atomic

from hearth.accounts.actors import Actor
from hearth.accounts.policies import check_can_administer
from hearth.audit.services import record
from hearth.operations.acts import OperationAct
from hearth.operations.backup.contents import (
    FILLED_BY_ITSELF,
    Query,
    applied_migrations,
    count_rows,
    quoted,
)
from hearth.operations.backup.databases import run_query
from hearth.shared.copy_postgresql import Pieces
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.migrated import SQUASHED
from hearth.shared.progress import Progress, no_progress

NULL = "\\N"
MIGRATIONS = "django_migrations"


class Moved(TypedDict):
    """The figures of a move."""

    tables: int
    rows: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a PostgreSQL table. has_sequence: whether a sequence generates its values."""

    name: str
    kind: str
    has_sequence: bool


def move_database(*, target: str, by: Actor, progress: Progress = no_progress) -> Moved:
    """Copy all rows of the SQLite database into the PostgreSQL database of the URL `target`.

    The target is migrated first. All rows arrive in one transaction, or none. Ids stay the same,
    and the sequences continue after them. Files are not touched. Raises `InvalidInput` if one of
    the databases has the wrong engine or version, and `Conflict` if the target has rows.
    """
    check_can_administer(by)
    if connection.vendor != "sqlite":
        raise InvalidInput("DATABASE_URL is not SQLite, so there is nothing to move.")
    options = _connection_options(target)
    began = time.monotonic()
    progress(0, None, "creating the tables")
    _migrate(target)
    with closing(psycopg2.connect(**options)) as link, link, link.cursor() as cursor:
        _check_target(_query_of(cursor))
        with atomic():
            after = {"host": options.get("host", ""), "database": options["dbname"]}
            record(OperationAct.MOVE_STARTED, by=by, after=after)
        with closing(sqlite3.connect(str(connection.settings_dict["NAME"]))) as source:
            source.isolation_level = None
            source.execute("BEGIN")  # so that all tables are read in the same state
            rows = _move(source, cursor, progress)
    return Moved(
        tables=len(rows),
        rows=sum(rows.values()),
        seconds=round(time.monotonic() - began, 1),
    )


def _connection_options(url: str) -> dict[str, Any]:
    values = environ.Env.db_url_config(url)
    if "postgresql" not in values["ENGINE"]:
        raise InvalidInput("The target must be a PostgreSQL database: postgres://user:…@host/name")
    named = {
        "host": values["HOST"],
        "port": values["PORT"],
        "user": values["USER"],
        "password": values["PASSWORD"],
        "dbname": values["NAME"],
    }
    return {name: value for name, value in named.items() if value} | values.get("OPTIONS", {})


def _migrate(target: str) -> None:
    """Create the tables in a separate process, because this one uses the SQLite database."""
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": target},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise InvalidInput(f"The target could not be migrated: {done.stderr.strip()[-500:]}")


def _check_target(query: Query) -> None:
    """Raise an error if the databases have different migrations, or if the target has rows.

    The tables that `migrate` and running processes fill may have rows.
    """
    if _migrations(run_query) != _migrations(query):
        raise InvalidInput("The SQLite database is not migrated. Run `manage.py migrate` first.")
    rows = count_rows(query, _tables(query) - FILLED_BY_ITSELF)
    if filled := [name for name, number in rows.items() if number]:
        raise Conflict(f"The target is not empty: the table {filled[0]} has rows.")


def _migrations(query: Query) -> set[str]:
    """Return the migrations except those that only older databases have."""
    return set(applied_migrations(query)) - SQUASHED


def _move(source: sqlite3.Connection, cursor: Any, progress: Progress) -> dict[str, int]:
    """Move all rows inside the transaction of the cursor. Return the number of rows by table."""
    query = _query_of(cursor)
    cursor.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
    cursor.execute("SET LOCAL maintenance_work_mem = '256MB'")
    tables = sorted(_tables(query) - {MIGRATIONS})
    dropped = _drop_keys(query, cursor)
    # Only the tables that `migrate` has filled have rows.
    for table in FILLED_BY_ITSELF.intersection(tables):
        cursor.execute(f"DELETE FROM {quoted(table)}")  # noqa: S608
    wanted = count_rows(lambda sql: source.execute(sql).fetchall(), tables)
    for number, table in enumerate(tables):
        progress(number, len(tables), "copying rows")
        _copy_table(source, query, cursor, table)
    for number, statement in enumerate(dropped):
        progress(number, len(dropped), "creating indexes and checking keys")
        try:
            cursor.execute(statement)
        except psycopg2.IntegrityError as error:
            raise InvalidInput(f"A row of the SQLite database is not valid: {error}") from error
    moved = count_rows(query, tables)
    if moved != wanted:
        raise InvalidInput("The numbers of rows differ after the move. Nothing was stored.")
    cursor.execute("ANALYZE")
    return moved


def _query_of(cursor: Any) -> Query:
    """Return a function that runs a statement on the target."""

    def query(sql: str) -> Any:
        cursor.execute(sql)
        return cursor.fetchall()

    return query


def _tables(query: Query) -> set[str]:
    return {name for (name,) in query(TABLES)}


TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
FOREIGN_KEYS = """
    SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
           format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname,
                  pg_get_constraintdef(oid))
    FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace
    ORDER BY 1"""
# Indexes of primary keys and unique constraints stay.
INDEXES = """
    SELECT format('DROP INDEX %s', indexrelid::regclass), pg_get_indexdef(indexrelid)
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
    ORDER BY 1"""
# The triggers that protect rows would refuse rows of archived benchmarks.
TRIGGERS = """
    SELECT DISTINCT format('ALTER TABLE %s DISABLE TRIGGER USER', tgrelid::regclass),
                    format('ALTER TABLE %s ENABLE TRIGGER USER', tgrelid::regclass)
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE NOT tgisinternal AND relnamespace = 'public'::regnamespace"""
COLUMNS = """
    SELECT attname, format_type(atttypid, NULL),
           pg_get_serial_sequence({table}, attname) IS NOT NULL
    FROM pg_attribute WHERE attrelid = {table}::regclass AND attnum > 0 AND NOT attisdropped
    ORDER BY attnum"""


def _drop_keys(query: Query, cursor: Any) -> list[str]:
    """Drop foreign keys and indexes, and disable triggers. Return the statements that undo this."""
    keys, indexes, triggers = query(FOREIGN_KEYS), query(INDEXES), query(TRIGGERS)
    for drop, _ in [*keys, *indexes, *triggers]:
        cursor.execute(drop)
    return [create for _, create in [*triggers, *indexes, *keys]]


def _copy_table(source: sqlite3.Connection, query: Query, cursor: Any, table: str) -> None:
    literal = "'" + quoted(table).replace("'", "''") + "'"
    columns = [Column(*row) for row in query(COLUMNS.format(table=literal))]
    names = ", ".join(quoted(column.name) for column in columns)
    rows = source.execute(f"SELECT {names} FROM {quoted(table)}")  # noqa: S608
    try:
        cursor.copy_expert(
            f"COPY {quoted(table)} ({names}) FROM STDIN",
            Pieces(map(str.encode, _lines(rows, columns))),
        )
    except psycopg2.DataError as error:
        reason = str(error).strip().splitlines()[0]
        raise InvalidInput(f"PostgreSQL refuses a row of {table}: {reason}") from error
    for column in columns:
        if column.has_sequence:
            _continue_sequence(source, cursor, table, column.name)


def _continue_sequence(source: sqlite3.Connection, cursor: Any, table: str, column: str) -> None:
    """Set the sequence so that no row has ever had the next id."""
    used = source.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]).fetchone() or (
        0,
    )
    cursor.execute(
        f"SELECT setval(pg_get_serial_sequence(%s, %s), greatest(max({quoted(column)}), %s, 1), "  # noqa: S608
        f"max({quoted(column)}) IS NOT NULL OR %s > 0) FROM {quoted(table)}",
        [quoted(table), column, *used, *used],
    )


def _lines(rows: Iterable[Sequence[Any]], columns: list[Column]) -> Iterator[str]:
    """Yield each row of SQLite as a line for COPY."""
    texts = [_text_of(column.kind) for column in columns]
    for row in rows:
        cells = zip(texts, row, strict=True)
        yield "\t".join([NULL if cell is None else text(cell) for text, cell in cells]) + "\n"


def _text_of(kind: str) -> Callable[[Any], str]:
    """Return the function that converts SQLite's values to the text of this PostgreSQL type."""
    match kind:
        case "smallint" | "integer" | "bigint" | "uuid":
            return str
        case "boolean":
            return lambda value: "t" if value else "f"
        case "double precision":
            return repr
        case "bytea":
            return lambda value: "\\\\x" + bytes(value).hex()
        case "timestamp with time zone":
            return lambda value: f"{value}+00"  # Django stores UTC
    return lambda value: _escaped(str(value))


def _escaped(text: str) -> str:
    """Escape a text as the text format of COPY requires."""
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
