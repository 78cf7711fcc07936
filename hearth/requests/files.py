"""Files in requests: which addresses receive them, from whom, and how large they may be.

A view takes files only if it is marked with `receives_files`. Files are stored below
`FILE_UPLOAD_TEMP_DIR` while they arrive. They are deleted at the end of the request, unless the
view has moved them. If the process is killed, `sweep_incoming_files` deletes them later.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import (
    FileUploadHandler,
    MemoryFileUploadHandler,
    TemporaryFileUploadHandler,
)
from django.http import HttpRequest, QueryDict
from django.utils.datastructures import MultiValueDict

from hearth.shared.errors import InvalidInput

AnyView = TypeVar("AnyView", bound=Callable[..., Any])
# Takes a person and the benchmark key in the address; returns whether the person may send files.
MaySend = Callable[[Any, str], bool]

FORM_WITH_FILES = "multipart/form-data"
# The server ends every request earlier than this.
ABANDONED_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class FileRule:
    """Who may send files to a view, and the maximum size of the request.

    own_bytes_max: the maximum of this view; None for `UPLOAD_BYTES_MAX`. content_type: the type of
    the requests. If it is not `FORM_WITH_FILES`, the view reads the body of the request itself.
    """

    may_send: MaySend
    own_bytes_max: int | None
    content_type: str = FORM_WITH_FILES

    @property
    def bytes_max(self) -> int:
        return self.own_bytes_max or settings.UPLOAD_BYTES_MAX


def receives_files(
    may_send: MaySend, *, bytes_max: int | None = None, content_type: str = FORM_WITH_FILES
) -> Callable[[AnyView], AnyView]:
    """Mark a view function or API class that receives files.

    Files from people for whom `may_send` returns False are not read. The view then receives an
    empty form. A view with another `content_type` reads the body of the request itself, after
    checking who sends it.
    """

    def mark(view: AnyView) -> AnyView:
        view.file_rule = FileRule(may_send, bytes_max, content_type)  # type: ignore[attr-defined]
        return view

    return mark


def file_rule_of(view: Any) -> FileRule | None:
    """Return the rule of a view; None if it receives no files."""
    return getattr(getattr(view, "cls", view), "file_rule", None)


class NoFiles(FileUploadHandler):
    """The handler of all views that receive no files."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        raise InvalidInput("This address receives no files. Send the form without a file.")


class OnlyFromPermitted(FileUploadHandler):
    """Skip the body unless the person may send files. This handler runs before the body is read.

    The API sets `request.user` to the owner of a token before it reads the body.
    """

    def __init__(self, request: HttpRequest, rule: FileRule, key: str) -> None:
        super().__init__(request)
        self._rule, self._key = rule, key

    def handle_raw_input(
        self,
        input_data: Any,
        META: dict[str, str],  # noqa: N803  # the name in Django
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> tuple[QueryDict, MultiValueDict[str, Any]] | None:
        user = getattr(self.request, "user", None)
        if user is None or not user.is_authenticated or not self._rule.may_send(user, self._key):
            return QueryDict(), MultiValueDict()
        check_free_space(content_length)
        return None

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


class IncomingFiles(TemporaryFileUploadHandler):
    """Store files on disk. They are deleted after the request, unless they were moved."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self._received: list[TemporaryUploadedFile] = []

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self._received.append(self.file)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        check_free_space(len(raw_data))
        return super().receive_data_chunk(raw_data, start)

    def discard(self) -> None:
        for file in self._received:
            # After a failed write, closing fails too, because it writes the rest of the buffer.
            with suppress(OSError):
                file.close()
            Path(file.temporary_file_path()).unlink(missing_ok=True)


def set_file_handlers(request: HttpRequest, rule: FileRule | None, key: str) -> None:
    """Let the request store files if the view receives them from this person."""
    if rule is None or rule.content_type != FORM_WITH_FILES:
        return
    incoming = IncomingFiles(request)
    request.incoming_files = incoming  # type: ignore[attr-defined]
    request.upload_handlers = [
        OnlyFromPermitted(request, rule, key),
        MemoryFileUploadHandler(request),
        incoming,
    ]


def discard_files(request: HttpRequest) -> None:
    """Delete the files of the request that the view has not moved."""
    incoming: IncomingFiles | None = getattr(request, "incoming_files", None)
    if incoming is not None:
        incoming.discard()


def check_free_space(needed: int) -> None:
    """Raise `OSError` if less than `DISK_RESERVE_BYTES` would stay free on the disk of uploads."""
    free = shutil.disk_usage(_incoming_folder()).free
    if free - needed < settings.DISK_RESERVE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _incoming_folder() -> Path:
    """Return the folder of arriving files, which is created if it is missing.

    It can be missing because an empty disk was mounted after the server started.
    """
    folder = Path(settings.FILE_UPLOAD_TEMP_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def sweep_incoming_files() -> int:
    """Delete files of requests whose process was killed; return their number."""
    swept = 0
    for path in _incoming_folder().iterdir():
        # Another process may sweep at the same time.
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
                path.unlink()
                swept += 1
    return swept
