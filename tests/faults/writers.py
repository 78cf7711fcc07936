"""Annotators who judge at the same time, and a record of what the site acknowledged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.benchmarks.judging import answer_to
from tests.faults.site import Person, Site
from tests.waiting import wait_for

PEOPLE = 6
CLAIM = 10


@dataclass
class Writers:
    """`acknowledged`: the keys of answers that were confirmed, in their order, with their ids."""

    campaign: int
    people: list[Person]
    acknowledged: dict[str, int] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def wrong(self) -> list[int]:
        return [status for person in self.people for status in person.wrong]

    def judge(self, person: Person) -> None:
        while not self.stopped.is_set():
            for assignment in person.claim(self.campaign, CLAIM):
                answer = answer_to(assignment)
                stored = person.insist("/api/v1/judgments/", answer)
                self.acknowledged[answer["client_key"]] = stored["id"]
                if self.stopped.is_set():
                    return

    def wait_for_more(self, count: int) -> None:
        """Wait until `count` further answers are acknowledged."""
        enough = len(self.acknowledged) + count
        assert wait_for(lambda: len(self.acknowledged) >= enough), self.wrong


@contextmanager
def writers(site: Site, pairs: int) -> Iterator[Writers]:
    """Let annotators judge until the end of the block."""
    prepared = site.world("campaign", str(PEOPLE), str(pairs))
    people = [site.person(session) for session in prepared["sessions"]]
    group = Writers(prepared["campaign"], people)
    with ThreadPoolExecutor(PEOPLE) as pool:
        done = [pool.submit(group.judge, person) for person in people]
        try:
            yield group
        finally:
            group.stopped.set()
        for one in done:
            one.result()


def missing(site: Site, acknowledged: dict[str, int]) -> int:
    """Return the number of acknowledged answers that are not stored, or under another id."""
    rows = site.rows("SELECT client_key, id FROM annotation_judgment")
    stored = {str(key).replace("-", ""): number for key, number in rows}
    return sum(stored.get(key.replace("-", "")) != number for key, number in acknowledged.items())
