"""Start and cancel jobs, and send them to the workers."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.jobs.acts import JobAct
from hearth.jobs.models import TITLE_LENGTH, UNFINISHED, Job, JobState
from hearth.jobs.policies import check_can_cancel_job, check_can_start_job
from hearth.jobs.registry import get_kind
from hearth.shared.errors import Conflict
from hearth.shared.uploads import delete_upload, upload_names, upload_sha256

# The maximum number of attempts to store a job. An attempt fails if an equal job ends meanwhile.
TRIES = 5
# Named instead of imported, because the tasks call these services.
RUN_JOB = "hearth.jobs.tasks.run_job_task"


def enqueue_job(
    *,
    kind: str,
    title: str,
    params: dict[str, Any],
    by: Actor,
    benchmark_key: str = "",
) -> Job:
    """Store a new job, and send it to a worker after the commit.

    If a job with the same work is unfinished, it is returned instead, and the uploads in `params`
    are deleted. Uploads with the same content count as the same work.
    """
    check_can_start_job(by, benchmark_key)
    get_kind(kind)
    job = Job(
        kind=kind,
        # The title may contain the name of a file, which can be longer than the column.
        title=title[:TITLE_LENGTH],
        params=params,
        # Computed before the transaction, because it may read a large upload.
        fingerprint=_fingerprint(kind, benchmark_key, params),
        benchmark_key=benchmark_key,
        created_by=account_of(by),
    )
    with transaction.atomic():
        stored = _stored_once(job)
        if stored.pk == job.pk:
            if job.created_by is not None:
                record(JobAct.JOB_STARTED, by=by, on=job, after={"kind": kind})
            # robust: a committed request must not fail because the broker does not answer.
            transaction.on_commit(lambda: send_job(job.pk), robust=True)
    if upload_names(params) != upload_names(stored.params):
        delete_upload_of(job)
    return stored


def delete_upload_of(job: Job) -> None:
    for name in upload_names(job.params):
        delete_upload(name)


def send_job(job_id: uuid.UUID) -> None:
    """Put the job's id on the queue. If the broker raises an error, the sweeper tries again."""
    from config.celery import app  # slow to import, and commands do not need it

    app.send_task(RUN_JOB, (str(job_id),))
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
        transaction.on_commit(lambda: delete_upload_of(job), robust=True)
        return
    if not Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(cancel_requested=True):
        raise Conflict("The job has already ended.")


def _stored_once(job: Job) -> Job:
    """Store the job, or return the unfinished job with the same work.

    The constraint `job_open_once` decides between two requests at the same time.
    """
    for _ in range(TRIES):
        Job.objects.bulk_create([job], ignore_conflicts=True)
        unfinished = Job.objects.filter(fingerprint=job.fingerprint, state__in=UNFINISHED)
        stored = unfinished.first()
        if stored is not None:
            return stored
    raise Conflict("An equal job ended just now. Start the job again.")


def _fingerprint(kind: str, benchmark_key: str, params: dict[str, Any]) -> str:
    """Return the hash of a job's work. It depends on the content of uploads, not on their names."""
    hashes = {name: upload_sha256(name) for name in upload_names(params)}
    text = json.dumps([kind, benchmark_key, _replaced(params, hashes)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _replaced(value: Any, names: dict[str, str]) -> Any:
    """Return parameters with the hashes of the uploads in place of their names."""
    if isinstance(value, dict):
        return {key: _replaced(inner, names) for key, inner in value.items()}
    return names.get(value, value) if isinstance(value, str) else value
