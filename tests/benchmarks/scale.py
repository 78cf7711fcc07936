"""Times and memory of judging, publishing and the pages, with up to 50 million pairs.

    python -m tests.benchmarks.scale [--pairs N] [--judged N] [--generate] [--tiny] [--json]

The program makes a new database with a campaign of N pairs, some of which have labels. It uses the
PostgreSQL server of DATABASE_URL, or else finds or starts a local one. Then each step calls the
services of Hearth in its own process, and reports its duration and peak memory. The tasks are
stored by the service that opens a campaign, or with `--generate` by one SQL statement. 50 million
pairs need 25 GB of disk and an hour:

    make bench BENCHMARKS=scale PAIRS=50000000

The exit code is 1 if a page fails, or if the 95th percentile of its times with filled caches is a
second or more.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.commands import new_database, run_world
from tests.services import ensure_postgres

# From this number of pairs, one SQL statement stores the tasks, as with `--generate`.
GENERATED_FROM = 10_000_000
STEPS = ("judging", "pages", "figures", "agreement", "draft", "publish", "periodic", "close")
PAGE_MS = 1000


def measure(options: argparse.Namespace, environment: dict[str, str]) -> dict[str, Any]:
    judged = min(options.judged, options.pairs // 2)
    count = 2 if options.tiny else options.count
    result: dict[str, Any] = {"options": {"pairs": options.pairs, "judged": judged}}

    def step(name: str, *words: Any) -> None:
        result[name] = run_world("scale", environment, *words, fork=options.tiny)
        if not options.json:
            print(f"{name:12}{json.dumps(result[name])}", flush=True)

    step("pairs", "pairs", options.pairs, options.annotators)
    step("tasks", "generate" if options.generate else "open")
    step("labels", "judge", judged)
    for name in STEPS:
        step(name, "measure", name, count)
    step("sizes", "sizes")
    return result


def missed(pages: dict[str, Any]) -> list[str]:
    """Return the keys of the failures and of the times that are too long."""
    return [
        name
        for name, value in pages.items()
        if name.endswith("_failure") or (name.endswith("_p95_ms") and value >= PAGE_MS)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="A campaign of many pairs.")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument(
        "--judged",
        type=int,
        default=1_000_000,
        help="number of pairs with labels; the maximum is half of all pairs",
    )
    parser.add_argument("--annotators", type=int, default=100)
    parser.add_argument("--count", type=int, default=50, help="claims, and requests of each page")
    parser.add_argument(
        "--generate", action="store_true", help="store the tasks by one SQL statement"
    )
    parser.add_argument(
        "--tiny", action="store_true", help="use a small input, to check that it runs"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.tiny:
        options.pairs, options.annotators = 600, 4
    options.generate = options.generate or options.pairs >= GENERATED_FROM
    os.environ.setdefault("DATABASE_URL", ensure_postgres())
    with (
        tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder,
        new_database(Path(folder)) as environment,
    ):
        result = measure(options, environment)
    if options.json:
        print(json.dumps(result))
    return int(bool(missed(result["pages"])))


if __name__ == "__main__":
    sys.exit(main())
