"""Kill the web process (kill -9) at five points of storing a judgment."""

from __future__ import annotations

from tests.benchmarks.judging import answer_to
from tests.faults.row import Row
from tests.faults.site import OK, Site, judged_too_often

# The names of the points in tests/faults/wsgi.py, which needs Django.
POINTS = ("before-insert", "after-insert", "after-commit", "before-reply", "during-reply")
STORED_BY_THEN = POINTS[2:]


def kill_during_submits(site: Site, rounds: int) -> Row:
    """Kill `rounds` times at each point. The client then repeats the request with the same key."""
    prepared = site.world("campaign", "1", str(2 * rounds * len(POINTS)))
    acknowledged: dict[str, int] = {}
    wrong = 0
    with site.server(application="tests.faults.wsgi"):
        person = site.person(prepared["sessions"][0])
        for point in POINTS * rounds:
            answer = answer_to(person.claim(prepared["campaign"])[0])
            status, _ = person.post("/api/v1/judgments/", answer, **{"X-Fault": point})
            wrong += status in OK  # the process should be dead
            wrong += (stored_id(site, answer["client_key"]) is not None) != (
                point in STORED_BY_THEN
            )
            acknowledged[answer["client_key"]] = person.insist("/api/v1/judgments/", answer)["id"]
    stored = {key: stored_id(site, key) for key in acknowledged}
    lost = sum(stored[key] != number for key, number in acknowledged.items())
    return Row(
        "Kill a web process at 5 points of a submit",
        site.database,
        tried=rounds * len(POINTS),
        acknowledged=len(acknowledged),
        stored=sum(number is not None for number in stored.values()),
        lost=lost + wrong + len(person.wrong),
        doubled=judged_too_often(site) + total(site) - len(acknowledged),
    )


def stored_id(site: Site, key: str) -> int | None:
    shown = key if site.postgres else key.replace("-", "")
    rows = site.rows("SELECT id FROM annotation_judgment WHERE client_key = ?", shown)
    return int(rows[0][0]) if rows else None


def total(site: Site) -> int:
    return int(site.rows("SELECT COUNT(*) FROM annotation_judgment")[0][0])
