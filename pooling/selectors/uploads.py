"""Reading the files that are on their way to videos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from django.conf import settings
from django.db.models import Case, Count, IntegerField, QuerySet, Sum, Value, When

from pooling.core.archive_names import is_archive_name
from pooling.core.file_names import Match, MatchKind, match_names
from pooling.enums import UNPREPARED, MediaState, UploadState
from pooling.models import Benchmark, VideoUpload
from pooling.selectors.arrays import video_keys

UNFINISHED = (UploadState.ARRIVING, *UNPREPARED)
# The files that need an action by a person come first.
SHOWN_ORDER = (
    UploadState.REFUSED,
    UploadState.PROCESSING,
    UploadState.ARRIVING,
    UploadState.WAITING,
    UploadState.UNPACKED,
    UploadState.PLAYABLE,
)


class FileFacts(TypedDict):
    """What identifies a file on a person's machine. modified: milliseconds."""

    name: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """The effect of adding a file. `upload` is set if a part of the file was already sent."""

    status: str
    key: str = ""
    upload: VideoUpload | None = None


@dataclass(frozen=True, slots=True)
class UploadCounts:
    """The number of files in each state, the bytes that have arrived, and the size of all files."""

    by_state: dict[str, int]
    sent: int
    size: int

    @property
    def total(self) -> int:
        return sum(self.by_state.values())

    @property
    def unfinished(self) -> int:
        return sum(self.by_state.get(state, 0) for state in UNFINISHED)

    @property
    def prepared(self) -> int:
        return self.total - self.unfinished


def upload_path(upload: VideoUpload) -> Path:
    """Return the path of the file.

    The copy of a file from a bucket exists only while the file is being prepared.
    """
    if upload.is_in_folder:
        return Path(settings.VIDEO_FOLDER) / upload.folder_path
    return Path(settings.VIDEO_UPLOAD_ROOT) / str(upload.pk)


def is_intact(upload: VideoUpload) -> bool:
    """Return whether the disk has all bytes that were acknowledged."""
    path = upload_path(upload)
    return path.is_file() and path.stat().st_size >= upload.offset


def match_files(benchmark: Benchmark, names: Sequence[str]) -> list[Match]:
    return match_names(names, video_keys(benchmark))


def plan_files(benchmark: Benchmark, files: Sequence[FileFacts]) -> list[PlannedFile]:
    """Return the effect of adding each file, without changing anything.

    The status is one of `match`, `archive`, `new`, `ambiguous` and `present`. A file is present if
    its video is playable already.
    """
    matches = match_files(benchmark, [file["name"] for file in files])
    present = set(benchmark.videos.exclude(file="").values_list("key", flat=True))
    sent = _sent_parts(benchmark)
    return [
        _planned(file, match, present, sent) for file, match in zip(files, matches, strict=True)
    ]


def _planned(
    file: FileFacts,
    match: Match,
    present: set[str],
    sent: dict[tuple[str, int, int], VideoUpload],
) -> PlannedFile:
    upload = sent.get((file["name"], file["size"], file["modified"]))
    if is_archive_name(file["name"]):
        return PlannedFile("archive", upload=upload)
    if match.kind == MatchKind.MATCH and match.key in present:
        return PlannedFile("present", match.key)
    return PlannedFile(match.kind.value, match.key, upload)


def _sent_parts(benchmark: Benchmark) -> dict[tuple[str, int, int], VideoUpload]:
    """Return the incomplete uploads by the name, size and time of their files."""
    arriving = benchmark.uploads.filter(state=UploadState.ARRIVING)
    return {(one.name, one.size, one.modified): one for one in arriving}


def stored_bytes(account_id: int) -> int:
    """Return the size of the files that a person has sent and that are still stored."""
    kept = VideoUpload.objects.filter(created_by=account_id, is_kept=True, folder_path="")
    return kept.aggregate(size=Sum("size"))["size"] or 0


def shown_uploads(benchmark: Benchmark) -> QuerySet[VideoUpload]:
    """Return the files of a benchmark, beginning with those that need an action by a person."""
    order = Case(
        *(When(state=state, then=Value(place)) for place, state in enumerate(SHOWN_ORDER)),
        output_field=IntegerField(),
    )
    uploads = benchmark.uploads.select_related("video")
    return uploads.order_by(order, "-changed_at", "pk")


def count_unplayable(benchmark: Benchmark) -> int:
    """Return the number of videos without a playable file or an address."""
    return benchmark.videos.exclude(state=MediaState.PLAYABLE).count()


def count_uploads(benchmark: Benchmark) -> UploadCounts:
    rows = list(
        benchmark.uploads.order_by()
        .values_list("state")
        .annotate(Count("pk"), Sum("offset"), Sum("size"))
    )
    return UploadCounts(
        by_state={state: files for state, files, _, _ in rows},
        sent=sum(sent for _, _, sent, _ in rows),
        size=sum(size for _, _, _, size in rows),
    )
