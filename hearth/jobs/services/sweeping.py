"""Queue a job again if its worker died, and send it again if its message is lost."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.db.models import F, Q, Value
from django.db.models.functions import Now

from hearth.jobs.models import Job, JobState
from hearth.jobs.services.queue import delete_upload_of, send_job

ATTEMPTS = 3
# A job that was sent less than this time ago does not count as lost, because a worker may have
# taken its message and not yet claimed the job.
CLAIMED_WITHIN = timedelta(seconds=60)


def sweep_jobs() -> tuple[int, int]:
    """Queue jobs again if their worker died, or fail them after the last attempt.

    Also send jobs whose message was never sent, or was lost. Return the number of jobs that were
    sent, and the number that failed.
    """
    died = Q(state=JobState.RUNNING, lease_expires_at__lt=Now())
    # An attempt that the database interrupted does not count as a death of the worker.
    is_last = Q(attempts__gte=ATTEMPTS + F("interruptions"))
    failed = 0
    for job in Job.objects.filter(died, is_last):
        failed += _fail(job, died)
    # If the lease of a last attempt has expired since the loop above, the next sweep fails the job.
    Job.objects.filter(died, ~is_last).update(state=JobState.QUEUED, sent_at=None)
    sent = 0
    for job_id in [*_unsent(), *_lost()]:
        send_job(job_id)
        sent += 1
    return sent, failed


def _fail(job: Job, died: Q) -> int:
    ended = Job.objects.filter(died, pk=job.pk).update(
        state=JobState.FAILED,
        finished_at=Now(),
        is_uncertain=True,
        error=f"The worker died {ATTEMPTS} times during this job.",
    )
    if ended:
        delete_upload_of(job)
    return ended


def _unsent() -> list[uuid.UUID]:
    """Return the ids of the queued jobs without a message, oldest first.

    A job that was interrupted is left out until its wait is over.
    """
    due = Q(run_after=None) | Q(run_after__lte=Now())
    unsent = Job.objects.filter(due, state=JobState.QUEUED, sent_at=None).order_by("created_at")
    return list(unsent.values_list("pk", flat=True))


def _lost() -> list[uuid.UUID]:
    """Return the ids of the queued jobs whose message is lost, for example if Redis was emptied.

    A queued job that was sent has one message in the queue until a worker takes it. Workers take
    messages in the order in which they were sent, so the messages that are left belong to the jobs
    that were sent last. If there are fewer messages than such jobs, the jobs that were sent first
    have lost their messages.
    """
    sent = Job.objects.filter(state=JobState.QUEUED, sent_at__isnull=False)
    old = sent.filter(sent_at__lt=Now() - Value(CLAIMED_WITHIN))
    if not old.exists():
        return []
    # Most commands load this module, but do not need Celery.
    from config.celery import waiting_messages

    lost = max(0, sent.count() - waiting_messages())
    return list(old.order_by("sent_at").values_list("pk", flat=True)[:lost])
