"""Preparing video files in a temporary folder, and storing them with their benchmark."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath
from queue import SimpleQueue
from weakref import WeakKeyDictionary

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db.models.fields.files import FieldFile

from hearth.shared.errors import InvalidInput
from hearth.shared.folding import tidy
from hearth.shared.progress import Progress
from hearth.shared.sandbox import Access, Limits, Sandbox
from pooling.core.readers.videos import VideoRow
from pooling.enums import MediaState
from pooling.models import Benchmark, Video

PREPARING = ".prepare-"
"""The prefix of the names of the temporary folders."""
PREPARE = "pooling.media.preparing:prepare"
MEMORY_MB = 4096
"""The memory that one video may use. Frames of 8192 x 8192 pixels need up to 3 GB."""
SECONDS, SECONDS_PER_MB = 300, 60
"""The time limit of one video: a fixed part and a part per MB. An intact file takes far less."""


@dataclass(frozen=True, slots=True)
class ReadyVideo:
    """A playable file with its poster, its contact sheet and its duration in seconds.

    The files are in a temporary folder, or stored with a video that has the same source. `fault` is
    the reason why the file cannot be played, or empty. `sheet` is None if no contact sheet could be
    made. The video can be judged without one.
    """

    file: Path | FieldFile
    poster: Path | FieldFile
    sheet: Path | FieldFile | None
    sha256: str
    duration: float | None
    fault: str = ""


@contextmanager
def prepared_videos(
    rows: Sequence[VideoRow], media_dir: Path | None, progress: Progress
) -> Iterator[dict[str, ReadyVideo]]:
    """Yield the playable files of the rows by video key, in a temporary folder.

    One thread per core prepares files. Each thread uses a sandbox, because the files are not
    trusted. A file that cannot be played is returned with its fault. Raises `InvalidInput` if a
    file is missing.
    """
    sources = _sources(rows, media_dir)
    ready: dict[str, ReadyVideo] = {}
    with preparers() as preparing:
        futures = {key: preparing.submit(source) for key, source in sources.items()}
        for key, future in futures.items():
            ready[key] = future.result()
            progress(len(ready), len(sources), "preparing videos")
        yield ready


class Preparers:
    """Threads, one for each core, that prepare files in sandboxes."""

    def __init__(self, folder: Path, pool: ThreadPoolExecutor, sandboxes: list[Sandbox]) -> None:
        self.size = len(sandboxes)
        self._folder, self._pool = folder, pool
        self._number = count()
        self._stems: WeakKeyDictionary[Future[ReadyVideo], Path] = WeakKeyDictionary()
        self._idle: SimpleQueue[Sandbox] = SimpleQueue()
        for sandbox in sandboxes:
            self._idle.put(sandbox)

    def submit(self, source: Path, limits: Limits | None = None) -> Future[ReadyVideo]:
        # A folder for each video, because the sandbox can write everything in it.
        stem = self._folder / str(next(self._number)) / "video"
        stem.parent.mkdir()
        limits = limits or limits_of(source)
        future = self._pool.submit(_prepare, source, stem, limits, self._idle)
        self._stems[future] = stem
        return future

    def percent(self, future: Future[ReadyVideo]) -> int:
        """Return the progress of a file that is being prepared, as the sandbox wrote it last."""
        try:
            return int(_progress_of(self._stems[future]).read_text() or 0)
        except FileNotFoundError:
            return 0


@contextmanager
def preparers() -> Iterator[Preparers]:
    """Yield the threads with a temporary folder, which is deleted at the end.

    At the end, the preparation of unfinished files stops, too.
    """
    # The folder is next to the other uploads, because the media can be in a bucket.
    root = Path(settings.VIDEO_UPLOAD_ROOT)
    root.mkdir(parents=True, exist_ok=True)
    sandboxes = [Sandbox(PREPARE) for _ in range(os.cpu_count() or 1)]
    with (
        tempfile.TemporaryDirectory(dir=root, prefix=PREPARING) as folder,
        ThreadPoolExecutor(len(sandboxes)) as pool,
    ):
        try:
            yield Preparers(Path(folder), pool, sandboxes)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for sandbox in sandboxes:
                sandbox.close()  # also stops the preparation of its video


def attach_videos(
    benchmark: Benchmark, rows: Sequence[VideoRow], ready: dict[str, ReadyVideo]
) -> tuple[str, ...]:
    """Store the files, URLs and durations of the benchmark's videos.

    A video that already has a file only gets a missing contact sheet. If a row leaves a value
    empty, the stored value stays. Return a note for each file that cannot be played.
    """
    _add_missing_sheets(benchmark, ready)
    videos = {video.key: video for video in benchmark.videos.filter(file="")}
    changed, notes = [], []
    for row in rows:
        video = videos.get(row.key)
        if video is None:
            continue
        video.url = row.url or video.url
        video.duration = row.duration or video.duration
        video.state = MediaState.PLAYABLE if video.url else MediaState.MISSING
        if row.key in ready:
            attach(video, ready[row.key])
            if fault := ready[row.key].fault:
                notes.append(str(InvalidInput(fault, source=Path(row.file or "").name)))
        changed.append(video)
    Video.objects.bulk_update(
        changed,
        ["url", "duration", "state", "file", "poster", "sheet", "sha256"],
        batch_size=200,
    )
    return tuple(notes)


def _add_missing_sheets(benchmark: Benchmark, ready: dict[str, ReadyVideo]) -> None:
    """Add the contact sheets of videos that have a file, if the new source equals the old one."""
    changed = []
    for video in benchmark.videos.filter(sheet="").exclude(file="") if ready else ():
        again = ready.get(video.key)
        if again is not None and again.sha256 == video.sha256 and again.sheet is not None:
            _store(video, "sheet", again.sheet)
            changed.append(video)
    Video.objects.bulk_update(changed, ["sheet"], batch_size=200)


def attach(video: Video, ready: ReadyVideo) -> None:
    """Store the files, and set the fields of the video without saving it."""
    video.sha256 = ready.sha256
    if ready.fault:
        video.state = MediaState.BROKEN
        return
    video.duration = ready.duration
    video.state = MediaState.PLAYABLE
    _store(video, "file", ready.file)
    _store(video, "poster", ready.poster)
    if ready.sheet is not None:
        _store(video, "sheet", ready.sheet)


def _store(video: Video, field: str, file: Path | FieldFile) -> None:
    with file.open("rb") as stream:
        name = video._meta.get_field(field).generate_filename(video, file.name)  # type: ignore[union-attr]
        setattr(video, field, default_storage.save(name, File(stream)))


def _sources(rows: Sequence[VideoRow], media_dir: Path | None) -> dict[str, Path]:
    named = {row.key: row.file for row in rows if row.file}
    if media_dir is None:
        return {}
    find = FileFinder(media_dir)
    sources = {key: find(name) for key, name in named.items()}
    for key, path in sources.items():
        if not path.is_file():
            raise InvalidInput(f"the file of video {key!r} does not exist", source=str(path))
    return sources


class FileFinder:
    """A function that returns the path of a file in a folder, by its path relative to the folder.

    Accents can be encoded in two ways, and macOS uses another one than most programs. If there is
    no file with exactly this path, one whose path differs only in this is returned.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[Path, dict[str, Path]] = {}

    def __call__(self, name: str) -> Path:
        path = self._folder
        for part in PurePosixPath(name).parts:
            exact = path / part
            path = exact if exact.exists() else self._composed(path).get(tidy(part), exact)
        return path

    def _composed(self, folder: Path) -> dict[str, Path]:
        """Return the paths in a folder by their composed names, which are read once."""
        if folder not in self._names:
            paths = sorted(folder.iterdir(), reverse=True) if folder.is_dir() else []
            self._names[folder] = {tidy(path.name): path for path in paths}
        return self._names[folder]


def _prepare(source: Path, stem: Path, limits: Limits, idle: SimpleQueue[Sandbox]) -> ReadyVideo:
    file, poster = stem.with_suffix(".mp4"), stem.with_suffix(".jpg")
    sheet = stem.with_name(f"{stem.name}-sheet.jpg")
    with source.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    paths = {
        "source": source.absolute(),
        "file": file,
        "poster": poster,
        "sheet": sheet,
        "progress": _progress_of(stem),
    }
    sandbox = idle.get()
    try:
        access = Access(readable=[str(paths["source"])], writable=[str(stem.parent)])
        duration, has_sheet = sandbox.call(
            limits, access, **{name: str(path) for name, path in paths.items()}
        )
    except InvalidInput as error:
        return ReadyVideo(file, poster, None, digest, None, fault=error.reason)
    finally:
        idle.put(sandbox)
    return ReadyVideo(file, poster, sheet if has_sheet else None, digest, duration)


def _progress_of(stem: Path) -> Path:
    return stem.with_suffix(".percent")


def limits_of(source: Path, seconds_max: int | None = None) -> Limits:
    """Return the limits for one video, with at most `seconds_max` seconds."""
    megabytes = source.stat().st_size >> 20
    seconds = SECONDS + SECONDS_PER_MB * megabytes
    if seconds_max is not None:
        seconds = min(seconds, seconds_max)
    return Limits(
        seconds=seconds,
        cpu_seconds=seconds * (os.cpu_count() or 1),
        memory_mb=MEMORY_MB,
        file_mb=1024 + 4 * megabytes,
    )
