"""Queue the jobs that prepare complete files, and cancel or retry them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from hearth.accounts.actors import Actor, actor_of
from hearth.audit.services import record
from hearth.jobs.models import UNFINISHED, Job, JobState
from hearth.jobs.services import enqueue_job
from hearth.shared.errors import NotPermitted
from pooling.enums import UNPREPARED, PoolingAct, UploadState
from pooling.models import Benchmark, VideoUpload
from pooling.policies import check_can_add_videos
from pooling.selectors.uploads import upload_path

KIND = "prepare_videos"
ATTEMPTS = 3
CANCELLED = "The preparation was cancelled. Retry it, or remove the file."
WORKER_DIED = (
    f"The job of this file ended {ATTEMPTS} times without a result. "
    "The worker’s log has the reason."
)
NO_RIGHT = "The person who sent the file may no longer add videos."


def queue_upload(upload: VideoUpload, by: Actor) -> None:
    """Queue the complete file for a job, in the transaction that completes the file."""
    VideoUpload.objects.filter(pk=upload.pk).update(
        state=UploadState.WAITING, job=preparing_job(upload.benchmark, by), changed_at=Now()
    )


def preparing_job(benchmark: Benchmark, by: Actor) -> Job:
    """Return the job that prepares the files of the benchmark.

    A benchmark has at most one unfinished job of this kind.
    """
    return enqueue_job(
        kind=KIND,
        title=f"Prepare videos of {benchmark.name}",
        params={"benchmark": benchmark.key},
        benchmark_key=benchmark.key,
        by=by,
    )


def queue_uploads() -> int:
    """Queue jobs for the unprepared files without an unfinished job. Return the number of files.

    The job of such a file ended just before the file was complete, or ran out of time, or its
    worker died. Files of a cancelled job are refused.
    """
    open_jobs = Q(job__state__in=UNFINISHED)
    left = VideoUpload.objects.filter(state__in=UNPREPARED).exclude(open_jobs)
    left.filter(job__state=JobState.CANCELLED).update(**_refused(CANCELLED))
    left.filter(state=UploadState.PROCESSING, attempts__gte=ATTEMPTS).update(
        **_refused(WORKER_DIED)
    )
    queued = 0
    for upload in left.select_related("benchmark", "created_by"):
        with transaction.atomic():
            try:
                queue_upload(upload, actor_of(upload.created_by))
                queued += 1
            except NotPermitted:
                VideoUpload.objects.filter(pk=upload.pk).update(**_refused(NO_RIGHT))
    return queued


def _refused(reason: str) -> dict[str, object]:
    return {"state": UploadState.REFUSED, "reason": reason, "changed_at": Now()}


def refuse_files_of_job(job: UUID) -> None:
    """Refuse all files of a job that was cancelled."""
    VideoUpload.objects.filter(job=job, state__in=UNPREPARED).update(**_refused(CANCELLED))


@transaction.atomic
def cancel_uploads(*, benchmark: Benchmark, by: Actor) -> int:
    """Refuse all files that wait or are being prepared. Return their number.

    A file that is being prepared is prepared to its end, but not stored.
    """
    check_can_add_videos(by, benchmark)
    left = benchmark.uploads.filter(state__in=UNPREPARED)
    cancelled = left.update(**_refused(CANCELLED))
    record(PoolingAct.VIDEO_UPLOADS_CANCELLED, by=by, on=benchmark, after={"files": cancelled})
    return cancelled


@transaction.atomic
def retry_uploads(*, benchmark: Benchmark, by: Actor, ids: Sequence[UUID] | None = None) -> int:
    """Queue refused files again if they are still stored. Return their number.

    ids: the files to retry; None for all.
    """
    check_can_add_videos(by, benchmark)
    refused = benchmark.uploads.filter(state=UploadState.REFUSED, is_kept=True, offset=F("size"))
    if ids is not None:
        refused = refused.filter(pk__in=ids)
    kept = [one.pk for one in refused if one.is_in_bucket or upload_path(one).is_file()]
    record(PoolingAct.VIDEO_UPLOADS_RETRIED, by=by, on=benchmark, after={"files": len(kept)})
    if kept:
        job = preparing_job(benchmark, by)
        VideoUpload.objects.filter(pk__in=kept, state=UploadState.REFUSED).update(
            state=UploadState.WAITING, reason="", attempts=0, job=job, changed_at=Now()
        )
    return len(kept)
