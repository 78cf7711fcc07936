"""A full disk, and a database or bucket that does not answer: how to recognise them and wait."""

from __future__ import annotations

import errno
import sqlite3
import time
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

# The server does not answer, or closed the connection, or could not get a lock in time.
DATABASE_UNAVAILABLE = (OperationalError, InterfaceError)
# EFBIG: the limit for one file, such as RLIMIT_FSIZE.
DISK_IS_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
POSTGRESQL_DISK_IS_FULL = "53100"
PAUSE_SECONDS = 1.0

Answer = TypeVar("Answer")


class BucketUnavailable(OSError):
    """A bucket does not answer, or refuses a request."""


def is_disk_full(error: BaseException) -> bool:
    """Return whether a file or the database could not be written because the disk is full."""
    if isinstance(error, OSError):
        return error.errno in DISK_IS_FULL
    of_driver = error.__cause__
    return (
        getattr(of_driver, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        or getattr(of_driver, "pgcode", None) == POSTGRESQL_DISK_IS_FULL
    )


def broke_at_commit(error: BaseException) -> bool:
    """Return whether COMMIT raised the error.

    Then the transaction may be stored although the program received no confirmation.
    """
    wrapper: Any = BaseDatabaseWrapper
    commit = wrapper._commit.__code__
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_code is commit for frame, _ in frames)


def when_database_answers(action: Callable[[], Answer], *, seconds: float) -> Answer:
    """Run `action`, and repeat it for up to `seconds` while the database does not answer.

    `action` must have the same effect if it runs twice. Inside a transaction it runs only once,
    because the database has discarded the earlier statements of the transaction.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return action()
        except DATABASE_UNAVAILABLE:
            if connection.in_atomic_block or time.monotonic() > deadline:
                raise
            connection.close()
            time.sleep(PAUSE_SECONDS)
