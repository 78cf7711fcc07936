"""Run a job under a lease, and store how it ended."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import F, Q, Value
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from hearth.audit.origins import Interface, Origin, acting_from
from hearth.jobs.models import Job, JobState
from hearth.jobs.registry import get_kind
from hearth.jobs.services.queue import delete_upload_of
from hearth.shared.errors import Cancelled, HearthError, InvalidInput, ProblemReport, TakenOver
from hearth.shared.outages import DATABASE_UNAVAILABLE, is_disk_full, when_database_answers

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
HEARTBEAT_SECONDS = 15.0
# The wait after a heartbeat that could not be written. It is shorter than the sweeper's interval.
NEXT_HEARTBEAT_SECONDS = 1.0
PROGRESS_EVERY_SECONDS = 0.5
# The maximum time that a worker waits for the database. After that, it gives up and leaves the job
# to the sweeper.
PATIENCE_SECONDS = 300.0
# The maximum number of times that a job starts again because the database did not answer. The job
# waits 5, 10, 20 … seconds before.
INTERRUPTIONS = 8
FIRST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class End:
    """How an attempt ended. The state `QUEUED` makes the job start again."""

    state: JobState
    result: Any = None
    error: str = ""
    problems: list[ProblemReport] = field(default_factory=list)


def run_job(job_id: uuid.UUID) -> None:
    """Do a queued job. Return at once if another worker has claimed it, or if it has ended.

    If the database stops answering in the meantime, the worker waits until it answers, and the job
    starts again.
    """
    attempt = Attempt(job_id)
    job = when_database_answers(attempt.claim, seconds=PATIENCE_SECONDS)
    if job is None:
        return
    with attempt.heartbeat(), acting_from(Origin(Interface.JOB, request_id=str(job_id))):
        end = _work(job, attempt)
        when_database_answers(lambda: attempt.end(job, end), seconds=PATIENCE_SECONDS)


def _work(job: Job, attempt: Attempt) -> End:
    try:
        result = get_kind(job.kind).run({**job.params, "job": str(job.pk)}, attempt)
    except Exception as error:
        return _end_after(job, error)
    return End(JobState.DONE, result=result)


def _end_after(job: Job, error: Exception) -> End:
    if isinstance(error, Cancelled):
        return End(JobState.CANCELLED, error=str(error))
    if isinstance(error, InvalidInput):
        return End(JobState.FAILED, error=str(error), problems=error.reports())
    if isinstance(error, HearthError):
        return End(JobState.FAILED, error=str(error))
    if isinstance(error, DATABASE_UNAVAILABLE) and not is_disk_full(error):
        log.warning("the database interrupted job %s (%s)", job.pk, job.kind, exc_info=error)
        connection.close()
        return End(JobState.QUEUED, error=_interruption(error))
    log.error("job %s (%s) failed", job.pk, job.kind, exc_info=error)
    return End(JobState.FAILED, error=_reason(error))


def _interruption(error: Exception) -> str:
    name = type(error).__name__
    return f"The database did not answer during this job ({name}). The job will start again."


def _reason(error: Exception) -> str:
    """Return why a job failed, without data that only some of its readers may see."""
    # Most commands load this module, but do not need Celery.
    from celery.exceptions import SoftTimeLimitExceeded

    if isinstance(error, MemoryError):
        limit = f"{settings.WORKER_MEMORY_MB:,} MB"
        return f"The job needs more memory than a worker may use ({limit}, WORKER_MEMORY_MB)."
    if isinstance(error, SoftTimeLimitExceeded):
        minutes = settings.CELERY_TASK_SOFT_TIME_LIMIT // 60
        return f"The job took longer than {minutes} minutes, the limit of a worker."
    if is_disk_full(error):
        return "The disk is full. Free some space, then start the job again."
    return f"Unexpected {type(error).__name__}. The worker's log has the details."


class Attempt:
    """One attempt at a job. It holds the lease.

    It is also the `Progress` of the job: the function that does the work calls it.
    """

    def __init__(self, job_id: uuid.UUID) -> None:
        self._job_id = job_id
        self._token = uuid.uuid4()
        self._mine = Q(pk=job_id, lease_token=self._token, state=JobState.RUNNING)
        self._written_at = 0.0
        self._phase = ""

    def claim(self) -> Job | None:
        """Claim the lease of a queued job. Return the job if this attempt has the lease."""
        due = Q(run_after=None) | Q(run_after__lte=Now())
        Job.objects.filter(due, pk=self._job_id, state=JobState.QUEUED).update(
            state=JobState.RUNNING,
            attempts=F("attempts") + 1,
            lease_token=self._token,
            lease_expires_at=_lease_end(),
            started_at=Now(),
            phase="",
            done=0,
            total=None,
            error="",
        )
        return Job.objects.filter(self._mine).first()

    def __call__(self, done: int, total: int | None, phase: str = "") -> None:
        """Store the progress.

        Raises `Cancelled` if a person has cancelled the job, and `TakenOver` if this attempt no
        longer has the lease.
        """
        now = time.monotonic()
        new_phase = phase not in ("", self._phase)
        if now - self._written_at < PROGRESS_EVERY_SECONDS and not new_phase:
            return
        self._phase, self._written_at = phase or self._phase, now
        # Inside a transaction of the job, no one else would see the progress, so it is not written.
        if connection.in_atomic_block:
            return
        mine = Job.objects.filter(self._mine)
        if not mine.update(
            done=done, total=total, phase=self._phase, lease_expires_at=_lease_end()
        ):
            raise TakenOver("Another worker has taken over this job.")
        if mine.filter(cancel_requested=True).exists():
            raise Cancelled

    def end(self, job: Job, end: End) -> None:
        """Store the end of the job, and delete its upload if the job will not start again."""
        mine = Job.objects.filter(self._mine)
        if end.state == JobState.QUEUED and mine.filter(interruptions__lt=INTERRUPTIONS).update(
            state=JobState.QUEUED,
            interruptions=F("interruptions") + 1,
            run_after=Now() + Value(_wait_after(job.interruptions)),
            error=end.error,
            sent_at=None,
            lease_expires_at=None,
        ):
            return
        interrupted = end.state == JobState.QUEUED
        if interrupted:
            error = f"The database was unavailable {INTERRUPTIONS + 1} times during this job."
            end = End(JobState.FAILED, error=error)
        if mine.update(
            state=end.state,
            result=end.result,
            error=end.error,
            problems=end.problems,
            is_uncertain=interrupted,
            finished_at=Now(),
            lease_expires_at=None,
        ):
            delete_upload_of(job)

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Renew the lease from a separate thread, even while the job reports no progress."""
        stopped = threading.Event()
        thread = threading.Thread(target=self._beat, args=[stopped], daemon=True)
        thread.start()
        try:
            yield
        finally:
            stopped.set()

    def _beat(self, stopped: threading.Event) -> None:
        wait = HEARTBEAT_SECONDS
        try:
            while not stopped.wait(wait):
                wait = HEARTBEAT_SECONDS
                try:
                    Job.objects.filter(self._mine).update(lease_expires_at=_lease_end())
                except DATABASE_UNAVAILABLE:
                    log.warning("a heartbeat could not be written", exc_info=True)
                    connection.close()
                    wait = NEXT_HEARTBEAT_SECONDS
        finally:
            connection.close()


def _lease_end() -> CombinedExpression:
    return Now() + Value(LEASE)


def _wait_after(interruptions: int) -> timedelta:
    return min(LONGEST_WAIT, FIRST_WAIT * (1 << interruptions))
