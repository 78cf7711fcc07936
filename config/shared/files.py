"""Write files so that they are complete, and on disk before a transaction refers to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from django.core.files.storage import FileSystemStorage


class DurableStorage(FileSystemStorage):
    """A folder whose files survive a power failure as soon as `save` has returned."""

    def _save(self, name: str, content: Any) -> str:
        saved: str = super()._save(name, content)  # type: ignore[misc]
        path = Path(self.path(saved))
        sync(path)
        sync(path.parent)
        return saved


def sync(path: Path) -> None:
    """Write a file or the entries of a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file that becomes `path` at the end, or is deleted after an error."""
    unfinished = path.with_name(f".{path.name}.part")
    try:
        with unfinished.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(path)
        sync(path.parent)
    except OSError as error:
        # The error must name the requested file, not the temporary one.
        error.filename = str(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)
