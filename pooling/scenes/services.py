"""Finding the scenes of videos."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypedDict

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.bulk import lock_row
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress, no_progress
from hearth.shared.sandbox import Access, Sandbox
from pooling.core.keys import shown
from pooling.models import Benchmark, Video
from pooling.policies import check_can_import_metadata
from pooling.scenes.actions import FindScenes
from pooling.scenes.core.features import Changes, changes_of_features
from pooling.scenes.enums import Features, ScenesAct
from pooling.scenes.models import ERROR_LENGTH, Scene, VideoScenes
from pooling.services.videos import limits_of

READ = "pooling.scenes.reading:read_scenes"
PREFIX = ".scenes-"
TICK_SECONDS = 1.0
ERRORS_MAX = 100
NO_FILE = "the video has no file on this site"


class ScenesReport(TypedDict):
    """Found scenes in the result of a job and in the output of `--json`.

    left: the number of videos for which the time was too short. errors: the first hundred.
    """

    videos: int
    scenes: int
    failed: int
    left: int
    errors: dict[str, str]


@dataclass(slots=True)
class _Work:
    benchmark: Benchmark
    options: FindScenes
    folder: Path
    changes: dict[str, Changes] | None
    sandboxes: SimpleQueue[Sandbox]
    size: int
    report: ScenesReport = field(
        default_factory=lambda: ScenesReport(videos=0, scenes=0, failed=0, left=0, errors={})
    )

    def done(self) -> int:
        return self.report["videos"] + self.report["failed"]


def find_scenes(
    *,
    benchmark: Benchmark,
    options: FindScenes,
    by: Actor,
    progress: Progress = no_progress,
    seconds: float | None = None,
) -> ScenesReport:
    """Divide the videos of a benchmark into scenes.

    The scenes of each video are stored as soon as they are found, and replace its earlier ones. So
    those found before a cancellation stay. An error of a video is stored with it, and other videos
    go on. seconds: the time after which no further video is begun. Raises `NotPermitted` if `by`
    may not import metadata, and `InvalidInput` if an uploaded file is invalid; then nothing is
    stored.
    """
    check_can_import_metadata(by, benchmark)
    keys = set(benchmark.videos.values_list("key", flat=True))
    if options.video and options.video not in keys:
        raise InvalidInput(f"There is no video {shown(options.video)}.")
    changes = None
    if options.file is not None:
        progress(0, None, "reading features")
        changes = changes_of_features(
            options.file, keys, options.video, options.most, options.steady
        )
    ends_at = None if seconds is None else time.monotonic() + seconds
    with _workers() as (folder, pool, sandboxes):
        work = _Work(benchmark, options, folder, changes, sandboxes, sandboxes.qsize())
        try:
            _divide_all(work, _videos(work), pool, ends_at, progress)
        finally:
            if work.done():
                counts = {name: work.report[name] for name in ("videos", "scenes", "failed")}
                # Videos are stored one by one, so the entry has a transaction of its own.
                with transaction.atomic():
                    record(ScenesAct.SCENES_FOUND, by=by, on=benchmark, after=counts)
    return work.report


def _videos(work: _Work) -> deque[Video]:
    """Return the videos to divide, those first whose scenes are the oldest."""
    videos = work.benchmark.videos.exclude(file="").select_related("benchmark")
    if work.options.video:
        videos = videos.filter(key=work.options.video)
    if not work.options.again and not work.options.video and work.changes is None:
        videos = videos.filter(Q(segmentation=None) | ~Q(segmentation__error=""))
    found = videos.order_by("segmentation__made_at", "number")
    if work.changes is not None:
        return deque(video for video in found if video.key in work.changes)
    return deque(found)


@contextmanager
def _workers() -> Iterator[tuple[Path, ThreadPoolExecutor, SimpleQueue[Sandbox]]]:
    """Yield a temporary folder, a thread for each core, and a sandbox for each thread."""
    root = Path(settings.VIDEO_UPLOAD_ROOT)
    root.mkdir(parents=True, exist_ok=True)
    sandboxes = [Sandbox(READ) for _ in range(os.cpu_count() or 1)]
    idle: SimpleQueue[Sandbox] = SimpleQueue()
    for sandbox in sandboxes:
        idle.put(sandbox)
    with (
        tempfile.TemporaryDirectory(dir=root, prefix=PREFIX) as folder,
        ThreadPoolExecutor(len(sandboxes)) as pool,
    ):
        try:
            yield Path(folder), pool, idle
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for sandbox in sandboxes:
                sandbox.kill()  # ends the reading of its video
            pool.shutdown()
            for sandbox in sandboxes:
                sandbox.close()


def _divide_all(
    work: _Work,
    videos: deque[Video],
    pool: ThreadPoolExecutor,
    ends_at: float | None,
    progress: Progress,
) -> None:
    total = len(videos)
    running: dict[Future[dict[str, Any]], tuple[Video, Path]] = {}
    while videos or running:
        progress(work.done(), total, "finding scenes")
        is_late = ends_at is not None and time.monotonic() > ends_at
        while videos and not is_late and len(running) < work.size:
            video = videos.popleft()
            folder = work.folder / str(video.pk)
            folder.mkdir()
            running[pool.submit(_read, work, video, folder)] = (video, folder)
        if not running:
            break
        finished, _ = wait(running, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED)
        for future in finished:
            video, folder = running.pop(future)
            _store_result(work, video, folder, future)
            shutil.rmtree(folder)
    work.report["left"] = len(videos)
    progress(work.done(), total, "finding scenes")


def _read(work: _Work, video: Video, folder: Path) -> dict[str, Any]:
    """Call `read_scenes` in a sandbox."""
    options, sandbox = work.options, work.sandboxes.get()
    try:
        with _local(video, folder) as source:
            changes, n_frames = (work.changes or {}).get(video.key, (None, 0))
            access = Access(readable=[str(source)], writable=[str(folder)])
            read: dict[str, Any] = sandbox.call(
                limits_of(source),
                access,
                source=str(source),
                picture=str(folder / "scenes.jpg"),
                rate=options.rate,
                most=options.most,
                steady=options.steady,
                seconds=video.duration,
                changes=changes,
                n_frames=n_frames,
            )
            return read
    finally:
        work.sandboxes.put(sandbox)


@contextmanager
def _local(video: Video, folder: Path) -> Iterator[Path]:
    """Yield the path of the video's file. A file in a bucket is fetched."""
    name = video.file.name or ""
    try:
        yield Path(default_storage.path(name)).absolute()
    except NotImplementedError:
        fetched = folder / "video.mp4"
        with default_storage.open(name) as stream, fetched.open("wb") as out:
            shutil.copyfileobj(stream, out)
        yield fetched.absolute()


def _store_result(work: _Work, video: Video, folder: Path, future: Future[dict[str, Any]]) -> None:
    features = Features.COLOURS if work.changes is None else Features.UPLOADED
    report = work.report
    try:
        read = future.result()
    except (InvalidInput, FileNotFoundError) as error:
        reason = error.reason if isinstance(error, InvalidInput) else NO_FILE
        _store(video, VideoScenes(features=features, error=reason[:ERROR_LENGTH]), [])
        report["failed"] += 1
        if len(report["errors"]) < ERRORS_MAX:
            report["errors"][video.key] = reason
        return
    width, height = read["tile"]
    found = VideoScenes(
        features=features, n_frames=read["n_frames"], tile_width=width, tile_height=height
    )
    times = list(zip(read["starts"], read["middles"], read["ends"], strict=True))
    _store(video, found, times, folder / "scenes.jpg")
    report["videos"] += 1
    report["scenes"] += len(times)


def _store(
    video: Video,
    found: VideoScenes,
    times: list[tuple[float, float, float]],
    picture: Path | None = None,
) -> None:
    """Store the scenes of a video in place of its earlier ones."""
    found.video, found.made_at = video, timezone.now()
    if picture is not None:
        with picture.open("rb") as stream:
            found.picture.save(picture.name, File(stream), save=False)
    with transaction.atomic():
        lock_row(video)
        earlier = VideoScenes.objects.filter(video=video)
        pictures = [name for name in earlier.values_list("picture", flat=True) if name]
        Scene.objects.filter(of__in=earlier).delete()
        earlier.delete()
        found.save()
        Scene.objects.bulk_create(
            Scene(of=found, number=number, start=start, middle=middle, end=end)
            for number, (start, middle, end) in enumerate(times)
        )
        for name in pictures:
            transaction.on_commit(lambda name=name: default_storage.delete(name))  # type: ignore[misc]
