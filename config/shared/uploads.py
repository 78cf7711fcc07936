"""Files that a person uploads and a worker reads later. They are stored under generated names."""

from __future__ import annotations

import hashlib
import logging
import uuid
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile

from config.shared.errors import Cancelled, InvalidInput
from config.shared.filetypes import HEAD_BYTES, describe_binary

log = logging.getLogger(__name__)


def check_is_readable(file: UploadedFile[Any], expected: str) -> None:
    """Raise `InvalidInput` if the file is of a known type that no job reads, such as an image."""
    head = file.read(HEAD_BYTES)
    file.seek(0)
    kind = describe_binary(head)
    if kind is not None:
        raise InvalidInput(f"This is {kind}. {expected} is expected.")


def store_upload(file: UploadedFile[Any]) -> str:
    """Store an uploaded file for a job; return the name for `uploaded_file`."""
    return storages["uploads"].save(uuid.uuid4().hex, file)


def uploaded_file(name: str) -> Path:
    """Return the path of a stored upload. Raises `Cancelled` if the file no longer exists.

    The file stays until its job has ended, because a job that is interrupted starts again.
    """
    storage = storages["uploads"]
    if not storage.exists(name):
        raise Cancelled("The uploaded file was deleted.")
    return Path(storage.path(name))


def upload_sha256(name: str) -> str:
    """Return the SHA-256 of a stored upload; its name if the file no longer exists."""
    try:
        with storages["uploads"].open(name) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    except FileNotFoundError:
        return name


def delete_upload(name: str | None) -> None:
    """Delete a stored upload, if there is one. An error of the disk is left to the sweeper."""
    if not name:
        return
    try:
        storages["uploads"].delete(name)
    except OSError:
        log.warning("an upload could not be deleted", exc_info=True)


def old_files(before: datetime) -> list[str]:
    """Return the names of all files in the upload folder that were last written before a time.

    They include files that a web process was writing when it was killed.
    """
    storage = storages["uploads"]
    names = []
    for name in storage.listdir("")[1]:
        with suppress(FileNotFoundError):  # another process deleted it
            if storage.get_modified_time(name) < before:
                names.append(name)
    return names
