"""Call functions that read untrusted files, each in a process with limits and without a network.

Decoders of videos and pictures are large C libraries. A file can make them crash, run endlessly or
use too much memory. In a sandbox, this only ends one call, with a reason. The caller continues. A
file can also make a decoder run code of its author. In a sandbox, this code can use only the files
of the call, and cannot reach other processes.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hearth.shared.errors import InvalidInput

ROOT = Path(__file__).resolve().parent.parent.parent.parent
# The variables that the process receives. Others can contain passwords and keys.
VARIABLES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may use: time, processor time, memory, and the size of each file it writes.

    The memory of the idle process is not counted. Memory is limited only on Linux.
    """

    seconds: int
    cpu_seconds: int
    memory_mb: int
    file_mb: int


@dataclass(frozen=True, slots=True)
class Access:
    """The files and folders that one call may use. It can also read what is in `writable`."""

    readable: Sequence[str] = ()
    writable: Sequence[str] = ()


NO_FILES = Access()


@dataclass(frozen=True, slots=True)
class Isolation:
    """How the kernel isolates calls.

    filters_calls: whether it refuses connections, programs, signals and the memory of others.
    confines_files: whether it refuses all files except those of the call.
    """

    filters_calls: bool = False
    confines_files: bool = False


class Sandbox:
    """A process that runs one function, each time in a new child.

    function: "module:name". It takes and returns values that JSON can express. The process starts
    and imports the module at the first call, and again after the process has died. Two threads must
    not use a sandbox at the same time.
    """

    def __init__(self, function: str) -> None:
        self._function = function
        self._server: subprocess.Popen[bytes] | None = None
        self._isolation = Isolation()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, limits: Limits, access: Access = NO_FILES, **arguments: Any) -> Any:
        """Return the value of the function, which may use the files of `access`.

        Raises `InvalidInput` if the function does, or if the child crashes or exceeds a limit.
        Raises `OSError` if the function does.
        """
        response = self._request(
            {"limits": asdict(limits), "access": asdict(access), "arguments": arguments}
        )
        if "errno" in response:
            raise OSError(response["errno"], os.strerror(response["errno"]), response["filename"])
        if "reason" in response:
            raise InvalidInput(response["reason"])
        return response["value"]

    def isolation(self) -> Isolation:
        """Return how the kernel isolates calls."""
        self._started()
        return self._isolation

    def kill(self) -> None:
        """Kill the process and its child. Another thread may be waiting for its response."""
        if (server := self._server) is not None:
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process and its child, and wait until they have ended."""
        if self._server is not None:
            self.kill()
            self._server.communicate()
            self._server = None

    def _request(self, request: dict[str, Any]) -> dict[str, Any]:
        server = self._started()
        with suppress(BrokenPipeError):
            server.stdin.write(json.dumps(request).encode() + b"\n")  # type: ignore[union-attr]
            server.stdin.flush()  # type: ignore[union-attr]
        response = _read(server)
        if not response:
            self.close()
        return response or {"reason": "the process was killed"}

    def _started(self) -> subprocess.Popen[bytes]:
        if self._server is not None:
            return self._server
        self._server = subprocess.Popen(
            [sys.executable, "-m", "hearth.shared.sandbox.server", self._function],
            cwd=ROOT,
            # With many cores, the arenas of threads would reserve more memory than the limit.
            env={name: os.environ[name] for name in VARIABLES if name in os.environ}
            | {"MALLOC_ARENA_MAX": "2"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        hello = _read(self._server)
        if not hello:
            self.close()
            raise RuntimeError(f"The process for {self._function} did not start.")
        self._isolation = Isolation(**hello)
        if not self._isolation.filters_calls:
            _warn_once("Untrusted files are processed without a filter of system calls.")
        if not self._isolation.confines_files:
            _warn_once("Untrusted files are processed with access to all files (no Landlock).")
        return self._server


def _read(server: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Return the next response. It is empty if the process died."""
    line = server.stdout.readline()  # type: ignore[union-attr]
    return dict(json.loads(line)) if line.endswith(b"\n") else {}


@cache
def _warn_once(text: str) -> None:
    logger.warning(text)
