"""Write files so that they are complete, and on disk before a transaction refers to them."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from django.core.files.storage import FileSystemStorage

# The names of the standard output. A second descriptor of a file, which opening /dev/stdout makes,
# would write from the start of the file.
STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
LINKS_MAX = 40


class DurableStorage(FileSystemStorage):
    """A folder whose files survive a power failure as soon as `save` has returned."""

    def _save(self, name: str, content: Any) -> str:
        saved: str = super()._save(name, content)  # type: ignore[misc]
        path = Path(self.path(saved))
        self.sync(path)
        self.sync(path.parent)
        return saved

    def sync(self, path: Path) -> None:
        sync(path)


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


@contextmanager
def write_output(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream to the file that a person names as the output of a command.

    A regular file becomes visible when it is complete, at the end of all links. The standard
    output, devices and pipes are written in place, because a new file would replace them.
    """
    try:
        if is_standard_output(path):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        elif (target := regular_target(path)) is not None:
            with write_atomically(target) as out:
                yield out
        else:
            with path.open("wb") as out:
                yield out
    except OSError as error:
        error.filename = error.filename or str(path)
        if isinstance(error, BrokenPipeError) and is_standard_output(path):
            # Otherwise Python reports the rest of the buffer at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def is_standard_output(path: Path | None) -> bool:
    return str(path) in STANDARD_OUTPUT


def regular_target(path: Path) -> Path | None:
    """Return the regular file, existing or new, to which a path leads over symbolic links.

    Return None if it leads to a device, a pipe or an open file of a process.
    """
    for _ in range(LINKS_MAX):
        path = path.parent.resolve() / path.name
        if path.is_relative_to("/proc"):
            return None
        if not path.is_symlink():
            return path if path.is_file() or path.is_dir() or not path.exists() else None
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
