"""The life of a job: queued, run under a lease, ended with a result or a reason."""

from __future__ import annotations

import datetime
import logging
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q, Value
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from config.jobs.models import Job, JobState
from config.jobs.registry import function_of
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
    benchmark_key: str = "",
    created_by: AbstractBaseUser | None = None,
) -> Job:
    """Write the row and send it to a worker once the transaction is committed."""
    function_of(kind)
    job = Job.objects.create(
        kind=kind,
        title=title,
        params=params,
        benchmark_key=benchmark_key,
        created_by_id=created_by.pk if created_by else None,
    )
    # robust: a broker that is away must not turn a committed request into an error.
    transaction.on_commit(lambda: send_job(job.pk), robust=True)
    return job


def send_job(job_id: uuid.UUID) -> None:
    """Put the job's id on the queue. Raises what the broker raises; the sweeper tries again."""
    from config.jobs.tasks import run_job_task

    run_job_task.apply_async((str(job_id),))
    Job.objects.filter(pk=job_id).update(sent_at=Now())


def cancel_job(*, job_id: uuid.UUID) -> None:
    """End a queued job at once; ask a running one to stop at its next step."""
    if Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(
        state=JobState.CANCELLED, finished_at=Now()
    ):
        return
    if not Job.objects.filter(pk=job_id, state=JobState.RUNNING).update(cancel_requested=True):
        raise Conflict("The job has ended already.")


def run_job(job_id: uuid.UUID) -> None:
    """Do a queued job. Leaves at once where another worker holds it or it has ended."""
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
        with attempt.heartbeat():
            result = function_of(job.kind)({**job.params, "job": str(job_id)}, attempt)
    except Cancelled:
        attempt.end(JobState.CANCELLED)
    except HearthError as error:
        attempt.end(JobState.FAILED, error=str(error))
    except Exception as error:
        log.exception("job %s (%s) failed", job_id, job.kind)
        # Its own words may hold what is not for everybody who sees the job.
        reason = f"unexpected {type(error).__name__}; the worker's log says more"
        attempt.end(JobState.FAILED, error=reason)
    else:
        attempt.end(JobState.DONE, result=result)


def sweep_jobs() -> tuple[int, int]:
    """Put jobs whose worker died back on the queue, or fail them after the last attempt.

    Also sends again what was queued while the broker was away. Returns how many
    jobs were sent and how many were given up.
    """
    died = Q(state=JobState.RUNNING, lease_expires_at__lt=Now())
    given_up = Job.objects.filter(died, attempts__gte=ATTEMPTS).update(
        state=JobState.FAILED,
        finished_at=Now(),
        error=f"The worker died {ATTEMPTS} times while doing this.",
    )
    Job.objects.filter(died).update(state=JobState.QUEUED, sent_at=None)
    unsent = Q(sent_at=None) | Q(sent_at__lt=Now() - Value(RESEND_AFTER))
    waiting = Job.objects.filter(unsent, state=JobState.QUEUED).values_list("pk", flat=True)
    sent = 0
    for job_id in list(waiting):
        send_job(job_id)
        sent += 1
    return sent, given_up


class Attempt:
    """One try at a job: the `Progress` that its function calls, and the holder of its lease."""

    def __init__(self, job_id: uuid.UUID, token: uuid.UUID) -> None:
        self._mine = Q(pk=job_id, lease_token=token, state=JobState.RUNNING)
        self._written_at = 0.0
        self._phase = ""

    def __call__(self, done: int, total: int | None, phase: str = "") -> None:
        """Record how far the work is; raises `Cancelled` where a person asked for the end."""
        now = time.monotonic()
        new_phase = phase not in ("", self._phase)
        if now - self._written_at < PROGRESS_EVERY_SECONDS and not new_phase:
            return
        self._phase, self._written_at = phase or self._phase, now
        # Inside the work's own transaction nobody could see it, and a rollback would undo it.
        if connection.in_atomic_block:
            return
        mine = Job.objects.filter(self._mine)
        if not mine.update(
            done=done, total=total, phase=self._phase, lease_expires_at=_lease_end()
        ):
            raise TakenOver("another worker has taken this job over")
        if mine.filter(cancel_requested=True).exists():
            raise Cancelled("cancelled")

    def end(self, state: JobState, *, result: Any = None, error: str = "") -> None:
        Job.objects.filter(self._mine).update(
            state=state, result=result, error=error, finished_at=Now(), lease_expires_at=None
        )

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Keep the lease alive from a thread of its own while the work is silent."""
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
