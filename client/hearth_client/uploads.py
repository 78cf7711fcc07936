"""The body of an upload, read from the file while it is sent."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable
from pathlib import Path

from hearth_client.streams import STANDARD_STREAM, open_seekable

OnBytes = Callable[[int, int], None]


class FileBody:
    """A multipart/form-data body of one file and some fields.

    `requests` itself would read the whole file into memory. on_bytes: called with the number of
    bytes sent so far and the total number. field: the name of the field of the file. others: small
    files by the names of their fields.
    """

    def __init__(
        self,
        file: Path,
        fields: dict[str, str],
        on_bytes: OnBytes,
        field: str = "file",
        others: dict[str, Path] | None = None,
    ) -> None:
        boundary = uuid.uuid4().hex
        self.content_type = f"multipart/form-data; boundary={boundary}"
        head = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        )
        small = [
            _file_head(boundary, name, path) + path.read_bytes() + b"\r\n"
            for name, path in (others or {}).items()
        ]
        head_of_file = _file_head(boundary, field, file)
        self._file = open_seekable(file)
        self._parts = [
            io.BytesIO(b"".join([head.encode(), *small, head_of_file])),
            self._file,
            io.BytesIO(f"\r\n--{boundary}--\r\n".encode()),
        ]
        self._sizes = [part.seek(0, io.SEEK_END) for part in self._parts]
        self._on_bytes = on_bytes
        self.rewind()

    def __len__(self) -> int:
        return sum(self._sizes)

    def rewind(self) -> None:
        for part in self._parts:
            part.seek(0)
        self._sent = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `size`; empty at the end."""
        for part in self._parts:
            if piece := part.read(size):
                self._sent += len(piece)
                self._on_bytes(self._sent, len(self))
                return piece
        return b""

    def close(self) -> None:
        self._file.close()


def _file_head(boundary: str, field: str, file: Path) -> bytes:
    shown = "stdin" if file == STANDARD_STREAM else file.name
    name = shown.replace("\\", "\\\\").replace('"', "%22")
    return (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    ).encode()
