"""Files that are sent in parts: begin an upload, receive its parts, or remove it.

The offset of an upload is stored only when all bytes up to it are on disk. So an upload continues
at its offset after a killed web process, a closed browser or a power failure.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import BinaryIO, Protocol

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.http.request import UnreadablePostError

from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.requests.files import check_free_space
from hearth.requests.text import check_texts
from hearth.shared.bulk import lock_row
from hearth.shared.errors import Conflict, DamagedPart, InvalidInput, NotFound, TooLarge
from hearth.shared.files import sync
from pooling.core.archive_names import is_archive_name
from pooling.core.file_names import MatchKind
from pooling.enums import PoolingAct, UploadState
from pooling.models import Benchmark, Video, VideoUpload
from pooling.policies import check_can_add_videos
from pooling.selectors import uploads
from pooling.services.queueing import queue_upload

PART_BYTES_MAX = 16 << 20
BLOCK = 1 << 20
KEPT_FOR = timedelta(days=7)
# The checksum algorithms, by their names in the tus protocol.
ALGORITHMS = ("sha256", "sha1")


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Checksum:
    """The checksum that a client sent with a part. algorithm: one of `ALGORITHMS`."""

    algorithm: str
    digest: bytes


def begin_upload(*, benchmark: Benchmark, file: uploads.FileFacts, by: Actor) -> VideoUpload:
    """Return the upload of a file. It continues if a part of the same file was sent before.

    Raises `InvalidInput` if no video or several videos have this name. Raises `Conflict` if the
    video is playable or another file is on its way to it. Raises `TooLarge` if the file is too
    large or the person's unprepared files would need too much space. Raises `OSError` if the disk
    is too full.
    """
    check_can_add_videos(by, benchmark)
    _check_file(file)
    video = None if is_archive_name(file["name"]) else _video_of(benchmark, file["name"])
    account = account_of(by)
    with transaction.atomic():
        lock_row(benchmark)
        if begun := _begun(benchmark, video, file, by):
            return begun
        _check_space(file["size"], by)
        upload = VideoUpload(benchmark=benchmark, video=video, created_by=account, **file)
        path = uploads.upload_path(upload)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        sync(path.parent)
        upload.save(force_insert=True)
        if upload.size == 0:
            queue_upload(upload, by)
    return upload


def _check_file(file: uploads.FileFacts) -> None:
    check_texts([file["name"]], "The name of the file")
    if not 0 < len(file["name"]) <= 1000:
        raise InvalidInput("The name of the file must have 1 to 1,000 characters.")
    check_size(file["size"])


def check_size(size: int) -> None:
    if size > settings.VIDEO_BYTES_MAX:
        limit = settings.VIDEO_BYTES_MAX / 1e6
        raise TooLarge(f"The file is larger than {limit:,.0f} MB (VIDEO_MAX_MB).")


def _video_of(benchmark: Benchmark, name: str) -> Video:
    (match,) = uploads.match_files(benchmark, [name])
    if match.kind == MatchKind.NEW:
        raise InvalidInput("The benchmark has no video of this name.")
    if match.kind == MatchKind.AMBIGUOUS:
        raise InvalidInput("Several videos of the benchmark have this name.")
    video = benchmark.videos.get(key=match.key)
    if video.file:
        raise Conflict("The video has a playable file already.")
    return video


def _begun(
    benchmark: Benchmark, video: Video | None, file: uploads.FileFacts, by: Actor
) -> VideoUpload | None:
    """Return the incomplete upload of the same file, or None.

    An earlier upload of the video that is refused, playable or damaged is deleted. Raises
    `Conflict` if another file is on its way to the video.
    """
    if video is None:
        same = benchmark.uploads.filter(
            video=None, state=UploadState.ARRIVING, created_by=account_of(by), **file
        ).first()
    else:
        same = VideoUpload.objects.filter(video=video).first()
    if same is None:
        return None
    is_same = (same.name, same.size, same.modified) == (
        file["name"],
        file["size"],
        file["modified"],
    )
    if same.state == UploadState.ARRIVING and is_same and uploads.is_intact(same):
        return same
    is_lost = same.state == UploadState.ARRIVING and not uploads.is_intact(same)
    if not is_lost and same.state not in (UploadState.REFUSED, UploadState.PLAYABLE):
        raise Conflict(
            f"The file {same.name} is on its way to this video. Remove it in the list below, or "
            "wait until it is prepared."
        )
    delete_upload(same)
    return None


def _check_space(size: int, by: Actor) -> None:
    account = account_of(by)
    if account is not None:
        limit = settings.VIDEO_BYTES_PER_PERSON
        if uploads.stored_bytes(account.pk) + size > limit:
            raise TooLarge(
                f"Your files that are not prepared yet would need more than {limit / 1e6:,.0f} MB. "
                "Wait until some are prepared, or remove some in the list."
            )
    check_free_space(size)


def receive_part(
    *,
    upload: VideoUpload,
    offset: int,
    length: int,
    body: Readable,
    by: Actor,
    checksum: Checksum | None = None,
) -> int:
    """Store a part of a file, and return the offset of the next part.

    Either the whole part is stored or nothing. After the last part, the file waits for a job.
    Raises `Conflict` if the part does not begin at the offset of the upload, or if another request
    is storing a part. Raises `DamagedPart` if the checksum differs.
    """
    check_can_add_videos(by, upload.benchmark)
    with _locked(upload) as file:
        upload.refresh_from_db()
        _check_part(upload, offset, length)
        check_free_space(length)
        file.seek(offset)
        _copy(body, file, length, checksum)
        file.flush()
        os.fsync(file.fileno())
        return _advance(upload, offset + length, by)


@contextmanager
def _locked(upload: VideoUpload) -> Iterator[BinaryIO]:
    """Yield the open file, locked against other requests. If the process dies, the lock ends."""
    try:
        file = uploads.upload_path(upload).open("r+b")
    except FileNotFoundError:
        raise NotFound("The file is no longer on the server. Send it again.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            raise Conflict("Another request is sending a part of this file.") from None
        yield file


def _check_part(upload: VideoUpload, offset: int, length: int) -> None:
    if upload.state != UploadState.ARRIVING or offset != upload.offset:
        raise Conflict(f"The next part of this file begins at byte {upload.offset}.")
    if offset + length > upload.size:
        raise TooLarge(f"The part ends after the end of the file, which has {upload.size} bytes.")
    if not uploads.is_intact(upload):
        raise NotFound("The file is no longer on the server. Send it again.")


def _copy(body: Readable, file: BinaryIO, length: int, checksum: Checksum | None) -> None:
    digest = hashlib.new(checksum.algorithm if checksum else "sha256", usedforsecurity=False)
    missing = length
    while missing:
        block = body.read(min(BLOCK, missing))
        if not block:
            raise UnreadablePostError("the body ended early")
        digest.update(block)
        file.write(block)
        missing -= len(block)
    if checksum is not None and digest.digest() != checksum.digest:
        raise DamagedPart("The part differs from its checksum. Send it again.")


@transaction.atomic
def _advance(upload: VideoUpload, offset: int, by: Actor) -> int:
    mine = VideoUpload.objects.filter(
        pk=upload.pk, offset=upload.offset, state=UploadState.ARRIVING
    )
    if not mine.update(offset=offset, changed_at=Now()):
        raise Conflict("The upload was removed or has changed.")
    if offset == upload.size:
        upload.offset = offset
        queue_upload(upload, by)
    return offset


@transaction.atomic
def end_upload(*, upload: VideoUpload, by: Actor) -> None:
    """Remove an upload that is not being prepared, and its file unless it is in a video folder."""
    check_can_add_videos(by, upload.benchmark)
    if upload.state == UploadState.PROCESSING:
        raise Conflict("The file is being prepared. Cancel the preparation first.")
    record(PoolingAct.VIDEO_UPLOADS_CANCELLED, by=by, on=upload.benchmark, after={"files": 1})
    delete_upload(upload)


def delete_upload(upload: VideoUpload) -> None:
    """Delete the row and, after the commit, the file. A file in a video folder stays."""
    if not upload.is_in_folder:
        path = uploads.upload_path(upload)
        transaction.on_commit(lambda: path.unlink(missing_ok=True))
    VideoUpload.objects.filter(pk=upload.pk).delete()


def expires_at(upload: VideoUpload) -> datetime:
    """Return when housekeeping deletes the file if no further part arrives."""
    return upload.changed_at + KEPT_FOR
