"""Writing files that are whole or not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write beside `path`, moved there at the end; an error leaves nothing behind."""
    unfinished = path.with_name(f".{path.name}.part")
    try:
        with unfinished.open("wb") as out:
            yield out
        unfinished.replace(path)
    except OSError as error:
        # Name the file that was asked for, not ours beside it.
        error.filename = str(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)
