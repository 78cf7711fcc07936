"""Errors of archives that cannot be read."""

from __future__ import annotations

import errno
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from hearth.shared.errors import InvalidInput

# The errors that the readers of archives raise for damaged, encrypted and unknown content.
_UNREADABLE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, RuntimeError, ValueError, KeyError, OverflowError, MemoryError),
)


@contextmanager
def readable(fault: str, source: str | None = None) -> Iterator[None]:
    """Raise `InvalidInput` with `fault` for content that cannot be read."""
    try:
        yield
    except _UNREADABLE as error:
        raise InvalidInput(fault, source=source) from error
    except OSError as error:
        # bz2 raises `OSError` without a number for damaged data. Wrong positions are invalid.
        if error.errno not in (None, errno.EINVAL):
            raise
        raise InvalidInput(fault, source=source) from error
