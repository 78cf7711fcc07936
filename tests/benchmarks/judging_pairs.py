"""Compare two versions of the code under the load of `tests.benchmarks.judging`.

    git worktree add --detach DIR COMMIT
    python -m tests.benchmarks.judging_pairs DIR [--sqlite] [--blocks N] [--seconds N] [--rate N]
        [--annotators N] [--pairs N] [--json]

`this` is the checkout in which the command runs, and `other` is the one in DIR. Each has its own
server and database. Short blocks of load alternate between them, so that other work on the machine
slows down both equally. The results are medians over the blocks: answers per second without pauses,
and the 95th percentile of the time of an answer in milliseconds, without pauses and at `--rate`
answers per second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.commands import ROOT, choose_database, new_database, run_world
from tests.benchmarks.judging import judge, percentile, server
from tests.services import free_port

Figures = dict[str, list[float]]


@contextmanager
def judging_at(root: Path, options: argparse.Namespace) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the port of a server for the code in `root`, and the prepared data for `judge`.

    The server has already handled one block of load.
    """
    with tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder:
        home = Path(folder)
        with new_database(home, root) as environment:
            numbers = (options.annotators, options.pairs, 0.1)
            prepared = run_world("judging", environment, "prepare", *numbers, root=root)
            port = free_port()
            with server(environment, port, home / "gunicorn.log", root):
                asyncio.run(judge([port], prepared, options.seconds))
                yield port, prepared


def measure(options: argparse.Namespace) -> dict[str, Figures]:
    by_version: dict[str, Figures] = defaultdict(lambda: defaultdict(list))
    with ExitStack() as stack:
        versions = [("this", ROOT), ("other", options.other.resolve())]
        servers = [(name, *stack.enter_context(judging_at(at, options))) for name, at in versions]
        for block in range(options.blocks):
            # The version that is measured first alternates from block to block.
            for name, port, prepared in servers if block % 2 else servers[::-1]:
                times = asyncio.run(judge([port], prepared, options.seconds))
                paced = asyncio.run(judge([port], prepared, options.seconds, options.rate))
                if times.errors or paced.errors:
                    raise SystemExit(f"{name}: {(times.errors + paced.errors)[0]}")
                figures = by_version[name]
                figures["answers_per_s"].append(round(len(times.submits) / options.seconds, 1))
                figures["p95_ms"].append(percentile(times.submits, 95) or 0)
                figures["paced_p95_ms"].append(percentile(paced.submits, 95) or 0)
    return by_version


def main() -> int:
    parser = argparse.ArgumentParser(description="Two versions of the code under the same load.")
    parser.add_argument("other", type=Path, help="folder of the other version")
    parser.add_argument("--blocks", type=int, default=5, help="blocks of load for each version")
    parser.add_argument("--seconds", type=float, default=7, help="length of a block")
    parser.add_argument(
        "--rate", type=float, default=100, help="answers per second of all annotators"
    )
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=30_000)
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--json", action="store_true", help="print all blocks as one JSON object")
    options = parser.parse_args()
    choose_database(sqlite=options.sqlite)
    figures = measure(options)
    if options.json:
        print(json.dumps(figures))
    else:
        for figure in figures["this"]:
            values = [f"{name} {median(figures[name][figure]):8.1f}" for name in ("this", "other")]
            print(f"{figure:15}{values[0]:>16}{values[1]:>18}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
