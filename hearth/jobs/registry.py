"""The kinds of jobs, each with its function, the text of its result, and the page for a retry.

Apps register their kinds in `tasks.py`, so this module does not depend on them. The modules `tasks`
load all services and Celery. Most commands do not need them, so a command loads them only when it
needs a kind or a housekeeping step. Web processes, workers and the scheduler load them at their
start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.module_loading import autodiscover_modules

from hearth.shared.progress import Progress

if TYPE_CHECKING:
    from hearth.jobs.models import Job

# Takes the parameters (with the job's own id as `job`) and returns a JSON object. It must be
# idempotent, because a job whose worker died runs again.
JobFunction = Callable[[dict[str, Any], Progress], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a finished job, as text.

    `url` is the page that shows the result and `link` the text of the link to it. `also_on` are the
    paths of other pages that show it. `notes` are warnings, one sentence each.
    """

    text: str
    url: str
    link: str
    notes: tuple[str, ...] = ()
    also_on: tuple[str, ...] = ()


# Takes a finished job and its result.
OutcomeFunction = Callable[["Job", dict[str, Any]], Outcome]


@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind of job: `run` does the work, and `outcome` describes the result.

    `retry` is the URL name of the page with the form that starts such a job. The address of this
    page contains the benchmark's key. `keeps_parts` is true if parts of the work stay stored when
    the job fails or is cancelled.
    """

    run: JobFunction
    outcome: OutcomeFunction
    retry: str = ""
    keeps_parts: bool = False


_kinds: dict[str, JobKind] = {}


def job_kind(
    name: str, *, outcome: OutcomeFunction, retry: str = "", keeps_parts: bool = False
) -> Callable[[JobFunction], JobFunction]:
    """Register the decorated function as the one that does jobs of this kind."""

    def register(function: JobFunction) -> JobFunction:
        if name in _kinds:
            raise ValueError(f"the job kind {name!r} is registered twice")
        _kinds[name] = JobKind(function, outcome, retry, keeps_parts)
        return function

    return register


@cache
def load_tasks() -> None:
    """Import the module `tasks` of each app, which registers its jobs and housekeeping steps."""
    autodiscover_modules("tasks")


def job_kinds() -> Mapping[str, JobKind]:
    """Return the kinds of all apps by name."""
    load_tasks()
    return _kinds


def get_kind(name: str) -> JobKind:
    """Return the kind of this name. Raises `KeyError` if no app has registered it."""
    return job_kinds()[name]


def find_outcome(job: Job) -> Outcome | None:
    """Return the result of the job, or None if it is not done or its kind no longer exists."""
    kind = job_kinds().get(job.kind)
    if job.result is None or kind is None:
        return None
    return kind.outcome(job, job.result)


def retry_url(job: Job) -> str:
    """Return the address of the form that starts such a job; empty if there is none."""
    kind = job_kinds().get(job.kind)
    if kind is None or not kind.retry or not job.benchmark_key:
        return ""
    return reverse(kind.retry, args=[job.benchmark_key])


def keeps_parts(job: Job) -> bool:
    """Return whether parts of a job that did not finish stay stored."""
    kind = job_kinds().get(job.kind)
    return kind is not None and kind.keeps_parts
