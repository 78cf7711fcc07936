"""Annotators who judge at the same time, and a record of what the site acknowledged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.benchmarks.judging import answer_to
from tests.faults.row import Row
from tests.faults.site import Person, Site, judged_too_often, total
from tests.waiting import wait_for

PEOPLE = 6
CLAIM = 10
# People judge fewer pairs than the first number in one round, and fewer than the second in all
# rounds of `make faults`.
PAIRS_PER_ROUND, PAIRS_MAX = 5_000, 100_000


@dataclass
class Writers:
    """Annotators who judge until `stopped` is set.

    acknowledged: labels of the acknowledged answers by client key, in the order of acknowledgement.
    """

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
                self.acknowledged[answer["client_key"]] = stored["label"]
                if self.stopped.is_set():
                    return

    def wait_for_more(self, count: int) -> None:
        """Wait until `count` further answers are acknowledged."""
        enough = len(self.acknowledged) + count
        assert wait_for(lambda: len(self.acknowledged) >= enough), self.wrong


@contextmanager
def writers(site: Site, rounds: int, people: int = PEOPLE) -> Iterator[Writers]:
    """Let annotators judge until the block ends. There are enough pairs for all `rounds`."""
    pairs = min(PAIRS_PER_ROUND * rounds, PAIRS_MAX)
    prepared = site.world("campaign", str(people), str(pairs))
    group = Writers(prepared["campaign"], [site.person(key) for key in prepared["sessions"]])
    with ThreadPoolExecutor(people) as pool:
        done = [pool.submit(group.judge, person) for person in group.people]
        try:
            yield group
        finally:
            group.stopped.set()
        for judging in done:
            judging.result()


def row_of(
    drill: str, site: Site, group: Writers, *, tried: int, lost: int = 0, note: str = ""
) -> Row:
    """Compare what the site acknowledged with what it stores.

    lost: number of losses and errors that the drill found, apart from missing and wrong answers.
    """
    acknowledged, stored = len(group.acknowledged), total(site)
    return Row(
        drill,
        site.database,
        tried=tried,
        acknowledged=acknowledged,
        stored=stored,
        lost=lost + missing(site, group.acknowledged),
        doubled=judged_too_often(site) + stored - acknowledged,
        note=note,
    )


def missing(site: Site, acknowledged: dict[str, int]) -> int:
    """Return the number of acknowledged answers that are missing or have another label."""
    rows = site.rows("SELECT client_key, label FROM annotation_judgment")
    stored = {str(key).replace("-", ""): label for key, label in rows}
    return sum(stored.get(key.replace("-", "")) != label for key, label in acknowledged.items())
