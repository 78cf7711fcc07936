"""Seconds to move a site from SQLite to PostgreSQL, compared with Django's dumpdata and loaddata.

    python -m tests.benchmarks.moving [--pairs 100000] [--annotators 20] [--tiny] [--json]

The program fills a SQLite database with a judged campaign, and moves it into two new databases on
the same PostgreSQL server: with `move_database`, and with `dumpdata` and `loaddata`. Both targets
are migrated first. `differences` lists the tables whose numbers of rows differ. It must be empty.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import psycopg2

from tests.benchmarks.programs import run_program
from tests.databases import migrate
from tests.services import ensure_postgres

# Django writes these rows itself when it migrates the target.
OWN_ROWS = ["contenttypes", "auth.permission", "auth.group"]


def run(home: Path, url: str, *words: str, fork: bool = False) -> float:
    """Run a Python program on a database. Return its duration in seconds."""
    environment = {**os.environ, "HEARTH_HOME": str(home), "DATABASE_URL": url}
    with Path(os.devnull).open("w") as nothing:
        done = run_program(words, environment, out=nothing, fork=fork)
    if done.code:
        raise SystemExit(f"{' '.join(words)} ended with {done.code}")
    return done.seconds


def rows_of(url: str) -> dict[str, int]:
    with psycopg2.connect(url) as link, link.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        counts = {}
        for (table,) in cursor.fetchall():
            cursor.execute(f'SELECT count(*) FROM "{table}"')  # noqa: S608
            counts[table] = cursor.fetchone()[0]
    return counts


def measure(
    pairs: int, people: int, home: Path, targets: tuple[str, str], *, tiny: bool
) -> dict[str, Any]:
    old, dump = f"sqlite:///{home / 'hearth.sqlite3'}", str(home / "dump.json")
    migrate({**os.environ, "HEARTH_HOME": str(home), "DATABASE_URL": old})
    on_old = partial(run, home, old, fork=tiny)
    on_old("-m", "tests.benchmarks.desk_world", "fill", str(pairs), str(people))
    for target in targets:
        migrate({**os.environ, "HEARTH_HOME": str(home), "DATABASE_URL": target})
    moved = on_old("manage.py", "move_database", targets[0], "--json")
    excluded = [f"--exclude={name}" for name in OWN_ROWS]
    dumped = on_old("manage.py", "dumpdata", *excluded, f"--output={dump}")
    loaded = run(home, targets[1], "manage.py", "loaddata", dump, "--verbosity=0")
    rows_moved, rows_loaded = rows_of(targets[0]), rows_of(targets[1])
    return {
        "rows": sum(rows_moved.values()),
        "move_seconds": round(moved, 1),
        "dumpdata_seconds": round(dumped, 1),
        "loaddata_seconds": round(loaded, 1),
        "times_faster": round((dumped + loaded) / moved, 1),
        "differences": sorted(
            table
            for table, number in rows_moved.items()
            if number != rows_loaded[table] and table != "auth_group"
        ),
    }


def main() -> int:
    from tests.databases import empty_postgresql

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument(
        "--tiny", action="store_true", help="use a small input, to check that it runs"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    pairs = 200 if options.tiny else options.pairs
    people = 3 if options.tiny else options.annotators
    server = ensure_postgres()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        targets = [stack.enter_context(empty_postgresql(server)) for _ in range(2)]
        result = measure(pairs, people, home, (targets[0], targets[1]), tiny=options.tiny)
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name}: {value}")
    return 1 if result["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
