"""Kill a worker's main process, its child process, or both (kill -9) during an import."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable

from tests.faults.jobs import ENDED, RUN_IS_READ, imported, start_import, wait_until
from tests.faults.row import Row
from tests.faults.site import Site
from tests.processes import children_of

PAST = "2000-01-01 00:00:00"
DEATHS = 3
REASON = "The worker died 3 times during this job."


def kill_main(worker: subprocess.Popen[bytes]) -> None:
    os.kill(worker.pid, signal.SIGKILL)


def kill_child(worker: subprocess.Popen[bytes]) -> None:
    for pid in children_of(worker.pid):
        os.kill(pid, signal.SIGKILL)


def kill_group(worker: subprocess.Popen[bytes]) -> None:
    os.killpg(worker.pid, signal.SIGKILL)


WAYS: tuple[Callable[[subprocess.Popen[bytes]], None], ...] = (kill_child, kill_main, kill_group)


def kill_during_imports(site: Site, rounds: int) -> Row:
    """Kill `rounds` times in each way. Then kill one job three times, which must fail it."""
    site.world("benchmark")
    jobs = []
    with site.sweeper():
        for number, kill in enumerate(WAYS * rounds):
            jobs.append(start_import(site, f"run-{number}"))
            with site.worker() as worker:
                wait_until(site, jobs[-1], RUN_IS_READ)
                kill(worker)
            expire_leases(site)
            with site.worker():
                wait_until(site, jobs[-1], ENDED)
        last = start_import(site, "killed")
        for death in range(1, DEATHS + 1):
            with site.worker() as worker:
                wait_until(site, last, f"state = 'running' AND attempts = {death}")
                kill_group(worker)
            expire_leases(site)
        wait_until(site, last, ENDED)
    found = imported(site, jobs)
    ends = site.rows("SELECT state, error FROM jobs_job WHERE id = ?", last)
    uploads = sum(path.is_file() for path in (site.folder / "uploads").iterdir())
    return Row(
        "Kill a worker during imports",
        site.database,
        tried=rounds * len(WAYS) + DEATHS,
        acknowledged=len(jobs),
        stored=found.whole,
        lost=len(jobs) - found.whole + (ends != [("failed", REASON)]),
        doubled=found.doubled + uploads,
        note=found.note,
    )


def expire_leases(site: Site) -> None:
    """Set all leases to expired, so that the sweeper need not wait."""
    site.rows("UPDATE jobs_job SET lease_expires_at = ? WHERE state = 'running'", PAST)
