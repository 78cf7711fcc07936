"""Send the files of videos in parts, with the tus protocol 1.0."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hearth_client.connection import Connection
from hearth_client.errors import ClientError, Refused
from hearth_client.uploads import OnBytes

VERSION = {"Tus-Resumable": "1.0.0"}
PART_BYTES = 8 << 20
# After these statuses, the client requests the offset of the next part. In tus, 460 stands for a
# wrong checksum.
CONFLICT, DAMAGED = 409, 460
# The maximum number of failures in a row.
FAILURES_MAX = 5


@dataclass(frozen=True)
class VideoFile:
    """A file of a folder. name: its path in the folder, by which the site finds the video."""

    path: Path
    name: str
    size: int

    @property
    def metadata(self) -> str:
        modified = self.path.stat().st_mtime_ns // 1_000_000
        values = {"filename": self.name, "modified": str(modified)}
        return ",".join(
            f"{key} {base64.b64encode(text.encode()).decode()}" for key, text in values.items()
        )


def files_of(folder: Path) -> list[VideoFile]:
    """Return the files of a folder and its subfolders, without hidden ones."""
    if not folder.is_dir():
        raise ClientError(f"{folder} is not a folder.")
    found = []
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in place.parts):
            found.append(VideoFile(path, place.as_posix(), path.stat().st_size))
    return found


class VideoSender:
    """Sends video files to a benchmark.

    on_bytes: called with the number of finished bytes, and with the total number. All bytes of a
    refused file count as finished.
    """

    def __init__(self, site: Connection, path: str, files: Sequence[VideoFile], on_bytes: OnBytes):
        self._site, self._path, self._files = site, path, files
        self._on_bytes = on_bytes
        self._before = 0
        self._total = sum(file.size for file in files)

    def send(self) -> Iterator[dict[str, Any]]:
        """Send each file, and yield its name with the reason if the site refuses it."""
        for file in self._files:
            reason = ""
            try:
                self._send(file)
            except Refused as refused:
                if refused.status not in (400, CONFLICT, 413):
                    raise
                reason = str(refused)
            self._before += file.size
            self._on_bytes(self._before, self._total)
            yield {"name": file.name, "refused": reason}

    def _send(self, file: VideoFile) -> None:
        headers = {"Upload-Length": str(file.size), "Upload-Metadata": file.metadata}
        begun = self._site.request("POST", self._path, headers={**VERSION, **headers})
        upload = f"{self._path}{begun.headers['Location'].rstrip('/').rpartition('/')[2]}/"
        offset, failures = int(begun.headers["Upload-Offset"]), 0
        with file.path.open("rb") as stream:
            while offset < file.size:
                self._on_bytes(self._before + offset, self._total)
                stream.seek(offset)
                try:
                    offset = self._send_part(upload, offset, stream.read(PART_BYTES))
                    failures = 0
                except Refused as refused:
                    failures += 1
                    if refused.status not in (CONFLICT, DAMAGED) or failures > FAILURES_MAX:
                        raise
                    # If the part arrived but the response was lost, the offset is already at the
                    # end of this part.
                    offset = self._offset(upload)

    def _send_part(self, upload: str, offset: int, part: bytes) -> int:
        digest = base64.b64encode(hashlib.sha256(part).digest()).decode()
        headers = {
            "Content-Type": "application/offset+octet-stream",
            "Upload-Offset": str(offset),
            "Upload-Checksum": f"sha256 {digest}",
        }
        sent = self._site.request("PATCH", upload, data=part, headers={**VERSION, **headers})
        return int(sent.headers["Upload-Offset"])

    def _offset(self, upload: str) -> int:
        return int(self._site.request("HEAD", upload, headers=VERSION).headers["Upload-Offset"])
