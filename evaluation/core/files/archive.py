"""Zip archives whose bytes depend only on the contents and the date."""

from __future__ import annotations

import datetime
import hashlib
import zipfile
from collections.abc import Iterable
from typing import IO

from evaluation.core.files.release.facts import FileFacts

UNIX, READABLE = 3, 0o644 << 16


class Archive:
    """A zip archive that stores its files uncompressed, in one folder.

    The large files are already compressed. If the archive compressed its files, its bytes would
    depend on the version of zlib.

    folder: the folder that contains all files. date: the modification date of all files.
    """

    def __init__(self, out: IO[bytes], folder: str, date: datetime.date) -> None:
        self._zip = zipfile.ZipFile(out, "w", zipfile.ZIP_STORED)
        self._folder = folder
        self._date = date
        self.files: list[FileFacts] = []

    def add(self, path: str, pieces: Iterable[bytes]) -> None:
        """Write a file from its pieces, and add its path, hash and size to `files`."""
        info = zipfile.ZipInfo(
            f"{self._folder}/{path}",
            (self._date.year, self._date.month, self._date.day, 0, 0, 0),
        )
        info.create_system, info.external_attr = UNIX, READABLE
        digest, size = hashlib.sha256(), 0
        # The size is not known yet. Files of four gigabytes or more need the 64-bit format.
        with self._zip.open(info, "w", force_zip64=True) as file:
            for piece in pieces:
                file.write(piece)
                digest.update(piece)
                size += len(piece)
        self.files.append(FileFacts(path, digest.hexdigest(), size))

    def close(self) -> None:
        """Add `SHA256SUMS`, which `sha256sum --check` reads, and finish the archive."""
        sums = "".join(f"{file.sha256}  {file.path}\n" for file in self.files)
        self.add("SHA256SUMS", [sums.encode()])
        self._zip.close()
