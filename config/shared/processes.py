"""Child processes that end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

GRACE_SECONDS = 10


@contextmanager
def child(
    arguments: Sequence[str], *, log: Path | None = None, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A Python module as a process in a group of its own, ended with all its children.

    In its own group, so that a Ctrl-C in the terminal reaches only us and we end it in order.
    With `log`, what it says goes to that file and not to the terminal.
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
    """Ask the process to end its children and itself; end the whole group by force if it fails."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def raise_on_signals() -> None:
    """Let SIGTERM and SIGHUP end the program as Ctrl-C does, through its `finally` clauses.

    SIGINT, too: a shell that starts us in the background has it ignored.
    """

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(kind, interrupt)
