"""Judgments per second, and times of the API calls, with many annotators at the same time.

    python -m tests.benchmarks.judging --annotators 20 --seconds 30 [--sqlite] [--pairs N]
        [--double SHARE] [--rate N] [--machines N] [--workers N] [--tiny] [--json]

The program starts its own server (gunicorn, with a database that contains one campaign).
With `--machines`, it starts several, like web machines behind a load balancer, and distributes the
annotators among them. `web_ms` and `database_ms` are the processor time of an answer, including a
tenth of a claim. They hardly depend on other programs on the machine.

Signed-in annotators judge without pauses and use the same calls as the page: claim ten pairs,
submit an answer for each, and claim again. The server is then fully loaded, and each call waits for
others. With `--rate`, all annotators together send N answers per second. If the server can process
more than N, calls hardly wait for others. The load is generated on the same machine. `judged_twice`
counts slots with two answers, tasks that an annotator judged twice, and tasks with more labels than
they need. It must be 0.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hearth.processes import child
from tests.benchmarks.commands import ROOT, choose_database, new_database, run_world
from tests.services import free_port

CLAIM = 10


@dataclass(slots=True)
class Times:
    """The milliseconds of every call, by type, and the responses whose status was not 2xx."""

    claims: list[float] = field(default_factory=list)
    submits: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Schedule:
    """The times at which one annotator acts: every `pause` seconds after the first `first` seconds.

    If an act is late, the next one is due `pause` seconds after it. Lost time is not caught up.
    """

    def __init__(self, pause: float, first: float) -> None:
        self.pause = pause
        self.at = time.perf_counter() + first

    async def next(self) -> None:
        self.at = max(self.at + self.pause, time.perf_counter())
        await asyncio.sleep(self.at - time.perf_counter())


def answer_to(assignment: int) -> dict[str, Any]:
    """Return an answer as the judging room sends it, with a new `client_key`."""
    key = str(uuid.uuid4())
    return {"assignment": assignment, "label": assignment % 2, "client_key": key, "seconds": 1.0}


class LoadAnnotator:
    """One annotator with one persistent connection, like a browser."""

    def __init__(
        self, port: int, campaign: int, cookies: str, token: str, times: Times, schedule: Schedule
    ) -> None:
        self.port = port
        self.schedule = schedule
        self.campaign = campaign
        self.head = (
            f"Host: 127.0.0.1:{port}\r\nCookie: {cookies}\r\nX-CSRFToken: {token}\r\n"
            "Content-Type: application/json\r\n"
        )
        self.times = times

    async def judge_until(self, end: float) -> None:
        # Connect only now: an open connection without a request would occupy a thread of gunicorn
        # for five seconds.
        await self.schedule.next()
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        while time.perf_counter() < end:
            claim = {"count": CLAIM}
            claimed = await self.post(
                f"/api/v1/campaigns/{self.campaign}/claim/", claim, self.times.claims
            )
            items = claimed.get("items", [])
            if not items:
                return
            for item in items:
                await self.schedule.next()
                if time.perf_counter() > end:
                    break
                answer = answer_to(item["assignment"])
                await self.post("/api/v1/judgments/", answer, self.times.submits)
        self.writer.close()

    async def post(self, path: str, body: dict[str, Any], times: list[float]) -> dict[str, Any]:
        content = json.dumps(body).encode()
        request = f"POST {path} HTTP/1.1\r\n{self.head}Content-Length: {len(content)}\r\n\r\n"
        began = time.perf_counter()
        self.writer.write(request.encode() + content)
        status, response = await self.read()
        times.append(1000 * (time.perf_counter() - began))
        if not 200 <= status < 300:
            self.times.errors.append(f"{status} {response[:200]!r}")
            return {}
        result: dict[str, Any] = json.loads(response)
        return result

    async def read(self) -> tuple[int, bytes]:
        head = await self.reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(lines[0].split()[1]), body


@contextmanager
def server(
    environment: dict[str, str], port: int, log: Path, root: Path = ROOT, *, workers: int = 2
) -> Iterator[int]:
    """Run gunicorn, and yield the number of its process group."""
    gunicorn = ["gunicorn", "config.wsgi", "--config", "deploy/gunicorn.conf.py"]
    gunicorn += ["--chdir", str(root)]
    gunicorn += ["--bind", f"127.0.0.1:{port}", "--workers", str(workers), "--threads", "4"]
    with child(gunicorn, log=log, **environment) as process:
        for _ in range(300):
            try:
                asyncio.run(_connect(port))
            except OSError:
                time.sleep(0.1)
            else:
                break
        yield process.pid


async def _connect(port: int) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()


async def judge(
    ports: list[int], prepared: dict[str, Any], seconds: float, rate: float | None = None
) -> Times:
    times = Times()
    token = "0" * 32
    pause = len(prepared["sessions"]) / rate if rate else 0
    people = [
        LoadAnnotator(
            ports[number % len(ports)],
            prepared["campaign"],
            f"sessionid={session}; csrftoken={token}",
            token,
            times,
            # Annotators begin at different times. Otherwise all would claim at the same time.
            Schedule(pause, first=CLAIM * pause * number / len(prepared["sessions"])),
        )
        for number, session in enumerate(prepared["sessions"])
    ]
    end = time.perf_counter() + seconds
    await asyncio.gather(*(person.judge_until(end) for person in people))
    return times


def measure(options: argparse.Namespace, environment: dict[str, str], home: Path) -> dict[str, Any]:
    # Separate processes, because Django would slow down the process that generates the load.
    world = partial(run_world, "judging", environment, fork=options.tiny)
    prepared = world("prepare", options.annotators, options.pairs, options.double)
    ports = [free_port() for _ in range(options.machines)]
    with ExitStack() as machines:
        groups = [
            machines.enter_context(
                server(environment, port, home / f"{port}.log", workers=options.workers)
            )
            for port in ports
        ]
        asyncio.run(judge(ports, {**prepared, "sessions": prepared["sessions"][:1]}, 1))  # warm-up
        before = sum(map(processor_seconds, groups))
        times = asyncio.run(judge(ports, prepared, options.seconds, options.rate))
        web = sum(map(processor_seconds, groups)) - before
        database = world("database")["seconds"]
    checked = world("verify")
    return {
        "database": "sqlite" if options.sqlite else "postgresql",
        "machines": options.machines,
        "workers": options.workers,
        "annotators": options.annotators,
        "pairs": options.pairs,
        "rate": options.rate,
        "judgments_per_s": round(len(times.submits) / options.seconds, 1),
        "claim_p50_ms": percentile(times.claims, 50),
        "claim_p95_ms": percentile(times.claims, 95),
        "submit_p50_ms": percentile(times.submits, 50),
        "submit_p95_ms": percentile(times.submits, 95),
        "web_ms": round(1000 * web / max(1, len(times.submits)), 1),
        "database_ms": round(1000 * database / max(1, len(times.submits)), 1),
        "judged_twice": checked["twice"],
        "errors": len(times.errors),
        "first_errors": times.errors[:3],
        "stored": checked["stored"],
    }


def processor_seconds(group: int) -> float:
    """Return the processor time that the processes of a group have used so far."""
    seconds = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # a process that has ended in the meantime
            values = stat.read_text().rpartition(")")[2].split()
            seconds += sum(map(int, values[11:13])) if int(values[2]) == group else 0
    return seconds / os.sysconf("SC_CLK_TCK")


def percentile(values: list[float], share: float) -> float | None:
    return round(float(np.percentile(values, share)), 1) if values else None


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Measure the judgments per second of many annotators."
    )
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--double", type=float, default=0.1, help="share of pairs with two labels")
    parser.add_argument("--rate", type=float, help="answers per second of all annotators")
    parser.add_argument("--machines", type=int, default=1, help="number of web servers")
    parser.add_argument("--workers", type=int, default=2, help="processes of each web server")
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--tiny", action="store_true", help="use a small input, to check that this program runs"
    )
    options = parser.parse_args()
    if options.tiny:
        options.annotators, options.seconds, options.pairs = 2, 1, 60
    choose_database(sqlite=options.sqlite)
    with tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder:
        home = Path(folder)
        with new_database(home) as environment:
            result = measure(options, environment, home)
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:18}{value}")
    return int(bool(result["judged_twice"] or result["errors"]))


if __name__ == "__main__":
    sys.exit(main())
