"""Start, run, cancel and sweep jobs."""

from __future__ import annotations

import datetime
import logging
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q, Value
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from config.accounts.actors import Actor, account_of
from config.audit.origins import Interface, Origin, acting_from
from config.audit.services import record
from config.jobs.acts import JobAct
from config.jobs.models import Job, JobState
from config.jobs.policies import check_can_cancel_job, check_can_start_job
from config.jobs.registry import get_kind
from config.shared.errors import Cancelled, Conflict, HearthError, TakenOver

log = logging.getLogger(__name__)

LEASE = datetime.timedelta(seconds=60)
HEARTBEAT_SECONDS = 15.0
RESEND_AFTER = datetime.timedelta(seconds=60)
ATTEMPTS = 3
PROGRESS_EVERY_SECONDS = 0.5


@transaction.atomic
def enqueue_job(
    *,
    kind: str,
    title: str,
    params: dict[str, Any],
    by: Actor,
    benchmark_key: str = "",
) -> Job:
    """Store a new job, and send it to a worker after the commit."""
    check_can_start_job(by, benchmark_key)
    get_kind(kind)
    job = Job.objects.create(
        kind=kind,
        title=title,
        params=params,
        benchmark_key=benchmark_key,
        created_by=account_of(by),
    )
    if job.created_by is not None:
        record(JobAct.JOB_STARTED, by=by, on=job, after={"kind": kind})
    # robust: a committed request must not fail because the broker does not answer.
    transaction.on_commit(lambda: send_job(job.pk), robust=True)
    return job


def send_job(job_id: uuid.UUID) -> None:
    """Put the job's id on the queue. Errors of the broker are raised; the sweeper tries again."""
    from config.jobs.tasks import run_job_task

    run_job_task.apply_async((str(job_id),))
    Job.objects.filter(pk=job_id).update(sent_at=Now())


@transaction.atomic
def cancel_job(*, job: Job, by: Actor) -> None:
    """End a queued job at once; let a running job stop at its next step.

    Raises `Conflict` if the job has already ended.
    """
    check_can_cancel_job(by, job)
    record(JobAct.JOB_CANCELLED, by=by, on=job)
    if Job.objects.filter(pk=job.pk, state=JobState.QUEUED).update(
        state=JobState.CANCELLED, finished_at=Now()
    ):
        return
    if not Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(cancel_requested=True):
        raise Conflict("The job has already ended.")


def run_job(job_id: uuid.UUID) -> None:
    """Do a queued job. Return at once if another worker holds it or it has ended."""
    token = uuid.uuid4()
    claimed = Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(
        state=JobState.RUNNING,
        attempts=F("attempts") + 1,
        lease_token=token,
        lease_expires_at=_lease_end(),
        started_at=Now(),
        phase="",
        done=0,
        total=None,
        error="",
    )
    if not claimed:
        return
    job = Job.objects.get(pk=job_id)
    attempt = Attempt(job_id, token)
    try:
        with attempt.heartbeat(), acting_from(Origin(Interface.JOB, request_id=str(job_id))):
            result = get_kind(job.kind).run({**job.params, "job": str(job_id)}, attempt)
    except Cancelled:
        attempt.end(JobState.CANCELLED)
    except HearthError as error:
        attempt.end(JobState.FAILED, error=str(error))
    except Exception as error:
        log.exception("job %s (%s) failed", job_id, job.kind)
        # The text of the error may contain data that not everyone who sees the job may see.
        reason = f"Unexpected {type(error).__name__}. The worker's log has the details."
        attempt.end(JobState.FAILED, error=reason)
    else:
        attempt.end(JobState.DONE, result=result)


def sweep_jobs() -> tuple[int, int]:
    """Queue jobs again if their worker died, or fail them after the last attempt.

    Jobs that were queued while the broker did not answer are sent as well. Return the number of
    jobs sent and the number of jobs failed.
    """
    died = Q(state=JobState.RUNNING, lease_expires_at__lt=Now())
    failed = Job.objects.filter(died, attempts__gte=ATTEMPTS).update(
        state=JobState.FAILED,
        finished_at=Now(),
        error=f"The worker died {ATTEMPTS} times during this job.",
    )
    Job.objects.filter(died).update(state=JobState.QUEUED, sent_at=None)
    unsent = Q(sent_at=None) | Q(sent_at__lt=Now() - Value(RESEND_AFTER))
    waiting = Job.objects.filter(unsent, state=JobState.QUEUED).values_list("pk", flat=True)
    sent = 0
    for job_id in list(waiting):
        send_job(job_id)
        sent += 1
    return sent, failed


class Attempt:
    """One attempt at a job. It holds the lease and is the `Progress` that the function calls."""

    def __init__(self, job_id: uuid.UUID, token: uuid.UUID) -> None:
        self._mine = Q(pk=job_id, lease_token=token, state=JobState.RUNNING)
        self._written_at = 0.0
        self._phase = ""

    def __call__(self, done: int, total: int | None, phase: str = "") -> None:
        """Store the progress. Raises `Cancelled` if a person has cancelled the job."""
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
            raise Cancelled("The job was cancelled.")

    def end(self, state: JobState, *, result: Any = None, error: str = "") -> None:
        Job.objects.filter(self._mine).update(
            state=state, result=result, error=error, finished_at=Now(), lease_expires_at=None
        )

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Renew the lease from a separate thread while the job reports no progress."""
        stopped = threading.Event()
        thread = threading.Thread(target=self._beat, args=[stopped], daemon=True)
        thread.start()
        try:
            yield
        finally:
            stopped.set()

    def _beat(self, stopped: threading.Event) -> None:
        try:
            while not stopped.wait(HEARTBEAT_SECONDS):
                try:
                    Job.objects.filter(self._mine).update(lease_expires_at=_lease_end())
                except DatabaseError:
                    log.warning("a heartbeat could not be written", exc_info=True)
        finally:
            connection.close()


def _lease_end() -> CombinedExpression:
    return Now() + Value(LEASE)
