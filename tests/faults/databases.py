"""Stop and kill PostgreSQL while people judge and while a run is imported."""

from __future__ import annotations

import signal
import time

from tests.faults.jobs import ENDED, RUN_IS_READ, imported, start_import, wait_until
from tests.faults.row import Row
from tests.faults.site import Site
from tests.faults.writers import row_of, writers

# The signals of a restart by an administrator, of an aborted server and of a killed server.
WAYS = (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)
STOPPED_SECONDS = 1.0
# Enough for each of the six people to judge, before the first stop and after each stop.
ANSWERS_BETWEEN = 20


def stop_under_writers(site: Site, rounds: int) -> Row:
    """Stop the server `rounds` times in each way while six people judge."""
    assert site.postgres is not None
    with site.server(), writers(site, rounds) as group:
        for how in WAYS * rounds:
            group.wait_for_more(ANSWERS_BETWEEN)
            site.postgres.stop(how)
            time.sleep(STOPPED_SECONDS)
            site.postgres.start()
        group.wait_for_more(ANSWERS_BETWEEN)
    unexpected = sorted(set(group.wrong))
    return row_of(
        "Stop and kill PostgreSQL while six people judge",
        site,
        group,
        tried=rounds * len(WAYS),
        note=f"statuses other than 2xx, 429 and 503: {unexpected}" if unexpected else "",
    )


def stop_during_imports(site: Site, rounds: int) -> Row:
    """Stop the server `rounds` times, each time during the import of another run."""
    assert site.postgres is not None
    site.world("benchmark")
    jobs = []
    site.world("sweep")
    with site.worker():
        for number in range(rounds):
            jobs.append(start_import(site, f"run-{number}"))
            wait_until(site, jobs[-1], RUN_IS_READ)
            site.postgres.stop(WAYS[number % len(WAYS)])
            time.sleep(STOPPED_SECONDS)
            site.postgres.start()
            wait_until(site, jobs[-1], ENDED)
    found = imported(site, jobs)
    return Row(
        "Stop and kill PostgreSQL during imports",
        site.database,
        tried=rounds,
        acknowledged=len(jobs),
        stored=found.whole,
        lost=len(jobs) - found.whole,
        doubled=found.doubled,
        note=found.note,
    )
