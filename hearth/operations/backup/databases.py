"""Copy the database into a file and back, by SQLite's backup interface or by pg_dump."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sqlite3
import subprocess
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection

from hearth.operations.backup.contents import FILLED_BY_ITSELF, Query, quoted
from hearth.shared.bulk import long_transaction, snapshot
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.words import counted

SQLITE_MEMBER = "database/hearth.sqlite3.gz"
POSTGRESQL_MEMBER = "database/hearth.pgdump"
ASIDE = "hearth_before_restore"
COMPRESSION = 3
PIECE = 1 << 20

# Raises `InvalidInput` if the restored rows are not those of the backup.
Check = Callable[[Query], None]


@dataclass(frozen=True, slots=True)
class Dump:
    """A file with the whole database as of one time. `query` reads the database as of that time."""

    member: str
    path: Path
    query: Query
    tables: list[str]
    server: str


def member_of(engine: str) -> str:
    return POSTGRESQL_MEMBER if engine == "postgresql" else SQLITE_MEMBER


def dump_database(folder: Path) -> Any:
    """Return a context manager that yields a `Dump` in the folder."""
    return _dump_postgresql(folder) if connection.vendor == "postgresql" else _dump_sqlite(folder)


def restore_database(dump: Path, check: Check) -> None:
    """Replace all rows of the database by those of a dump, if `check` accepts them.

    After an error, the database stays as it was. No other process may use it.
    """
    if connection.vendor == "postgresql":
        _restore_postgresql(dump, check)
    else:
        _restore_sqlite(dump, check)


def has_rows() -> bool:
    """Return whether a table contains rows. The tables of `FILLED_BY_ITSELF` are not checked."""
    tables = set(connection.introspection.table_names()) - FILLED_BY_ITSELF
    return any(run_query(f"SELECT 1 FROM {quoted(table)} LIMIT 1") for table in tables)  # noqa: S608


def run_query(sql: str) -> Sequence[Sequence[Any]]:
    """Run one statement without parameters on Django's connection. It is a `Query`."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        rows: Sequence[Sequence[Any]] = cursor.fetchall()
    return rows


# --- SQLite -----------------------------------------------------------------------------------


@contextmanager
def _dump_sqlite(folder: Path) -> Iterator[Dump]:
    copy, packed = folder / "hearth.sqlite3", folder / "hearth.sqlite3.gz"
    with closing(sqlite3.connect(copy)) as out:
        with closing(sqlite3.connect(_sqlite_path())) as source:
            # All pages are copied in one step, so the copy is a snapshot. In WAL mode, this blocks
            # no writer.
            source.backup(out)
        out.execute("PRAGMA journal_mode = DELETE")
        _compress(copy, packed)
        yield Dump(
            SQLITE_MEMBER, packed, _query_of(out), _sqlite_tables(out), sqlite3.sqlite_version
        )


def _restore_sqlite(dump: Path, check: Check) -> None:
    target = _sqlite_path()
    fresh = target.with_name(f".{target.name}.restored")
    fresh.unlink(missing_ok=True)
    try:
        _unpack(dump, fresh)
        with closing(sqlite3.connect(fresh)) as restored:
            try:
                is_intact = restored.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            except sqlite3.DatabaseError:
                is_intact = False
            if not is_intact:
                raise InvalidInput("The database in the archive is damaged.")
            check(_query_of(restored))
        connection.close()
        _close_for_all(target)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)


def _unpack(dump: Path, fresh: Path) -> None:
    with gzip.open(dump, "rb") as packed, fresh.open("wb") as out:
        try:
            shutil.copyfileobj(packed, out, PIECE)
        except (gzip.BadGzipFile, zlib.error, EOFError):
            raise InvalidInput("The database in the archive is damaged.") from None
        out.flush()
        os.fsync(out.fileno())


def _close_for_all(target: Path) -> None:
    """Write the log of the old database into its file. Raises `Conflict` if it is in use.

    Without this check, a running server would continue with the old file after it was replaced.
    """
    if not target.exists():
        return
    with closing(sqlite3.connect(target, timeout=2)) as old:
        try:
            old.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError as error:
            raise Conflict(
                "Another process uses the database. Stop the web server, the workers and the "
                "scheduler first."
            ) from error
        except sqlite3.DatabaseError:
            # A damaged old database is no obstacle, because the restore replaces it.
            for suffix in ("-wal", "-shm"):
                target.with_name(target.name + suffix).unlink(missing_ok=True)


def _sqlite_path() -> Path:
    return Path(str(connection.settings_dict["NAME"]))


def _sqlite_tables(database: sqlite3.Connection) -> list[str]:
    rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [name for (name,) in rows if not name.startswith("sqlite_")]


def _query_of(database: sqlite3.Connection) -> Query:
    return lambda sql: database.execute(sql).fetchall()


def _compress(source: Path, target: Path) -> None:
    with (
        source.open("rb") as plain,
        target.open("wb") as raw,
        gzip.GzipFile("", "wb", COMPRESSION, raw, mtime=0) as out,
    ):
        shutil.copyfileobj(plain, out, PIECE)


# --- PostgreSQL ---------------------------------------------------------------------------------


@contextmanager
def _dump_postgresql(folder: Path) -> Iterator[Dump]:
    program = find_program("pg_dump")
    path = folder / "hearth.pgdump"
    with snapshot():
        ((name,),) = run_query("SELECT pg_export_snapshot()")
        options = ["--format=custom", f"--compress={COMPRESSION}", "--no-owner", "--no-privileges"]
        _run([program, *options, "--schema=public", f"--snapshot={name}", f"--file={path}"])
        tables = connection.introspection.table_names()
        yield Dump(POSTGRESQL_MEMBER, path, run_query, tables, f"PostgreSQL {_server_major()}")


def _restore_postgresql(dump: Path, check: Check) -> None:
    program = find_program("pg_restore")
    listed = _run([program, "--list", str(dump)])
    chosen = dump.with_suffix(".list")
    # The schema `public` already exists, so its entry is left out.
    kept = [line for line in listed.splitlines() if not re.search(r" SCHEMA - public ", line)]
    chosen.write_text("\n".join(kept) + "\n", encoding="utf-8")
    _check_is_alone()
    with long_transaction(), connection.cursor() as cursor:
        _move_aside(cursor)
    options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
    name = str(connection.settings_dict["NAME"])
    try:
        _run([program, *options, f"--use-list={chosen}", f"--dbname={name}", str(dump)])
        with long_transaction():
            check(run_query)
    except BaseException:
        with long_transaction(), connection.cursor() as cursor:
            for statement in _drop_statements(cursor):
                cursor.execute(statement)
            _move_back(cursor)
        raise
    with long_transaction(), connection.cursor() as cursor:
        cursor.execute(f"DROP SCHEMA {ASIDE} CASCADE")
        cursor.execute("ANALYZE")


def _check_is_alone() -> None:
    """Raise `Conflict` if another process is connected to the database."""
    ((others,),) = run_query(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    if others:
        raise Conflict(
            f"The database has {counted(others, 'other connection')}. Stop the web servers, the "
            "workers and the scheduler first."
        )


def _move_aside(cursor: Any) -> None:
    """Move all tables and functions into another schema, from which they can be moved back."""
    cursor.execute(f"DROP SCHEMA IF EXISTS {ASIDE} CASCADE")
    cursor.execute(f"CREATE SCHEMA {ASIDE}")
    for kind, name in _objects(cursor, "public"):
        cursor.execute(f"ALTER {kind} {name} SET SCHEMA {ASIDE}")


def _move_back(cursor: Any) -> None:
    for kind, name in _objects(cursor, ASIDE):
        cursor.execute(f"ALTER {kind} {name} SET SCHEMA public")
    cursor.execute(f"DROP SCHEMA {ASIDE}")


def _drop_statements(cursor: Any) -> Iterable[str]:
    return [f"DROP {kind} {name} CASCADE" for kind, name in _objects(cursor, "public")]


def _objects(cursor: Any, schema: str) -> list[tuple[str, str]]:
    """Return kind and quoted name of the tables and functions. Sequences move with their table."""
    cursor.execute(
        "SELECT 'TABLE', format('%%I.%%I', schemaname, tablename) FROM pg_tables "
        "WHERE schemaname = %s UNION ALL "
        "SELECT 'FUNCTION', format('%%I.%%I(%%s)', nspname, proname, "
        "pg_get_function_identity_arguments(pg_proc.oid)) FROM pg_proc "
        "JOIN pg_namespace ON pg_namespace.oid = pronamespace WHERE nspname = %s",
        [schema, schema],
    )
    found: list[tuple[str, str]] = cursor.fetchall()
    return found


def find_program(name: str) -> str:
    """Return the path of pg_dump or pg_restore, in a version that is not older than the server.

    Raises `InvalidInput` with the fix if there is none. On Debian, each version has its own folder.
    """
    server = _server_major()
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    paths = [shutil.which(name), *(str(folder / name) for folder in folders)]
    found = {path: _major_of(path) for path in paths if path and Path(path).exists()}
    fitting = [path for path, major in found.items() if major >= server]
    if fitting:
        return fitting[0]
    have = ", ".join(f"version {major}" for major in sorted(set(found.values()))) or "none"
    raise InvalidInput(
        f"{name} of version {server} or newer is needed, because the server is PostgreSQL "
        f"{server}. This machine has {have}. Install postgresql-client-{server}."
    )


def _major_of(program: str) -> int:
    text = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\(PostgreSQL\) (\d+)", text.stdout)
    return int(found[1]) if found else 0


def _server_major() -> int:
    connection.ensure_connection()
    version: int = connection.pg_version  # type: ignore[attr-defined]
    return version // 10_000


def _run(command: list[str]) -> str:
    """Run a program of PostgreSQL on Django's database. Raises `InvalidInput` with its message."""
    done = subprocess.run(
        command,
        env={**os.environ, **_environment()},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        program = Path(command[0]).name
        raise InvalidInput(f"{program} failed: {done.stderr.strip()[-1000:]}")
    return done.stdout


def _environment() -> dict[str, str]:
    """Return the environment variables with which PostgreSQL's programs connect.

    The password is one of them, because other users can see the arguments of a program.
    """
    values = connection.settings_dict
    options = values.get("OPTIONS", {})
    named = {
        "PGHOST": values.get("HOST"),
        "PGPORT": values.get("PORT"),
        "PGUSER": values.get("USER"),
        "PGPASSWORD": values.get("PASSWORD"),
        "PGDATABASE": values.get("NAME"),
        "PGSSLMODE": options.get("sslmode"),
        "PGSSLROOTCERT": options.get("sslrootcert"),
    }
    return {name: str(value) for name, value in named.items() if value}
