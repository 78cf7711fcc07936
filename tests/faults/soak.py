"""Let many people judge for ten minutes, and report errors, times by view, and memory.

    python -m tests.faults.soak [--people 200] [--think 10] [--seconds 600] [--write] [--json]

The site has PostgreSQL, Redis, gunicorn, a worker and the scheduler. Each annotator sends an answer
every `--think` seconds. A lead and an annotator open pages, and runs are imported. gunicorn does
not replace its processes after a number of requests, because that would hide the growth of their
memory. The exit code is 1 if there is an error, if an answer is lost or stored twice, or if the
memory of a process grows. `--write` writes docs/soak.md.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from hearth.processes import raise_on_signals
from tests.benchmarks.commands import ROOT
from tests.benchmarks.judging import judge, percentile
from tests.faults.jobs import ENDED, imported, start_import, wait_until
from tests.faults.postgres import PrivatePostgres
from tests.faults.row import markdown
from tests.faults.site import Site, judged_too_often, total
from tests.processes import children_of, memory_of
from tests.services import ensure_redis

REPORT = ROOT / "docs" / "soak.md"
INTRODUCTION = """# Soak

In a soak, many people judge at the same time for minutes on a site with real servers: PostgreSQL,
Redis, gunicorn with two processes of four threads, one worker and the scheduler. Meanwhile a lead
and an annotator open pages, and a run of 400,000 lines is imported each minute. `make soak` writes
this page and takes eleven minutes. `make test` runs a short soak. p50 is the median of times, and
95 % of the times are at most p95.
"""
WARM_SECONDS = 60.0
# A web process loads the code of a page when it first shows the page, and a request reaches only
# one of the processes. Each page is therefore opened several times before the measurement.
WARM_ROUNDS = 8
SAMPLE_SECONDS = 2.0
PAGE_SECONDS = 1.0
IMPORT_SECONDS = 60.0
# Memory does not grow if its median in the last third of the time is at most this much above its
# median in the first third.
GROWTH_MB = 5.0


@dataclass(frozen=True, slots=True)
class View:
    """The times of one view in milliseconds, measured in the web process."""

    name: str
    requests: int
    p50_ms: float | None
    p95_ms: float | None


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of one process in MB: the medians of the first and last third, and the peak."""

    process: str
    first: float
    last: float
    peak: float

    @property
    def is_flat(self) -> bool:
        return self.last - self.first <= GROWTH_MB


@dataclass(slots=True)
class Soak:
    """The result of a soak. The counts include the warm-up. The rate and the times do not."""

    people: int
    think_seconds: float
    seconds: float
    acknowledged: int = 0
    stored: int = 0
    doubled: int = 0
    imports: int = 0
    judgments_per_second: float = 0
    claim_p95_ms: float | None = None
    submit_p95_ms: float | None = None
    errors: list[str] = field(default_factory=list)
    views: list[View] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        nothing_wrong = self.acknowledged == self.stored and not self.doubled and not self.errors
        return nothing_wrong and all(process.is_flat for process in self.memory)


def soak(site: Site, people: int, think: float, seconds: float) -> Soak:
    """Let `people` annotators judge for `seconds`, after a warm-up."""
    warm = min(WARM_SECONDS, seconds / 2)
    rate = people / think
    prepared = site.world("soak", str(people), str(round(rate * (seconds + warm)) + 20 * people))
    result = Soak(people, think, seconds)
    pages = pages_of(prepared)
    opened = itertools.cycle(pages)
    samples: dict[str, list[float]] = defaultdict(list)
    jobs: list[str] = []
    with ExitStack() as stack:
        web = stack.enter_context(site.server("--max-requests", "0", preload=False))
        worker = stack.enter_context(site.worker())
        scheduler = stack.enter_context(site.scheduler())
        pids = {"gunicorn": web.pid, "worker": worker.pid, "scheduler": scheduler.pid}
        for page in pages * (WARM_ROUNDS if warm == WARM_SECONDS else 1):
            open_page(site, *page, result)
        stack.enter_context(repeated(PAGE_SECONDS, lambda: open_page(site, *next(opened), result)))
        warming = asyncio.run(judge([site.port], prepared, warm, rate))
        begin = len(site.log("web"))
        with (
            repeated(SAMPLE_SECONDS, lambda: sample(pids, samples)),
            repeated(IMPORT_SECONDS, lambda: jobs.append(start_import(site, f"run-{len(jobs)}"))),
        ):
            times = asyncio.run(judge([site.port], prepared, seconds, rate))
        result.views = views(site.log("web")[begin:])
        for job in jobs:
            wait_until(site, job, ENDED)
    result.memory = [memory(name, values) for name, values in samples.items()]
    result.judgments_per_second = round(len(times.submits) / seconds, 1)
    result.claim_p95_ms = percentile(times.claims, 95)
    result.submit_p95_ms = percentile(times.submits, 95)
    result.acknowledged = len(warming.submits) + len(times.submits)
    result.stored, result.doubled = total(site), judged_too_often(site)
    result.errors += warming.errors + times.errors + logged_errors(site)
    found = imported(site, jobs)
    result.imports = found.whole
    result.errors += [found.note] if found.note else []
    return result


def pages_of(prepared: dict[str, Any]) -> list[tuple[str, str]]:
    """Return pairs of a session and an address that it opens."""
    campaign = f"/campaigns/{prepared['campaign']}"
    lead = ["/", "/benchmarks/bench/", f"{campaign}/", f"{campaign}/people/", f"{campaign}/desk/"]
    lead += ["/benchmarks/drill/runs/", "/jobs/", "/people/"]
    annotator = ["/", f"{campaign}/judge/", "/me/", f"/api/v1{campaign}/history/"]
    return [
        *((prepared["lead"], address) for address in lead),
        *((prepared["sessions"][0], address) for address in annotator),
    ]


def open_page(site: Site, session: str, address: str, result: Soak) -> None:
    status = site.person(session).get(address)
    if status != 200:
        result.errors.append(f"{address}: {status or 'no response'}")


@contextmanager
def repeated(seconds: float, act: Callable[[], object]) -> Iterator[None]:
    """Call `act` repeatedly in another thread, with a pause of `seconds`."""
    stopped = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(_repeat, stopped, seconds, act)
        try:
            yield
        finally:
            stopped.set()
        done.result()


def _repeat(stopped: threading.Event, seconds: float, act: Callable[[], object]) -> None:
    while not stopped.is_set():
        act()
        stopped.wait(seconds)


def sample(pids: dict[str, int], samples: dict[str, list[float]]) -> None:
    """Add the memory of each process and of its children."""
    for name, pid in pids.items():
        samples[name].append(memory_of(pid))
        for number, child in enumerate(sorted(children_of(pid)), start=1):
            samples[f"{name}, process {number}"].append(memory_of(child))


def memory(process: str, values: list[float]) -> Memory:
    third = max(1, len(values) // 3)
    figures = median(values[:third]), median(values[-third:]), max(values)
    return Memory(process, *(round(figure, 1) for figure in figures))


def views(log: str) -> list[View]:
    """Return the times by view from the access log, the most frequent view first."""
    times: dict[str, list[float]] = defaultdict(list)
    for record in records(log):
        if "view" in record:
            times[record["view"]].append(record["milliseconds"])
    found = [
        View(name, len(ms), percentile(ms, 50), percentile(ms, 95)) for name, ms in times.items()
    ]
    return sorted(found, key=lambda view: -view.requests)


def logged_errors(site: Site) -> list[str]:
    return [
        f"{name}: {record['message']}"
        for name in ("web", "worker", "scheduler")
        for record in records(site.log(name))
        if record["level"] in ("ERROR", "CRITICAL")
    ]


def records(log: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a log. Lines of other programs, such as a banner, are skipped."""
    for line in log.splitlines():
        if line.startswith("{"):
            yield json.loads(line)


# --- Report -------------------------------------------------------------------------------------


def report(result: Soak, date: str) -> str:
    facts = [
        f"The soak ran on {date} on {os.cpu_count()} cores. The load average of the machine,",
        f"with all other programs, was {os.getloadavg()[2]:.0f}. After a warm-up, each of",
        f"{result.people} people judged for {result.seconds:g} seconds, and tried to send an",
        f"answer every {result.think_seconds:g} seconds.",
    ]
    figures = [
        ("Figure", "Value"),
        ("---", "---:"),
        ("Acknowledged judgments", f"{result.acknowledged:,}"),
        ("Stored judgments", f"{result.stored:,}"),
        ("Judgments stored twice", result.doubled),
        ("Errors", len(result.errors)),
        ("Imported runs", result.imports),
        ("Judgments per second", result.judgments_per_second),
        ("Time of an answer in the client, p95", f"{result.submit_p95_ms} ms"),
        ("Time of a claim in the client, p95", f"{result.claim_p95_ms} ms"),
    ]
    by_view = [("View", "Requests", "p50 ms", "p95 ms"), ("---", "---:", "---:", "---:")]
    by_view += [(v.name, f"{v.requests:,}", v.p50_ms, v.p95_ms) for v in result.views]
    by_process = [("Process", "First third", "Last third", "Peak"), ("---", "---:", "---:", "---:")]
    by_process += [(m.process, m.first, m.last, m.peak) for m in result.memory]
    errors = "".join(f"- {error}\n" for error in result.errors)
    return "\n".join(
        [
            INTRODUCTION,
            "\n".join(facts) + "\n",
            markdown(figures) + (f"\n{errors}" if errors else ""),
            "Times in the web process, by view:\n",
            markdown(by_view),
            "Memory of each process in MB: medians of the first and last third, and peak:\n",
            markdown(by_process),
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--think", type=float, default=10, help="seconds between two answers")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--write", action="store_true", help="write docs/soak.md")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    raise_on_signals()
    logs = {"LOG_FORMAT": "json", "LOG_LEVEL": "INFO"}
    with (
        PrivatePostgres() as postgres,
        tempfile.TemporaryDirectory(prefix="hearth-soak-") as folder,
        Site(Path(folder), postgres, REDIS_URL=ensure_redis(own=True), **logs) as site,
    ):
        result = soak(site, options.people, options.think, options.seconds)
    text = report(result, time.strftime("%d %B %Y"))
    print(json.dumps(asdict(result)) if options.json else text)
    if options.write:
        REPORT.write_text(text)
    return int(not result.holds)


if __name__ == "__main__":
    sys.exit(main())
