"""Video files: made playable in a temporary folder, then stored with their benchmark."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage

from config.shared.errors import InvalidInput
from config.shared.progress import Progress
from pooling import media
from pooling.core.benchmark_file import VideoRow
from pooling.enums import MediaState
from pooling.models import Benchmark, Video


@dataclass(frozen=True, slots=True)
class ReadyVideo:
    """A playable file with its pictures and its duration in seconds.

    `fault` is the reason why the file cannot be played, or empty. `sheet` is None if no contact
    sheet could be made. The video can be judged without one.
    """

    file: Path
    poster: Path
    sheet: Path | None
    sha256: str
    duration: float | None
    fault: str = ""


@contextmanager
def prepared_videos(
    rows: Sequence[VideoRow], media_dir: Path | None, progress: Progress
) -> Iterator[dict[str, ReadyVideo]]:
    """Yield the playable files of the rows by video key, in a temporary folder.

    Threads are enough to use all cores, because decoding releases Python's lock. A file
    that cannot be played is returned with its fault. Raises `InvalidInput` if a file is missing.
    """
    sources = _sources(rows, media_dir)
    Path(settings.MEDIA_ROOT).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.MEDIA_ROOT, prefix=".prepare-") as folder:
        ready: dict[str, ReadyVideo] = {}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            futures = {
                key: pool.submit(_prepare, source, Path(folder) / str(number))
                for number, (key, source) in enumerate(sources.items())
            }
            try:
                for key, future in futures.items():
                    ready[key] = future.result()
                    progress(len(ready), len(sources), "preparing videos")
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        yield ready


def attach_videos(
    benchmark: Benchmark, rows: Sequence[VideoRow], ready: dict[str, ReadyVideo]
) -> tuple[str, ...]:
    """Store the files, URLs and durations of the benchmark's videos.

    A video that has a file keeps it, and only a missing contact sheet is added if the file is the
    same. Values that a row leaves empty stay. Return a note for each file that cannot be played.
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
            _attach(video, ready[row.key])
            if ready[row.key].fault:
                notes.append(ready[row.key].fault)
        changed.append(video)
    Video.objects.bulk_update(
        changed,
        ["url", "duration", "state", "file", "poster", "sheet", "sha256"],
        batch_size=200,
    )
    return tuple(notes)


def _add_missing_sheets(benchmark: Benchmark, ready: dict[str, ReadyVideo]) -> None:
    changed = []
    for video in benchmark.videos.filter(sheet="").exclude(file="") if ready else ():
        again = ready.get(video.key)
        if again is not None and again.sheet is not None and again.sha256 == video.sha256:
            _store(video, "sheet", again.sheet)
            changed.append(video)
    Video.objects.bulk_update(changed, ["sheet"], batch_size=200)


def _attach(video: Video, ready: ReadyVideo) -> None:
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


def _store(video: Video, field: str, path: Path) -> None:
    with path.open("rb") as stream:
        name = video._meta.get_field(field).generate_filename(video, path.name)  # type: ignore[union-attr]
        setattr(video, field, default_storage.save(name, File(stream)))


def _sources(rows: Sequence[VideoRow], media_dir: Path | None) -> dict[str, Path]:
    named = {row.key: row.file for row in rows if row.file}
    if media_dir is None:
        return {}
    sources = {key: media_dir / name for key, name in named.items()}
    for key, path in sources.items():
        if not path.is_file():
            raise InvalidInput(f"the file of video {key!r} does not exist", source=str(path))
    return sources


def _prepare(source: Path, stem: Path) -> ReadyVideo:
    file, poster = stem.with_suffix(".mp4"), stem.with_suffix(".jpg")
    with source.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    sheet = media.ContactSheet()
    try:
        info = media.ensure_playable(source, file, sheet.watch)
        media.write_poster(file, poster)
    except InvalidInput as error:
        return ReadyVideo(file, poster, None, digest, None, fault=str(error))
    written = _write_sheet(sheet, file, info.duration)
    return ReadyVideo(file, poster, written, digest, info.duration)


def _write_sheet(sheet: media.ContactSheet, file: Path, seconds: float) -> Path | None:
    target = file.with_name(f"{file.stem}-sheet.jpg")
    try:
        sheet.write(file, target, seconds)
    except InvalidInput:
        return None
    return target
