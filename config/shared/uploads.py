"""Files that a person sent and a worker reads later, under names of our own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile

from config.shared.errors import Cancelled, TakenOver


def store_upload(file: UploadedFile[Any]) -> str:
    """Keep an uploaded file for a job; returns the name to give `uploaded_file`."""
    return storages["uploads"].save(uuid.uuid4().hex, file)


@contextmanager
def uploaded_file(name: str) -> Iterator[Path]:
    """The path of a kept upload. The file goes once the work is done, whether it succeeded.

    A file that is gone before its job began ends the job as cancelled. A worker that dies, or
    hangs until another does the job, leaves the file to the other attempt.
    """
    storage = storages["uploads"]
    if not storage.exists(name):
        raise Cancelled("the uploaded file was deleted")
    needed_elsewhere = False
    try:
        yield Path(storage.path(name))
    except TakenOver:
        needed_elsewhere = True
        raise
    finally:
        if not needed_elsewhere:
            storage.delete(name)
