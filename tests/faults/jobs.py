"""Imports of runs that a drill interrupts."""

from __future__ import annotations

from dataclasses import dataclass

from tests.faults.site import Site
from tests.long_run import CAPTIONS
from tests.waiting import wait_for

# States of a job that imports a run or scores an uploaded run, as SQL conditions.
RUN_IS_READ = "state = 'running' AND phase = 'reading the text-to-video run'"
ENDED = "state NOT IN ('queued', 'running')"
# Scoring is so short that it can end between two readings of the state.
RUN_IS_SCORED = f"(phase IN ('storing the run', 'scoring') OR {ENDED})"


def start_import(site: Site, name: str) -> str:
    """Put the import of a run into the queue, and return the id of its job."""
    job: str = site.world("import_run", name)["job"]
    return job


def wait_until(site: Site, job: str, condition: str) -> None:
    assert wait_for(lambda: is_in(site, job, condition)), state_of(site, job)


def is_in(site: Site, job: str, condition: str) -> bool:
    sql = f"SELECT 1 FROM jobs_job WHERE {condition} AND id = ?"  # noqa: S608 - from this package
    return bool(site.rows(sql, job))


def state_of(site: Site, job: str) -> str:
    rows = site.rows("SELECT state, phase, attempts, error FROM jobs_job WHERE id = ?", job)
    return f"{rows}\n{site.log('worker')[-3000:]}"


@dataclass(frozen=True, slots=True)
class Imported:
    """Counts of imports after a drill.

    whole: number of complete imports, whose job is done and whose run has all ranked lists. The
    difference between the numbers of runs and of jobs that score runs is subtracted. doubled:
    number of runs that no job of the drill should have imported.
    """

    whole: int
    doubled: int
    note: str


def imported(site: Site, jobs: list[str]) -> Imported:
    ends = [
        site.rows("SELECT state, error, title FROM jobs_job WHERE id = ?", job)[0] for job in jobs
    ]
    lists = dict(
        site.rows(
            "SELECT r.name, COUNT(*) FROM pooling_run r "
            "JOIN pooling_rankedlist l ON l.run_id = r.id GROUP BY r.name"
        )
    )
    # A run and the job that scores it are stored in one transaction, so there are equally many.
    (scoring,) = site.rows("SELECT COUNT(*) FROM jobs_job WHERE kind = 'evaluate'")
    whole = sum(state == "done" and lists.get(name) == CAPTIONS for state, _, name in ends)
    wrong = [f"{name}: {state} {error}" for state, error, name in ends if state != "done"]
    if scoring[0] != len(lists):
        wrong.append(f"{len(lists)} runs, but {scoring[0]} jobs that score them")
    return Imported(
        whole - abs(len(lists) - scoring[0]),
        len(set(lists) - {name for _, _, name in ends}),
        "; ".join(wrong),
    )
