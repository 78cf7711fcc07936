"""The process behind a `Sandbox`: it forks a child with limits for each call.

    python -m hearth.shared.sandbox.server MODULE:FUNCTION

Each line of the input is a call. The first line of the output states whether calls are isolated.
Each further line is the result of one call. This process itself reads no untrusted file.
"""

from __future__ import annotations

import codecs
import errno
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any, NoReturn

from hearth.processes import hide_memory, limit_memory, lower_limit
from hearth.shared.errors import InvalidInput
from hearth.shared.sandbox import Access, Limits
from hearth.shared.sandbox.landlock import confine, version
from hearth.shared.sandbox.seccomp import (
    end_with_parent,
    refuse_network_and_programs,
    refuse_signals_and_limits,
)

Function = Callable[..., Any]
Arguments = dict[str, Any]
Answer = dict[str, Any]

_MAX_ANSWER = 16 << 20
# Codecs of names in archives and of texts. A child cannot load them, because it reads no modules.
_CODECS = ("utf-8", "ascii", "latin-1", "cp437", "idna", "utf-16", "raw_unicode_escape")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the function, with what the child may use."""

    function: Function
    limits: Limits
    access: Access
    arguments: Arguments


def serve(name: str) -> None:
    """Answer each call in the input, until the input ends."""
    end_with_parent()
    hide_memory()
    answers = os.dup(1)
    os.dup2(2, 1)  # what the function prints must not mix with the answers
    module, _, attribute = name.partition(":")
    function = getattr(import_module(module), attribute)
    for codec in _CODECS:
        codecs.lookup(codec)
    hello = {"filters_calls": refuse_network_and_programs(), "confines_files": bool(version())}
    _send(answers, hello)
    for line in sys.stdin:
        request = json.loads(line)
        limits, access = Limits(**request["limits"]), Access(**request["access"])
        call = Call(function, limits, access, request["arguments"])
        _send(answers, _answer(call, answers))


def _send(answers: int, answer: Answer) -> None:
    with os.fdopen(answers, "wb", closefd=False) as out:
        out.write(json.dumps(answer).encode() + b"\n")


def _answer(call: Call, answers: int) -> Answer:
    """Call the function in a child, and return its result or the reason why there is none."""
    with tempfile.TemporaryFile() as reply:
        child = os.fork()
        if child == 0:
            os.close(answers)
            _run(call, reply)
        is_late = False

        def kill(*_: object) -> None:
            nonlocal is_late
            is_late = True
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

        signal.signal(signal.SIGALRM, kill)
        signal.alarm(call.limits.seconds)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        signal.alarm(0)
        if status == 0:
            reply.seek(0)
            with suppress(ValueError):
                return dict(json.loads(reply.read(_MAX_ANSWER)))
    return {"reason": _reason(status, call.limits, is_late=is_late)}


def _reason(status: int, limits: Limits, *, is_late: bool) -> str:
    if is_late or status == -signal.SIGXCPU:
        limit = limits.seconds if is_late else limits.cpu_seconds
        seconds = "1 second" if limit == 1 else f"{limit:,} seconds"
        return f"processing was stopped, because it takes longer than {seconds}"
    if status < 0:
        return f"the process crashed ({signal.Signals(-status).name})"
    return "the process failed"


def _run(call: Call, reply: IO[bytes]) -> NoReturn:
    """Write the result of the function, or its error, into `reply`, and end this process."""
    status = 1
    try:
        end_with_parent()
        os.close(0)
        _set_limits(call.limits)
        if version():
            confine(call.access.readable, call.access.writable)
        refuse_signals_and_limits()
        reply.write(json.dumps(_called(call)).encode())
        reply.flush()
        status = 0
    except Exception:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _set_limits(limits: Limits) -> None:
    lower_limit(resource.RLIMIT_CPU, limits.cpu_seconds, grace=1)
    lower_limit(resource.RLIMIT_FSIZE, limits.file_mb << 20)
    lower_limit(resource.RLIMIT_CORE, 0)
    limit_memory(limits.memory_mb)


def _called(call: Call) -> Answer:
    limits = call.limits
    try:
        return {"value": call.function(**call.arguments)}
    except InvalidInput as error:
        return {"reason": error.reason}
    except MemoryError:
        return {"reason": f"processing needs more than {limits.memory_mb:,} MB of memory"}
    except OSError as error:
        if error.errno == errno.EFBIG:
            return {"reason": f"the converted file would be larger than {limits.file_mb:,} MB"}
        return {"errno": error.errno or errno.EIO, "filename": error.filename}


if __name__ == "__main__":
    serve(sys.argv[1])
