"""Write files atomically."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file that becomes `path` at the end. After an error, no file is left."""
    unfinished = path.with_name(f".{path.name}.part")
    try:
        with unfinished.open("wb") as out:
            yield out
        unfinished.replace(path)
    except OSError as error:
        # The error must name the requested file, not the temporary one.
        error.filename = str(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)
