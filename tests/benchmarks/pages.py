"""The lab at the size of the MSVD test split: what computing takes, and how fast its pages open.

    python -m tests.benchmarks.pages [--sqlite] [--data DIR | --tiny] [--requests N]
        [--json]

Runs on a new database of a local PostgreSQL (that of DATABASE_URL, or one that is found or
started), or on a new SQLite file, filled by the commands from drawn files or (--data) from the real
ones. Alpha is read from the database, beside the `krippendorff` package, and every analysis is
computed once, by a process of its own. Then gunicorn serves them, and a researcher asks for each
page and download, the first time and N times again, over one kept connection. The load runs on the
same machine. Exit code 1 for an answer that is not 200, for a known figure that differs and for an
alpha that is not the peer's, never for time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.commands import (
    KEY,
    ROOT,
    Bench,
    Row,
    choose_database,
    draw_data,
    measure,
    new_database,
)
from tests.benchmarks.judging import server
from tests.services import free_port

PAGE_MS, ALPHA_SECONDS = 300, 2
# Computing has none: a page shows the progress meanwhile.
NO_LIMIT = float("inf")
# Of a tiny input, some analyses are computed, each by a process of its own.
TINY_ANALYSES = ("scores", "overlap")


@dataclass(frozen=True, slots=True)
class Opened:
    """One address: milliseconds of the first request and of all others, and its size as sent."""

    name: str
    first_ms: float
    median_ms: float
    p95_ms: float
    kilobytes: float

    @property
    def holds(self) -> bool:
        return self.p95_ms < PAGE_MS


def world(environment: dict[str, str], *arguments: str) -> dict[str, Any]:
    """What `tests.benchmarks.pages_world` says."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.pages_world", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


class Visitor:
    """A researcher's browser."""

    def __init__(self, port: int, session: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"Cookie": f"sessionid={session}", "Accept-Encoding": "gzip"}

    def visit(self, address: str) -> tuple[float, int]:
        """Milliseconds until all has arrived, and bytes."""
        began = time.perf_counter()
        self.connection.request("GET", address, headers=self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{address}: {answer.status}")
        return 1000 * (time.perf_counter() - began), len(body)

    def visit_often(self, name: str, address: str, requests: int) -> Opened:
        first, size = self.visit(address)
        again = [self.visit(address)[0] for _ in range(requests)]
        median, p95 = np.percentile(again, [50, 95]).round(1).tolist()
        return Opened(name, round(first, 1), median, p95, round(size / 1024, 1))


def compute_all(
    environment: dict[str, str], bench: Bench, data: Path, names: Sequence[str]
) -> None:
    """Each analysis once, as whole processes; as if systems were trained on the captions."""
    captions = str(data / "captions.csv.gz")
    bench.command("import_train_captions", NO_LIMIT, "import_train_captions", KEY, captions)
    for name in names:
        print(f"computing {name} …", file=sys.stderr)
        bench.command(name, NO_LIMIT, "analyse", KEY, name)


def open_all(
    environment: dict[str, str], home: Path, requests: int, names: Sequence[str]
) -> tuple[float, dict[str, list[Opened]]]:
    """Milliseconds of the first request after the start, and by kind what was asked for."""
    found = world(environment, "addresses", KEY, *names)
    port = free_port()
    with server(environment, port, home / "gunicorn.log"):
        visitor = Visitor(port, found["session"])
        start, _ = visitor.visit("/")
        opened = {
            kind: [visitor.visit_often(*one, requests) for one in addresses.items()]
            for kind, addresses in found["addresses"].items()
        }
    return round(start, 1), opened


def unlike(alphas: dict[str, tuple[float, float]]) -> list[str]:
    """The values of alpha that differ from ours, which comes first."""
    (_, ours), *peers = alphas.values()
    return [f"alpha is {ours}, a peer's {value}" for _, value in peers if abs(value - ours) > 1e-12]


def print_alpha(alphas: dict[str, tuple[float, float]]) -> None:
    print(f"\n{'alpha of all labels':42}{'seconds':>10}{'limit':>10}")
    for place, (name, (seconds, _)) in enumerate(alphas.items()):
        mark = "" if seconds < ALPHA_SECONDS else "  MISSED"
        limit = "" if place else f"{ALPHA_SECONDS:10}{mark}"
        print(f"{name:42}{seconds:10.3f}{limit}")


def print_tables(computing: list[Row], start: float, opened: dict[str, list[Opened]]) -> None:
    print(f"\n{'computing, as a whole process':42}{'seconds':>10}{'peak MB':>10}")
    for row in computing:
        print(f"{row.name:42}{row.seconds:10.2f}{row.megabytes:10.0f}")
    for kind, rows in opened.items():
        heads = f"{'first ms':>10}{'median':>10}{'p95':>10}{'limit':>8}{'kB':>8}"
        print(f"\n{kind:42}{heads}")
        for one in rows:
            times = f"{one.first_ms:10,.1f}{one.median_ms:10,.1f}{one.p95_ms:10,.1f}"
            mark = "" if one.holds else "  MISSED"
            print(f"{one.name:42}{times}{PAGE_MS:8}{one.kilobytes:8,.1f}{mark}")
    print(f"\nthe first request of all after the start: {start:,.1f} ms")


def main() -> int:
    parser = argparse.ArgumentParser(description="Computing analyses, and opening their pages.")
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--data", type=Path, help="folder of the real MSVD files")
    parser.add_argument("--requests", type=int, default=20, help="of each address, but the first")
    parser.add_argument("--tiny", action="store_true", help="a small input, to see that it runs")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args()
    choose_database(sqlite=options.sqlite)
    with tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder:
        home, data = Path(folder) / "home", options.data
        if data is None:
            data = Path(folder) / "data"
            data.mkdir()
            draw_data(data, tiny=options.tiny)
        with new_database(home) as environment:
            filling = Bench(environment, known=options.data is not None)
            measure(filling, data)
            bench = Bench(environment, known=False)
            alphas = world(environment, "alpha", KEY)
            names = TINY_ANALYSES if options.tiny else world(environment, "names")["names"]
            compute_all(environment, bench, data, names)
            start, opened = open_all(environment, home, options.requests, names)
    differences = [*filling.differences, *unlike(alphas)]
    if options.json:
        kinds = {kind: [asdict(one) for one in rows] for kind, rows in opened.items()}
        computing = [asdict(row) | {"limit": None} for row in bench.rows]
        answer = {
            "alpha": alphas,
            "computing": computing,
            "first_of_all_ms": start,
            "opened": kinds,
        }
        print(json.dumps(answer | {"differences": differences}))
    else:
        print_alpha(alphas)
        print_tables(bench.rows, start, opened)
        print("\n".join(differences))
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
