"""Files that a person uploads and a worker reads later. They are stored under generated names."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile

from config.shared.errors import Cancelled, HearthError, InvalidInput, TakenOver
from config.shared.filetypes import HEAD_BYTES, describe_binary


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


@contextmanager
def stored_upload(file: UploadedFile[Any]) -> Iterator[dict[str, str]]:
    """Store an uploaded file while a job is queued; yield the job's parameters `upload`, `source`.

    If the job is refused, the file is deleted. After a database error the job may exist, so the
    file stays.
    """
    name = store_upload(file)
    try:
        yield {"upload": name, "source": file.name or ""}
    except HearthError:
        storages["uploads"].delete(name)
        raise


@contextmanager
def uploaded_file(name: str) -> Iterator[Path]:
    """Yield the path of a stored upload, and delete the file after the work or its failure.

    If the file no longer exists, the job ends as cancelled. A worker that dies, or that has lost
    the job to another worker, leaves the file for the other attempt.
    """
    storage = storages["uploads"]
    if not storage.exists(name):
        raise Cancelled("The uploaded file was deleted.")
    used_by_another = False
    try:
        yield Path(storage.path(name))
    except TakenOver:
        used_by_another = True
        raise
    finally:
        if not used_by_another:
            storage.delete(name)
