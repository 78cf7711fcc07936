"""Prepare the files that people have added: each is then playable, unpacked or refused."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import F
from django.db.models.fields.files import FieldFile
from django.db.models.functions import Now

from hearth.accounts.actors import actor_of
from hearth.audit.services import record
from hearth.shared.errors import (
    Cancelled,
    Conflict,
    InvalidInput,
    NotPermitted,
    TakenOver,
    TooLarge,
)
from hearth.shared.outages import BucketUnavailable, is_disk_full
from hearth.shared.progress import Progress
from pooling.enums import UNPREPARED, MediaState, PoolingAct, UploadState
from pooling.models import Benchmark, Video, VideoUpload
from pooling.policies import check_can_add_videos
from pooling.selectors.folders import is_inside
from pooling.selectors.uploads import upload_path
from pooling.services.buckets import fetch
from pooling.services.queueing import ATTEMPTS, WORKER_DIED, refuse_files_of_job
from pooling.services.unpacking import unpack
from pooling.services.videos import Preparers, ReadyVideo, attach, limits_of, preparers

log = logging.getLogger(__name__)

# The job ends this number of seconds before the worker's time limit. Another job prepares the
# remaining files.
RESERVE_SECONDS = 60
# The job starts to prepare another file only if it has this number of seconds left. If a file needs
# more time, the next job prepares it again.
ENOUGH_SECONDS = 240
TICK_SECONDS = 1.0
GONE = "The file is no longer on the server. Send it again."
DISK_FULL = "The disk is full. Free some space, then retry."
SLOW_BUCKET = "The file takes too long to arrive from the bucket."
NO_BUCKET = "The bucket does not answer, or refuses the request. Retry later."
STORED_FILES = ("file", "poster", "sheet")


class PreparedReport(TypedDict):
    """The number of files that reached each final state, as the job stores it."""

    playable: int
    refused: int
    unpacked: int


@dataclass(slots=True)
class _Work:
    """One attempt of a job to prepare the files of a benchmark."""

    benchmark: Benchmark
    job: UUID
    progress: Progress
    ends_at: float
    report: PreparedReport

    @property
    def seconds_left(self) -> int:
        return int(self.ends_at - time.monotonic())

    def done(self) -> int:
        return sum(self.report.values())  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Running:
    """A file that is being prepared. limit: its time limit in seconds.

    is_cut: whether the limit is lower than usual, because the job ends soon. If the time runs out,
    the next job then tries the file again.
    """

    upload: VideoUpload
    started: float
    limit: int
    is_cut: bool

    def ran_out(self) -> bool:
        return self.is_cut and time.monotonic() - self.started > self.limit - TICK_SECONDS


def prepare_uploads(*, benchmark: Benchmark, job: UUID, progress: Progress) -> PreparedReport:
    """Prepare the complete files of a benchmark until none is left or the time has run out.

    Each file is stored as soon as it is prepared, so a job that starts again continues after it. If
    the job is cancelled, the files that are left are refused, and `Cancelled` is raised. If another
    worker has taken the job over, the files stay as they are, and `TakenOver` is raised.
    """
    seconds = settings.CELERY_TASK_SOFT_TIME_LIMIT - RESERVE_SECONDS
    report = PreparedReport(playable=0, refused=0, unpacked=0)
    work = _Work(benchmark, job, progress, time.monotonic() + seconds, report)
    _requeue(work)
    try:
        with ExitStack() as stack:
            _prepare_all(work, stack)
    except Cancelled as cancelled:
        if not isinstance(cancelled, TakenOver):
            refuse_files_of_job(job)
        raise
    return work.report


def _requeue(work: _Work) -> None:
    """Requeue the files that an earlier attempt of this job was preparing.

    A file that was tried `ATTEMPTS` times is refused.
    """
    mine = VideoUpload.objects.filter(state=UploadState.PROCESSING, job=work.job)
    mine.filter(attempts__gte=ATTEMPTS).update(
        state=UploadState.REFUSED, reason=WORKER_DIED, changed_at=Now()
    )
    mine.update(state=UploadState.WAITING)


def _prepare_all(work: _Work, stack: ExitStack) -> None:
    pool: Preparers | None = None
    running: dict[Future[ReadyVideo], _Running] = {}
    while True:
        _report(work)
        while pool is None or len(running) < pool.size:
            upload = _claim(work, is_first=not running and not work.done())
            if upload is None:
                break
            pool = pool or stack.enter_context(preparers())
            with _refused_if_not_stored(work, upload):
                running |= _start(work, pool, upload)
        if not running:
            return
        finished, _ = wait(running, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED)
        for future in finished:
            _end_run(work, running.pop(future), future)
        if pool is not None:
            for future, run in running.items():
                _note_percent(run, pool.percent(future))


def _note_percent(run: _Running, percent: int) -> None:
    """Store the progress of a file if it has changed."""
    if percent != run.upload.percent:
        run.upload.percent = percent
        VideoUpload.objects.filter(pk=run.upload.pk).update(percent=percent)


def _report(work: _Work) -> None:
    left = work.benchmark.uploads.filter(state__in=UNPREPARED).count()
    work.progress(work.done(), work.done() + left, "preparing videos")


def _claim(work: _Work, *, is_first: bool) -> VideoUpload | None:
    """Claim the next file, unless the time has run out."""
    if work.seconds_left < (1 if is_first else ENOUGH_SECONDS):
        return None
    waiting = work.benchmark.uploads.filter(state=UploadState.WAITING)
    for upload in waiting.select_related("video", "created_by").order_by("changed_at", "pk")[:100]:
        if VideoUpload.objects.filter(pk=upload.pk, state=UploadState.WAITING).update(
            state=UploadState.PROCESSING,
            job=work.job,
            attempts=F("attempts") + 1,
            reason="",
            percent=0,
        ):
            return upload
    return None


def _start(work: _Work, pool: Preparers, upload: VideoUpload) -> dict[Future[ReadyVideo], _Running]:
    """Start to prepare a file, unless it can be unpacked, refused or completed at once."""
    path = upload_path(upload)
    actor = actor_of(upload.created_by)
    try:
        check_can_add_videos(actor, work.benchmark)
        if upload.is_in_bucket:
            fetch(upload, _between_pieces(work))
        if not path.is_file() or (upload.is_in_folder and not is_inside(path)):
            raise InvalidInput(GONE)
        if upload.video is None:
            _end(work, upload, UploadState.UNPACKED, unpack(upload, by=actor))
            return {}
    except (Conflict, InvalidInput, NotPermitted, TooLarge) as error:
        _end(work, upload, UploadState.REFUSED, str(error))
        return {}
    except TimeoutError:
        if upload.attempts + 1 < ATTEMPTS:
            _wait_again(work, upload)
        else:
            _end(work, upload, UploadState.REFUSED, SLOW_BUCKET)
        return {}
    if built := _find_built(path):
        _finish(work, upload, built)
        return {}
    wanted = limits_of(path).seconds
    # Fetching a large file can take all the time of the job. Another job then prepares it.
    limits = limits_of(path, seconds_max=max(1, work.seconds_left))
    is_cut = limits.seconds < wanted and upload.attempts + 1 < ATTEMPTS
    future = pool.submit(path, limits)
    return {future: _Running(upload, time.monotonic(), limits.seconds, is_cut)}


def _end_run(work: _Work, run: _Running, future: Future[ReadyVideo]) -> None:
    with _refused_if_not_stored(work, run.upload):
        ready = future.result()
        if ready.fault and run.ran_out():
            _wait_again(work, run.upload)
            return
        _finish(work, run.upload, ready)


def _wait_again(work: _Work, upload: VideoUpload) -> None:
    """Leave a file for the next job."""
    mine = VideoUpload.objects.filter(pk=upload.pk, job=work.job)
    mine.filter(state=UploadState.PROCESSING).update(state=UploadState.WAITING)


def _between_pieces(work: _Work) -> Callable[[], None]:
    """Return a function to call after each piece of a file that arrives from a bucket.

    The function raises `Cancelled` if the job was cancelled, and `TimeoutError` if its time has run
    out.
    """
    reported = time.monotonic()

    def call() -> None:
        nonlocal reported
        if time.monotonic() - reported < TICK_SECONDS:
            return
        reported = time.monotonic()
        _report(work)
        if work.seconds_left <= 0:
            raise TimeoutError

    return call


@contextmanager
def _refused_if_not_stored(work: _Work, upload: VideoUpload) -> Iterator[None]:
    """Refuse the file if the disk or the bucket cannot store it. Other files are still prepared."""
    try:
        yield
    except BucketUnavailable:
        log.warning("the bucket did not store a file", exc_info=True)
        _end(work, upload, UploadState.REFUSED, NO_BUCKET)
    except OSError as error:
        if not is_disk_full(error):
            raise
        _end(work, upload, UploadState.REFUSED, DISK_FULL)


def _find_built(path: Path) -> ReadyVideo | None:
    """Return the playable copy that a video has of an identical file, or None."""
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    same = Video.objects.filter(sha256=sha256, state=MediaState.PLAYABLE).exclude(file="")
    for video in same[:10]:
        if _is_stored(video.file) and _is_stored(video.poster):
            sheet = video.sheet if _is_stored(video.sheet) else None
            return ReadyVideo(video.file, video.poster, sheet, sha256, video.duration)
    return None


def _is_stored(file: FieldFile) -> bool:
    return bool(file) and default_storage.exists(file.name or "")


def _finish(work: _Work, upload: VideoUpload, ready: ReadyVideo) -> None:
    """Store a prepared file with its video, or the reason why it cannot be played."""
    state = UploadState.REFUSED if ready.fault else UploadState.PLAYABLE
    video = upload.video
    if video is None or not Video.objects.filter(pk=video.pk).exists():
        return
    video.refresh_from_db()
    if video.file:
        _end(work, upload, UploadState.REFUSED, "The video has a playable file already.")
        return
    attach(video, ready)
    if not _end(work, upload, state, ready.fault, video) and not ready.fault:
        for name in STORED_FILES:
            if stored := getattr(video, name).name:
                default_storage.delete(stored)


@transaction.atomic
def _end(
    work: _Work, upload: VideoUpload, state: UploadState, reason: str, video: Video | None = None
) -> bool:
    """Store the final state of a file. Return False if it was cancelled or removed earlier."""
    is_refused = state == UploadState.REFUSED
    mine = VideoUpload.objects.filter(pk=upload.pk, state=UploadState.PROCESSING, job=work.job)
    if not mine.update(state=state, reason=reason, is_kept=is_refused, changed_at=Now()):
        return False
    if video is not None:
        video.save(update_fields=["state", "sha256", "duration", *STORED_FILES])
        facts = {"state": video.state, "sha256": video.sha256}
        record(PoolingAct.VIDEO_ADDED, by=actor_of(upload.created_by), on=video, after=facts)
    if upload.is_in_bucket or not (is_refused or upload.folder_path):
        path = upload_path(upload)
        transaction.on_commit(lambda: path.unlink(missing_ok=True))
    work.report[state.value] += 1  # type: ignore[literal-required]
    return True
