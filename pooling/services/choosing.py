"""Choose the files of an archive, a folder or a bucket that belong to videos without a file."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q

from hearth.accounts.actors import Actor, account_of
from hearth.shared.words import counted
from pooling.core.file_names import MatchKind, base_name
from pooling.enums import UploadState
from pooling.models import Benchmark, VideoUpload
from pooling.selectors.uploads import match_files
from pooling.services.queueing import preparing_job

ROWS_PER_STATEMENT = 500


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of an archive, a folder or a bucket. `path` is its path there."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """New rows that are not stored yet, by the place of their file in the list, and a summary."""

    rows: dict[int, VideoUpload]
    summary: str


def choose_files(
    benchmark: Benchmark, files: Sequence[FoundFile], *, by: Actor, left_out: int = 0
) -> Chosen:
    """Return a waiting row for each file whose video has no file yet and is not getting one.

    left_out: the number of other members of an archive, which cannot be used.
    """
    matches = match_files(benchmark, [file.path for file in files])
    is_free = Q(upload=None) | Q(upload__state=UploadState.REFUSED)
    videos = {video.key: video for video in benchmark.videos.filter(is_free, file="")}
    rows = {
        place: VideoUpload(
            id=uuid.uuid4(),
            benchmark=benchmark,
            video=videos[match.key],
            name=base_name(file.path)[:1000],
            size=file.size,
            offset=file.size,
            state=UploadState.WAITING,
            created_by=account_of(by),
        )
        for place, (file, match) in enumerate(zip(files, matches, strict=True))
        if match.key in videos
    }
    unknown = sum(match.kind == MatchKind.NEW for match in matches)
    ambiguous = sum(match.kind == MatchKind.AMBIGUOUS for match in matches)
    present = len(files) - unknown - ambiguous - len(rows)
    parts = [
        f"{counted(len(rows), 'file')} for videos",
        f"{counted(unknown, 'file')} whose name matches no video" if unknown else "",
        f"{ambiguous:,} ambiguous" if ambiguous else "",
        f"{present:,} for videos that have a file or are getting one" if present else "",
        f"{left_out:,} left out (folders, links, encrypted members)" if left_out else "",
    ]
    return Chosen(rows, ", ".join(part for part in parts if part))


@transaction.atomic
def store_chosen(benchmark: Benchmark, rows: Sequence[VideoUpload], *, by: Actor) -> None:
    """Store the rows in place of refused ones, and queue a job for those that wait."""
    videos = [row.video_id for row in rows]
    VideoUpload.objects.filter(video__in=videos, state=UploadState.REFUSED).delete()
    waiting = [row for row in rows if row.state == UploadState.WAITING]
    job = preparing_job(benchmark, by) if waiting else None
    for row in waiting:
        row.job = job
    VideoUpload.objects.bulk_create(rows, batch_size=ROWS_PER_STATEMENT)
