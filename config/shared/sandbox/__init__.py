"""Call functions that read untrusted files, each in a process with limits and without a network.

Decoders of videos and pictures are large C libraries. A file can make them crash, run endlessly or
use too much memory. In a sandbox, this only ends one call, with a reason. The caller continues.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from config.shared.errors import InvalidInput

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


class Sandbox:
    """A process that runs one function, each time in a new child.

    function: "module:name". It takes and returns values that JSON can express. The process starts
    and imports the module at the first call, and again after the process has died. Two threads must
    not use a sandbox at the same time.
    """

    def __init__(self, function: str) -> None:
        self._function = function
        self._server: subprocess.Popen[bytes] | None = None
        self._is_isolated = False

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, limits: Limits, **arguments: Any) -> Any:
        """Return the value of the function.

        Raises `InvalidInput` if the function does, or if the child crashes or exceeds a limit.
        Raises `OSError` if the function does.
        """
        response = self._request({"limits": asdict(limits), "arguments": arguments})
        if "errno" in response:
            raise OSError(response["errno"], os.strerror(response["errno"]), response["filename"])
        if "reason" in response:
            raise InvalidInput(response["reason"])
        return response["value"]

    def is_isolated(self) -> bool:
        """Return whether the kernel stops children from using a network or starting a program."""
        self._started()
        return self._is_isolated

    def close(self) -> None:
        """Kill the process and its child."""
        if self._server is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._server.pid, signal.SIGKILL)
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
            [sys.executable, "-m", "config.shared.sandbox.server", self._function],
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
        self._is_isolated = hello["is_isolated"]
        if not self._is_isolated:
            _warn_once()
        return self._server


def _read(server: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Return the next response. It is empty if the process died."""
    line = server.stdout.readline()  # type: ignore[union-attr]
    return dict(json.loads(line)) if line.endswith(b"\n") else {}


@cache
def _warn_once() -> None:
    logger.warning("Untrusted files are processed without a filter of system calls.")
