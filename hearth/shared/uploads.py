"""Files that a person uploads and a worker reads later. They are stored under generated names."""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile

from hearth.shared.errors import Cancelled, HearthError, InvalidInput
from hearth.shared.filetypes import HEAD_BYTES, describe_binary
from hearth.shared.options import build, options_of

T = TypeVar("T")

log = logging.getLogger(__name__)


def check_is_readable(file: UploadedFile[Any], expected: str, besides: str = "") -> None:
    """Raise `InvalidInput` if the file has a known type that no job reads, such as an image.

    besides: a type of binary files that is also read.
    """
    head = file.read(HEAD_BYTES)
    file.seek(0)
    kind = describe_binary(head)
    if kind is not None and kind != besides:
        raise InvalidInput(f"This is {kind}. {expected} is expected.")


def store_upload(file: UploadedFile[Any]) -> str:
    """Store an uploaded file for a job; return the name for `uploaded_file`."""
    return storages["uploads"].save(uuid.uuid4().hex, file)


@contextmanager
def stored_upload(file: UploadedFile[Any]) -> Iterator[dict[str, str]]:
    """Store an uploaded file for the job that is queued inside the `with` block.

    Yields the job parameters `upload` and `source`. If the job is refused, the file is deleted.
    After a database error the job may exist, so the file stays.
    """
    name = store_upload(file)
    try:
        yield {"upload": name, "source": file.name or ""}
    except HearthError:
        delete_upload(name)
        raise


@contextmanager
def stored_uploads(files: Mapping[str, UploadedFile[Any]]) -> Iterator[dict[str, Any]]:
    """Store several uploaded files for the job that is queued inside the `with` block.

    Yields the job parameter `files`, which maps the name of each field to the `upload` and
    `source` of its file.
    """
    with ExitStack() as stack:
        yield {
            "files": {
                name: stack.enter_context(stored_upload(file)) for name, file in files.items()
            }
        }


@contextmanager
def stored_with(
    file: UploadedFile[Any], others: Mapping[str, UploadedFile[Any]]
) -> Iterator[dict[str, Any]]:
    """Store a file as `stored_upload` does, and the files that belong to it as `stored_uploads`.

    Without other files, the parameters have no `files`.
    """
    with stored_upload(file) as stored, stored_uploads(others) as files:
        yield {**stored, **(files if others else {})}


def upload_names(params: Mapping[str, Any]) -> set[str]:
    """Return the names of the uploads in a job's parameters: `upload`, and those in `files`.

    The names have no order, because PostgreSQL does not keep the order of the parameters.
    """
    files = params.get("files")
    sent = files.values() if isinstance(files, dict) else ()
    names = [params.get("upload"), *(file.get("upload") for file in sent if isinstance(file, dict))]
    return {name for name in names if isinstance(name, str) and name}


def keep_upload(name: str) -> str:
    """Copy a stored upload, so that it stays after its job; return the name of the copy.

    Housekeeping deletes the copy after a day, unless another job reads it.
    """
    with storages["uploads"].open(name) as file:
        return storages["uploads"].save(uuid.uuid4().hex, file)


def uploaded_file(name: str) -> Path:
    """Return the path of a stored upload. Raises `Cancelled` if the file no longer exists.

    The file stays until its job has ended, because a job that is interrupted starts again.
    """
    storage = storages["uploads"]
    if not storage.exists(name):
        raise Cancelled("The uploaded file was deleted.")
    return Path(storage.path(name))


def options_of_job(action: type[T], params: Mapping[str, Any]) -> T:
    """Return the options in the parameters of a job, with the files that were stored for it."""
    stored = {**params.get("files", {})}
    if "upload" in params:
        stored["file"] = params
    files = {
        declared.name: declared.file(uploaded_file(file["upload"]), file["source"])
        for declared in options_of(action)
        if declared.is_file and (file := stored.get(declared.name))
    }
    return build(action, {**params, **files})


def upload_sha256(name: str) -> str:
    """Return the SHA-256 of a stored upload; its name if the file no longer exists."""
    try:
        with storages["uploads"].open(name) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return name


def delete_upload(name: str | None) -> None:
    """Delete a stored upload, if there is one. After an error, housekeeping deletes it."""
    if not name:
        return
    try:
        storages["uploads"].delete(name)
    except OSError:
        log.warning("an upload could not be deleted", exc_info=True)
