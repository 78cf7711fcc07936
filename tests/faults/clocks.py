"""Shift the clocks of a web server and a worker by two days. The database has the right time."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.judging import answer_to
from tests.faults.jobs import ENDED, imported, start_import, wait_until
from tests.faults.row import Row
from tests.faults.site import Person, Site, judged_too_often, total
from tests.faults.submits import stored_label

DAY = 24 * 3600
SHIFTS = (2 * DAY, -2 * DAY)
LEASE_MINUTES = 30


def shift_clocks(site: Site, rounds: int) -> Row:
    """Judge, expire leases, use an expired session and import a run, with a fast and a slow clock.

    Leases and sessions must follow the database's clock. A sweeper with the right clock must not
    restart a job of the worker with the wrong clock.
    """
    prepared = site.world("soak", "3", str(20 * rounds * len(SHIFTS)))
    wrong: list[str] = []
    acknowledged: dict[str, int] = {}
    jobs = []
    site.world("sweep")
    for number, shift in enumerate(SHIFTS * rounds):
        site.variables["CLOCK_SHIFT"] = str(shift)
        anna, ben, expired = (site.person(session) for session in prepared["sessions"])
        with site.server(application="tests.faults.shifted"):
            wrong += leases(site, anna, ben, prepared["campaign"], acknowledged)
            wrong += sessions(site, expired, prepared["sessions"][2])
        jobs.append(start_import(site, f"run-{number}"))
        with site.worker("tests.faults.shifted"):
            wait_until(site, jobs[-1], ENDED)
    attempts = site.rows("SELECT attempts FROM jobs_job WHERE kind = 'import_run'")
    wrong += [f"{made} attempts" for (made,) in attempts if made != 1]
    found = imported(site, jobs)
    lost = sum(stored_label(site, key) != label for key, label in acknowledged.items())
    return Row(
        "Shift the clock of web server and worker by two days",
        site.database,
        tried=rounds * len(SHIFTS),
        acknowledged=len(acknowledged) + len(jobs),
        stored=total(site) + found.whole,
        lost=lost + len(wrong) + len(jobs) - found.whole,
        doubled=judged_too_often(site) + total(site) - len(acknowledged) + found.doubled,
        note="; ".join([*wrong, *([found.note] if found.note else [])]),
    )


def leases(
    site: Site, anna: Person, ben: Person, campaign: int, acknowledged: dict[str, int]
) -> Iterator[str]:
    """Yield the faults of a lease that has just begun, and of one that has expired."""
    (hers,) = anna.claim(campaign)
    lease = newest_lease(site)
    (minutes,) = site.rows(
        "SELECT EXTRACT(EPOCH FROM lease_expires_at - now()) / 60 FROM annotation_assignment "
        "WHERE id = ?",
        lease,
    )[0]
    if not LEASE_MINUTES - 1 < minutes <= LEASE_MINUTES:
        yield f"a lease of {minutes:.0f} minutes"
    (his,) = ben.claim(campaign)
    if state_of(site, lease) != "held":
        yield "a lease was lost"
    for person, held in ((anna, hers), (ben, his)):
        answer = answer_to(held)
        acknowledged[answer["client_key"]] = person.insist("/api/v1/judgments/", answer)["label"]
    anna.claim(campaign)
    late = newest_lease(site)
    site.rows(
        "UPDATE annotation_assignment SET lease_expires_at = now() - interval '1 second' "
        "WHERE id = ?",
        late,
    )
    ben.claim(campaign)
    if state_of(site, late) != "expired":
        yield "an expired lease did not end"


def newest_lease(site: Site) -> int:
    """Return the primary key of the newest assignment. The API shows its public id instead."""
    return int(site.rows("SELECT MAX(id) FROM annotation_assignment")[0][0])


def state_of(site: Site, assignment: int) -> str:
    rows = site.rows("SELECT state FROM annotation_assignment WHERE id = ?", assignment)
    return str(rows[0][0])


def sessions(site: Site, person: Person, key: str) -> Iterator[str]:
    """Yield the faults of a session whose expiry is first in one hour, and then one hour ago."""
    for hours, expected in ((1, 200), (-1, 302)):
        site.rows(
            "UPDATE django_session SET expire_date = now() + ? * interval '1 hour' "
            "WHERE session_key = ?",
            hours,
            key,
        )
        status = person.get("/me/")
        if status != expected:
            yield f"a session that ends in {hours} h: {status}"
