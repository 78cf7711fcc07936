"""Kill a worker (kill -9) during an import or scoring: its main process, its child, or both."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from tests.faults.jobs import (
    ENDED,
    RUN_IS_READ,
    RUN_IS_SCORED,
    imported,
    start_import,
    wait_until,
)
from tests.faults.row import Row
from tests.faults.site import Site
from tests.processes import children_of
from tests.waiting import wait_for

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
    """Kill a worker `rounds` times in each way. Each import must end complete.

    Then kill the worker of one job three times. That job must fail.
    """
    site.world("benchmark")
    jobs = []
    site.world("sweep")
    with ExitStack() as workers:
        worker = workers.enter_context(site.worker())
        for number, kill in enumerate(WAYS * rounds):
            jobs.append(start_import(site, f"run-{number}"))
            wait_until(site, jobs[-1], RUN_IS_READ)
            kill(worker)
            if kill != kill_child:
                workers.close()
                worker = workers.enter_context(site.worker())
            expire_leases(site)
            wait_until(site, jobs[-1], ENDED)
        last = start_import(site, "killed")
        for death in range(1, DEATHS + 1):
            wait_until(site, last, f"state = 'running' AND attempts = {death}")
            kill_child(worker)
            expire_leases(site)
        wait_until(site, last, ENDED)
    found = imported(site, jobs)
    ends = site.rows("SELECT state, error FROM jobs_job WHERE id = ?", last)
    return Row(
        "Kill a worker during imports",
        site.database,
        tried=rounds * len(WAYS) + DEATHS,
        acknowledged=len(jobs),
        stored=found.whole,
        lost=len(jobs) - found.whole + (ends != [("failed", REASON)]),
        doubled=found.doubled + left_uploads(site),
        note=found.note if ends == [("failed", REASON)] else f"{found.note} {ends}",
    )


def kill_during_scoring(site: Site, rounds: int) -> Row:
    """Kill a worker that scores an uploaded run, `rounds` times. Each upload must end as scored.

    Then kill the worker of one upload three times. That upload must end as refused, without a run.
    """
    site.world("benchmark")
    scored = []
    site.world("sweep")
    with ExitStack() as workers:
        worker = workers.enter_context(site.worker())
        for number in range(rounds):
            made = site.world("upload_run", f"run-{number}")
            scored.append(made["upload"])
            wait_until(site, made["job"], (RUN_IS_READ, RUN_IS_SCORED)[number % 2])
            kill_group(worker)
            workers.close()
            worker = workers.enter_context(site.worker())
            expire_leases(site)
            wait_until(site, made["job"], ENDED)
        last = site.world("upload_run", "killed")
        for death in range(1, DEATHS + 1):
            reading = f"{RUN_IS_READ} AND attempts - interruptions = {death}"
            wait_until(site, last["job"], reading)
            kill_child(worker)
            expire_leases(site)
        refused = wait_for(lambda: upload_of(site, last["upload"]) == ("refused", True, 0))
    ends = [upload_of(site, one) for one in scored]
    # Constraints prevent repeated lists and scores of a run, so only runs are counted.
    (runs,) = site.rows("SELECT COUNT(*) FROM pooling_run")
    whole = sum(end == ("scored", False, 1) for end in ends)
    return Row(
        "Kill a worker during scoring",
        site.database,
        tried=rounds + DEATHS,
        acknowledged=rounds + 1,
        stored=whole + refused,
        lost=rounds - whole + (not refused),
        doubled=runs[0] - whole + left_uploads(site),
        note="" if refused and whole == rounds else f"{ends} {upload_of(site, last['upload'])}",
    )


def upload_of(site: Site, upload: str) -> tuple[Any, ...]:
    """Return the state of an upload, whether its slot is free, and its number of scores."""
    (found,) = site.rows(
        "SELECT u.state, u.slot IS NULL, "
        "(SELECT COUNT(*) FROM evaluation_evaluation e WHERE e.run_id = u.run_id) "
        "FROM pooling_runupload u WHERE u.id = ?",
        upload,
    )
    return found


def left_uploads(site: Site) -> int:
    """Return the number of uploaded files that remain. Each is deleted shortly after its job."""

    def files() -> int:
        return sum(path.is_file() for path in (site.folder / "uploads").iterdir())

    wait_for(lambda: files() == 0, seconds=30)
    return files()


def expire_leases(site: Site) -> None:
    """Set all leases to expired, so that the sweeper need not wait."""
    site.rows("UPDATE jobs_job SET lease_expires_at = ? WHERE state = 'running'", PAST)
