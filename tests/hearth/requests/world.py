"""Requests as a server receives them, with bodies that record whether they were read."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from django.conf import settings
from django.test import Client

BOUNDARY = "border"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


class Body(io.BytesIO):
    """A body that records whether it was read. After `cut` bytes, the connection breaks."""

    def __init__(self, content: bytes = b"", cut: int | None = None) -> None:
        super().__init__(content)
        self.cut = cut
        self.is_read = False

    def read(self, size: int | None = -1, /) -> bytes:
        self.is_read = True
        if self.cut is not None and self.tell() >= self.cut:
            raise OSError("connection reset")
        return super().read(size)


def multipart(fields: dict[str, str], file: bytes | None = None, name: str = "my.run") -> bytes:
    """Return a form with fields and, if there is one, the file in the field `file`."""
    parts = [_part(f'name="{field}"', value.encode()) for field, value in fields.items()]
    if file is not None:
        parts.append(_part(f'name="file"; filename="{name}"', file))
    return b"".join([*parts, f"--{BOUNDARY}--\r\n".encode()])


def _part(names: str, content: bytes) -> bytes:
    head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; {names}\r\n\r\n"
    return head.encode() + content + b"\r\n"


def send(
    client: Client,
    path: str,
    body: Body,
    content_type: str = MULTIPART,
    length: int | None = None,
    **headers: Any,
) -> Any:
    """POST a body. length: the value of Content-Length; by default, the real length of the body."""
    size = len(body.getvalue()) if length is None else length
    extra = {"wsgi.input": body, "CONTENT_LENGTH": str(size), **headers}
    client.raise_request_exception = False
    return client.generic("POST", path, b"replaced", content_type, **extra)


def incoming() -> list[str]:
    """Return the names of the files that are arriving, or were left by a request."""
    return sorted(path.name for path in Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir())


def stored() -> list[str]:
    """Return the names of the uploads that are stored for jobs."""
    return sorted(path.name for path in Path(settings.UPLOAD_ROOT).iterdir() if path.is_file())
