"""Run drills and print their report. See tests/faults/__init__.py."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from hearth.processes import raise_on_signals
from hearth.shared.words import counted
from tests.benchmarks.commands import ROOT
from tests.faults.clocks import shift_clocks
from tests.faults.copies import copy_under_writers
from tests.faults.databases import stop_during_imports, stop_under_writers
from tests.faults.postgres import PrivatePostgres
from tests.faults.row import Row, table
from tests.faults.site import Site
from tests.faults.submits import kill_during_submits, kill_under_writers
from tests.faults.workers import kill_during_imports, kill_during_scoring

SQLITE, POSTGRESQL = "sqlite", "postgresql"
INTRODUCTION = """# Faults

Each drill breaks a running site with real servers. It then compares the answers and uploads that
the site acknowledged with those that it has stored. "Tried" is the number of faults. "Lost" answers
or uploads are missing or wrong afterwards, and "doubled" ones are stored more than once.
`make faults` runs the long form of all drills and writes this page. `make test` runs a short form.
"""
REPORT = ROOT / "docs" / "faults.md"


@dataclass(frozen=True, slots=True)
class Drill:
    """A drill, its databases, and its rounds in the short and the long form.

    The short form runs on the last of the databases only.
    """

    run: Callable[[Site, int], Row]
    databases: tuple[str, ...]
    short: int
    long: int


DRILLS = {
    "submits": Drill(kill_during_submits, (SQLITE, POSTGRESQL), short=1, long=40),
    "kills": Drill(kill_under_writers, (SQLITE, POSTGRESQL), short=1, long=200),
    "workers": Drill(kill_during_imports, (SQLITE, POSTGRESQL), short=1, long=6),
    "scoring": Drill(kill_during_scoring, (SQLITE, POSTGRESQL), short=1, long=6),
    "writers": Drill(stop_under_writers, (POSTGRESQL,), short=1, long=10),
    "imports": Drill(stop_during_imports, (POSTGRESQL,), short=1, long=7),
    "clocks": Drill(shift_clocks, (POSTGRESQL,), short=1, long=5),
    "copies": Drill(copy_under_writers, (SQLITE,), short=5, long=100),
}


def run(drill: Drill, postgres: PrivatePostgres | None, rounds: int) -> tuple[Row, float]:
    """Run a drill on a new site. Return its row and its duration in seconds."""
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="hearth-faults-") as folder,
        Site(Path(folder), postgres) as site,
    ):
        return drill.run(site, rounds), time.monotonic() - began


def report(rows: list[tuple[Row, float]], form: str) -> str:
    notes = "".join(f"- {row.drill}, {row.database}: {row.note}\n" for row, _ in rows if row.note)
    return f"{INTRODUCTION}\n{form}\n\n{table(rows)}" + (f"\n{notes}" if notes else "")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    names = f"{', '.join(DRILLS)}; default: all"
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    parser.add_argument(
        "--long", action="store_true", help="all rounds on all databases; writes docs/faults.md"
    )
    parser.add_argument("--rounds", type=int, help="another number of rounds")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    raise_on_signals()
    rows: list[tuple[Row, float]] = []
    with PrivatePostgres() as postgres:
        for name in options.names or DRILLS:
            drill = DRILLS[name]
            rounds = options.rounds or (drill.long if options.long else drill.short)
            for database in drill.databases if options.long else drill.databases[-1:]:
                text = f"{name}, {database}, {counted(rounds, 'round')} ..."
                print(text, file=sys.stderr, flush=True)
                rows.append(run(drill, postgres if database == POSTGRESQL else None, rounds))
                print(rows[-1][0], file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps({"rows": [asdict(row) for row, _ in rows]}))
    else:
        print(table(rows))
    if options.long and not options.names:
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(report(rows, f"Run on {time.strftime('%d %B %Y')}."))
    return int(not all(row.holds for row, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
