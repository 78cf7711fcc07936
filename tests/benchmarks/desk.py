"""Times of the pages of a campaign with 700,000 judgments, and of a withdrawal of answers.

    python -m tests.benchmarks.desk [--sqlite] [--pairs N] [--annotators N] [--tiny] [--json]

The database is a new one on a PostgreSQL server, or a new SQLite file. The server is that of
DATABASE_URL, or a local one that the program finds or starts. The exit code is 1 if a page takes a
second or more, or if the withdrawal takes ten seconds or more. About 6.5 % of all
judgments are withdrawn.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks.commands import choose_database, new_database, run_world

PAGE_SECONDS, REOPEN_SECONDS = 1.0, 10.0


def missed(result: dict[str, Any]) -> list[str]:
    """Return the names of the times that reach their limits."""
    limits = {name: PAGE_SECONDS for name in result if name.endswith("again_seconds")}
    limits["reopen_seconds"] = REOPEN_SECONDS
    return [name for name, limit in limits.items() if result[name] >= limit]


def main() -> int:
    parser = argparse.ArgumentParser(description="The desk of a large campaign.")
    parser.add_argument("--pairs", type=int, default=640_000)
    parser.add_argument("--annotators", type=int, default=100)
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--tiny", action="store_true", help="use a small input, to check that it runs"
    )
    options = parser.parse_args()
    if options.tiny:
        options.pairs, options.annotators = 300, 3
    choose_database(sqlite=options.sqlite)
    with (
        tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder,
        new_database(Path(folder)) as environment,
    ):
        run = partial(run_world, "desk", environment, fork=options.tiny)
        filled = run("fill", options.pairs, options.annotators)
        result = filled | run("measure", filled["campaign"])
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:28}{value}")
    return int(bool(missed(result)))


if __name__ == "__main__":
    sys.exit(main())
