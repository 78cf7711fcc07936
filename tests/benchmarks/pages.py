"""Times of the lab at the size of the MSVD test split: computing analyses and opening pages.

    python -m tests.benchmarks.pages [--sqlite] [--data DIR | --tiny] [--requests N]
        [--json]

The database is a new one on a PostgreSQL server, or a new SQLite file. The server is that of
DATABASE_URL, or a local one that the program finds or starts. The commands fill the database from
drawn files, or with --data from the real ones. Alpha is computed from the database and compared
with the `krippendorff` package. Each analysis that needs no ordering study is computed once, in
its own process. Then gunicorn
serves the pages, and a researcher opens each page and download once, and N more times, over one
persistent connection. The load is generated on the same machine. The exit code is 1 if a response
is not 200, a known value differs, or alpha differs from that of the package. Times do not change
the exit code.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from tests.benchmarks.commands import (
    KEY,
    Bench,
    Row,
    choose_database,
    drawn_data,
    measure,
    new_database,
    run_world,
)
from tests.benchmarks.judging import server
from tests.services import free_port

PAGE_MS, ALPHA_SECONDS = 300, 2
# Computing an analysis has no limit, because the page shows the progress.
NO_LIMIT = float("inf")
# The analyses that are computed with a tiny input: one without proxies, and one that needs two.
TINY_ANALYSES = ["scores", "proxy-correlation"]


@dataclass(frozen=True, slots=True)
class Opened:
    """One address: milliseconds of the first request and of the others, and kilobytes as sent."""

    name: str
    first_ms: float
    median_ms: float
    p95_ms: float
    kilobytes: float

    @property
    def holds(self) -> bool:
        return self.p95_ms < PAGE_MS


class Visitor:
    """The browser of a researcher, with one persistent connection."""

    def __init__(self, port: int, session: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"Cookie": f"sessionid={session}", "Accept-Encoding": "gzip"}

    def visit(self, address: str) -> tuple[float, int]:
        """Return the milliseconds until the whole response has arrived, and its bytes."""
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
    """Compute two proxies and each analysis, each in its own process.

    The test captions also serve as train captions.
    """
    captions = str(data / "captions.csv.gz")
    bench.command("import_train_captions", NO_LIMIT, "import_train_captions", KEY, captions)
    for percent in (25, 50):
        words = ["compute_proxy", KEY, "bow", "--name", f"BoW {percent}", "--percent", str(percent)]
        bench.command(f"compute_proxy, {percent} %", NO_LIMIT, *words)
    for name in names:
        print(f"computing {name} …", file=sys.stderr)
        bench.command(name, NO_LIMIT, "analyse", KEY, name)


def open_all(
    environment: dict[str, str], home: Path, requests: int, names: Sequence[str], *, tiny: bool
) -> tuple[float, dict[str, list[Opened]]]:
    """Return milliseconds of the first request after the start, and the addresses by type."""
    prepared = run_world("pages", environment, "addresses", KEY, *names, fork=tiny)
    port = free_port()
    with server(environment, port, home / "gunicorn.log", workers=1 if tiny else 2):
        visitor = Visitor(port, prepared["session"])
        start, _ = visitor.visit("/")
        opened = {
            kind: [visitor.visit_often(*address, requests) for address in addresses.items()]
            for kind, addresses in prepared["addresses"].items()
        }
    return round(start, 1), opened


def different_alphas(alphas: dict[str, tuple[float, float]]) -> list[str]:
    """Return a message for each alpha that differs from Hearth's, which is the first."""
    (_, ours), *peers = alphas.values()
    return [
        f"alpha is {ours}, the package returns {value}"
        for _, value in peers
        if abs(value - ours) > 1e-12
    ]


def print_alpha(alphas: dict[str, tuple[float, float]]) -> None:
    print(f"\n{'alpha of all labels':42}{'seconds':>10}{'limit':>10}")
    for place, (name, (seconds, _)) in enumerate(alphas.items()):
        mark = "" if seconds < ALPHA_SECONDS else "  MISSED"
        limit = "" if place else f"{ALPHA_SECONDS:10}{mark}"
        print(f"{name:42}{seconds:10.3f}{limit}")


def print_tables(computing: list[Row], start: float, opened: dict[str, list[Opened]]) -> None:
    print(f"\n{'computing, in its own process':42}{'seconds':>10}{'peak MB':>10}")
    for row in computing:
        print(f"{row.name:42}{row.seconds:10.2f}{row.megabytes:10.0f}")
    for kind, rows in opened.items():
        heads = f"{'first ms':>10}{'median':>10}{'p95':>10}{'limit':>8}{'kB':>8}"
        print(f"\n{kind:42}{heads}")
        for row in rows:
            times = f"{row.first_ms:10,.1f}{row.median_ms:10,.1f}{row.p95_ms:10,.1f}"
            mark = "" if row.holds else "  MISSED"
            print(f"{row.name:42}{times}{PAGE_MS:8}{row.kilobytes:8,.1f}{mark}")
    print(f"\nthe first request after the start: {start:,.1f} ms")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Times of computing analyses and opening their pages."
    )
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--data", type=Path, help="folder with the MSVD files")
    parser.add_argument("--requests", type=int, default=20, help="repeated requests of each page")
    parser.add_argument(
        "--tiny", action="store_true", help="use a small input, to check that it runs"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    choose_database(sqlite=options.sqlite)
    with tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder:
        home = Path(folder) / "home"
        data = options.data or drawn_data(Path(folder), tiny=options.tiny)
        with new_database(home) as environment:
            filling = Bench(environment, known=options.data is not None, is_tiny=options.tiny)
            measure(filling, data)
            bench = Bench(environment, known=False, is_tiny=options.tiny)
            alphas = run_world("pages", environment, "alpha", KEY, fork=options.tiny)
            names = TINY_ANALYSES
            if not options.tiny:
                names = run_world("pages", environment, "names")["names"]
            compute_all(environment, bench, data, names)
            start, opened = open_all(environment, home, options.requests, names, tiny=options.tiny)
    differences = [*filling.differences, *different_alphas(alphas)]
    if options.json:
        kinds = {kind: [asdict(row) for row in rows] for kind, rows in opened.items()}
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
