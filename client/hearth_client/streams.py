"""Files that a person names: pipes, devices, links and `-` for the standard streams."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

STANDARD_STREAM = Path("-")
# Opening these again would write over what the standard output of the program has.
STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def open_seekable(path: Path) -> BinaryIO:
    """Open a file. A pipe, and the standard input (`-`), are first copied to a temporary file."""
    file = cast(BinaryIO, sys.stdin.buffer) if path == STANDARD_STREAM else path.open("rb")
    if path != STANDARD_STREAM and file.seekable():
        return file
    copy = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
    with file:
        shutil.copyfileobj(file, copy)
    return copy


def is_standard_output(path: str | Path | None) -> bool:
    return str(path) in STANDARD_OUTPUT


@contextmanager
def write_complete(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream to a file that gets its name at the end, or none after an error.

    The file is at the end of all links. The standard output, devices and pipes are written in
    place, because a new file would replace them.
    """
    if is_standard_output(path):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = path.resolve()
    is_descriptor = path.parent.resolve().is_relative_to("/proc")
    if is_descriptor or (path.exists() and not path.is_file()):
        with path.open("wb") as out:
            yield out
        return
    part = target.with_name(f"{target.name}.part")
    try:
        with part.open("wb") as out:
            yield out
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
