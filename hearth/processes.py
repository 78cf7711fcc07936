"""Child processes that end with their parent, and limits of this process."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

GRACE_SECONDS = 10
_PR_SET_DUMPABLE = 4  # from linux/prctl.h
# Importing data creates millions of rows without reference cycles. With Python's default of 700,
# looking for cycles takes up to a quarter of the time of an import.
NEW_OBJECTS_PER_COLLECTION = 100_000
# The start of a command creates more than 100,000 objects that stay.
NEW_OBJECTS_OF_COMMANDS = 500_000


def collect_garbage_rarely(new_objects: int = NEW_OBJECTS_PER_COLLECTION) -> None:
    """Let this process look for reference cycles only after many new objects."""
    gc.set_threshold(new_objects, *gc.get_threshold()[1:])


@contextmanager
def child(
    arguments: Sequence[str], *, log: Path | None = None, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python module as a process, and end it with all its children.

    The child has its own process group, so that Ctrl-C reaches only the parent, which then ends
    the child properly. The output of the child is appended to the file `log`, if there is one.
    """
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") if log is not None else nullcontext() as out:
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            env={**os.environ, **environment},
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
        try:
            yield process
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Terminate the process, wait at most `GRACE_SECONDS`, and kill what is left of its group."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def lower_limit(kind: int, value: int, *, grace: int = 0) -> None:
    """Set a limit of this process, such as `resource.RLIMIT_CPU`, but not above its hard limit.

    It cannot be raised again. grace: how far the process may exceed it after the kernel's signal,
    before the kernel kills the process.
    """
    _, highest = resource.getrlimit(kind)
    if highest != resource.RLIM_INFINITY:
        value = min(value, highest - grace)
    resource.setrlimit(kind, (value, value + grace))


def limit_memory(megabytes: int) -> None:
    """Limit the memory that this process may use in addition to its current use, on Linux only."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        used = int(statm.read_text().split()[0]) * resource.getpagesize()
        lower_limit(resource.RLIMIT_AS, used + (megabytes << 20))


def hide_memory() -> None:
    """Refuse other processes of this account the memory and the environment of this one, on Linux.

    Both contain secrets. The processes that this one forks are hidden, too.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def raise_on_signals() -> None:
    """Let SIGTERM and SIGHUP end the program like Ctrl-C, through its `finally` clauses.

    SIGINT is set as well, because a shell lets programs in the background ignore it.
    """

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(kind, interrupt)
