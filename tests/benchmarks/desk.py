"""The desk of a campaign of 700,000 judgments: its figures, its pages, and taking answers back.

    python -m tests.benchmarks.desk [--sqlite] [--pairs N] [--annotators N] [--json]

Runs on a new database of a local PostgreSQL (that of DATABASE_URL, or one that is found or
started), or on a new SQLite file. Exit code 1 if a page takes a second or more, or the person
with a fourteenth of all judgments is not taken back in ten.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.commands import ROOT, choose_database, new_database

PAGE_SECONDS, REOPEN_SECONDS = 1.0, 10.0


def run_world(environment: dict[str, str], *words: Any) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.desk_world", *map(str, words)],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def missed(result: dict[str, Any]) -> list[str]:
    """The names of the times that are too long."""
    limits = {name: PAGE_SECONDS for name in result if name.endswith("again_seconds")}
    limits["reopen_seconds"] = REOPEN_SECONDS
    return [name for name, limit in limits.items() if result[name] >= limit]


def main() -> int:
    parser = argparse.ArgumentParser(description="The desk of a large campaign.")
    parser.add_argument("--pairs", type=int, default=640_000)
    parser.add_argument("--annotators", type=int, default=100)
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args()
    choose_database(sqlite=options.sqlite)
    with (
        tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder,
        new_database(Path(folder)) as environment,
    ):
        filled = run_world(environment, "fill", options.pairs, options.annotators)
        result = filled | run_world(environment, "measure", filled["campaign"])
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:28}{value}")
    return int(bool(missed(result)))


if __name__ == "__main__":
    sys.exit(main())
