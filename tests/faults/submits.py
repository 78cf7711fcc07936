"""Kill web processes (kill -9): at five points of storing a judgment, and at any moment."""

from __future__ import annotations

import os
import random
import signal
import time

from tests.benchmarks.judging import answer_to
from tests.faults.row import Row
from tests.faults.site import OK, Site, judged_too_often, total
from tests.faults.writers import row_of, writers
from tests.processes import children_of

# The names of the points in tests/faults/wsgi.py, which is not imported because it needs Django.
POINTS = ("before-insert", "after-insert", "after-commit", "before-reply", "during-reply")
STORED_BY_THEN = POINTS[2:]
# 200 kills need 50,000 answers. Many people judge, because each may send only 240 answers per
# minute.
ANSWERS_PER_KILL = 250
PEOPLE = 40
# About the time of one answer, so that the kills interrupt all its stages.
LONGEST_DELAY_SECONDS = 0.05


def kill_during_submits(site: Site, rounds: int) -> Row:
    """Kill `rounds` times at each point. The client then repeats the request with the same key.

    Each point has its own person: a person with more than 240 answers per minute is refused before
    the point.
    """
    prepared = site.world("campaign", str(len(POINTS)), str(2 * rounds * len(POINTS)))
    acknowledged: dict[str, int] = {}
    wrong: list[str] = []
    with site.server(application="tests.faults.wsgi"):
        people = [site.person(session) for session in prepared["sessions"]]
        for point, person in list(zip(POINTS, people, strict=True)) * rounds:
            answer = answer_to(person.claim(prepared["campaign"])[0])
            status, _ = person.post("/api/v1/judgments/", answer, **{"X-Fault": point})
            stored_now = stored_label(site, answer["client_key"]) is not None
            if status in OK or stored_now != (point in STORED_BY_THEN):
                wrong.append(f"{point}: status {status}, stored: {stored_now}")
            acknowledged[answer["client_key"]] = person.insist("/api/v1/judgments/", answer)[
                "label"
            ]
    statuses = [status for person in people for status in person.wrong]
    stored = {key: stored_label(site, key) for key in acknowledged}
    lost = sum(stored[key] != label for key, label in acknowledged.items())
    return Row(
        "Kill a web process at 5 points of a submit",
        site.database,
        tried=rounds * len(POINTS),
        acknowledged=len(acknowledged),
        stored=sum(label is not None for label in stored.values()),
        lost=lost + len(wrong) + len(statuses),
        doubled=judged_too_often(site) + total(site) - len(acknowledged),
        note="; ".join([*wrong, *(f"status {status}" for status in statuses)]),
    )


def kill_under_writers(site: Site, rounds: int) -> Row:
    """Kill one of the web processes `rounds` times at a random moment while people judge."""
    rng = random.Random(rounds)
    with site.server() as server, writers(site, rounds, people=PEOPLE) as group:
        for number in range(rounds):
            group.wait_for_more(ANSWERS_PER_KILL if number else PEOPLE)
            time.sleep(rng.uniform(0, LONGEST_DELAY_SECONDS))
            os.kill(rng.choice(children_of(server.pid)), signal.SIGKILL)
        group.wait_for_more(PEOPLE)
    drill = "Kill a web process at any moment while 40 people judge"
    return row_of(drill, site, group, tried=rounds, lost=len(group.wrong))


def stored_label(site: Site, key: str) -> int | None:
    shown = key if site.postgres else key.replace("-", "")
    rows = site.rows("SELECT label FROM annotation_judgment WHERE client_key = ?", shown)
    return int(rows[0][0]) if rows else None
