"""Unpack an archive of videos: each member that matches a video waits as a separate file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings

from hearth.accounts.actors import Actor
from hearth.requests.files import check_free_space
from hearth.shared.errors import InvalidInput
from hearth.shared.sandbox import Access, Limits, Sandbox
from pooling.enums import UploadState
from pooling.models import VideoUpload
from pooling.selectors.uploads import upload_path
from pooling.services.choosing import FoundFile, choose_files, store_chosen
from pooling.services.videos import PREPARING

# The time limit for listing the members, and also for reading their content.
SECONDS_MAX = 350
MEMORY_MB = 1024


def unpack(upload: VideoUpload, *, by: Actor) -> str:
    """Store the members of an archive that match videos without a file. Return a summary.

    Raises `InvalidInput` if the archive cannot be read or its members need too much space.
    """
    source = str(upload_path(upload))
    with Sandbox("pooling.media.archives:list_members") as sandbox:
        members, left_out = sandbox.call(_limits(), Access(readable=[source]), source=source)
    files = [FoundFile(member["name"], member["size"]) for member in members]
    chosen = choose_files(upload.benchmark, files, by=by, left_out=left_out)
    _check_space(sum(row.size for row in chosen.rows.values()))
    rows = {members[place]["index"]: row for place, row in chosen.rows.items()}
    # The sandbox can write everything in this folder. The other uploads are not in it.
    with (
        Sandbox("pooling.media.archives:extract") as sandbox,
        TemporaryDirectory(dir=settings.VIDEO_UPLOAD_ROOT, prefix=PREPARING) as folder,
    ):
        members_at = {str(index): str(Path(folder) / str(index)) for index in rows}
        faults = sandbox.call(
            _limits(),
            Access(readable=[source], writable=[folder]),
            source=source,
            targets=members_at,
            bytes_max=settings.VIDEO_BYTES_MAX,
            reserve=settings.DISK_RESERVE_BYTES,
        )
        for index, row in rows.items():
            with suppress(FileNotFoundError):
                Path(members_at[str(index)]).replace(upload_path(row))
            _set_result(row, faults.get(str(index), ""))
    store_chosen(upload.benchmark, list(rows.values()), by=by)
    return f"The archive has {chosen.summary}."


def _limits() -> Limits:
    return Limits(
        seconds=SECONDS_MAX,
        cpu_seconds=SECONDS_MAX,
        memory_mb=MEMORY_MB,
        file_mb=(settings.VIDEO_BYTES_MAX >> 20) + 1,
    )


def _check_space(size: int) -> None:
    try:
        check_free_space(size)
    except OSError:
        raise InvalidInput(
            f"The disk does not have enough space for the {size / 1e6:,.0f} MB of the members. "
            "Free some space, then retry."
        ) from None


def _set_result(row: VideoUpload, fault: str) -> None:
    """Set the size of the extracted file, or refuse it with the reason.

    The size is that of the file on disk, because the sizes in an archive can be wrong.
    """
    path = upload_path(row)
    row.size = row.offset = path.stat().st_size if path.is_file() else 0
    if fault or not path.is_file():
        row.state, row.reason, row.is_kept = (
            UploadState.REFUSED,
            fault or "the member is missing",
            False,
        )
