"""Functions that behave in a sandbox like a decoder that has read a malicious file."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hearth.shared.errors import InvalidInput
from pooling.media.preparing import prepare as prepare_video

SYSTEM_CALLS = {
    "x86_64": {
        "tgkill": 234,
        "rt_sigqueueinfo": 129,
        "ptrace": 101,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "pidfd_open": 434,
        "prlimit64": 302,
    },
    "aarch64": {
        "tgkill": 131,
        "rt_sigqueueinfo": 138,
        "ptrace": 117,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "pidfd_open": 434,
        "prlimit64": 261,
    },
}


def act(what: str, argument: Any = None) -> Any:
    return globals()[f"_{what}"](argument)


def prepare(source: str, **paths: str) -> Any:
    """Prepare a video. If its file has the name of a function here, call that function instead."""
    what = Path(source).stem
    if f"_{what}" in globals():
        return act(what, 1 << 14 if what == "allocate" else None)
    return prepare_video(source, **paths)


def prepare_slowly(source: str, progress: str, **paths: str) -> Any:
    """Report a progress of 42 %, and refuse the video some seconds later."""
    Path(progress).write_text("42")
    time.sleep(2.5)
    raise InvalidInput("too slow")


def _echo(argument: Any) -> Any:
    return argument


def _refuse(argument: str) -> None:
    raise InvalidInput(argument, source="/private/place.mp4")


def _read(argument: str) -> str:
    return Path(argument).read_text()


def _crash(_: None) -> None:
    ctypes.string_at(0)


def _sleep(_: None) -> None:
    time.sleep(60)


def _spin(_: None) -> None:
    while True:
        pass


def _allocate(argument: int) -> int:
    return len(bytearray(argument << 20))


def _write(argument: str) -> None:
    Path(argument).write_bytes(bytes(2 << 20))


def _print(argument: str) -> str:
    print(argument, flush=True)
    return "printed"


def _connect(argument: int) -> None:
    socket.create_connection(("127.0.0.1", argument), timeout=2)


def _start(_: None) -> None:
    subprocess.run(["true"], check=True)


def _environment(_: None) -> list[str]:
    return sorted(os.environ)


def _process(_: None) -> list[int]:
    return [os.getpid(), os.getppid()]


def _lambda(_: None) -> Any:
    return lambda: None


def _reach(argument: dict[str, Any]) -> dict[str, str]:
    """Try to read, change and signal what does not belong to the call. Return the errors by act.

    argument: the process id of the caller, a file of it (`secret`), and its folder (`folder`).
    """
    caller, secret, folder = argument["caller"], argument["secret"], argument["folder"]
    libc = ctypes.CDLL(None, use_errno=True)
    numbers = SYSTEM_CALLS[platform.machine()]
    space = ctypes.create_string_buffer(64)

    def system_call(name: str, *arguments: Any) -> None:
        if libc.syscall(numbers[name], *arguments) < 0:
            raise OSError(ctypes.get_errno(), name)

    def opened(path: str, mode: str) -> None:
        with Path(path).open(mode):
            pass

    acts: dict[str, Callable[[], Any]] = {
        "environment of the caller": lambda: Path(f"/proc/{caller}/environ").read_bytes(),
        "environment of the server": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
        "memory of the caller": lambda: opened(f"/proc/{caller}/mem", "rb"),
        "memory map of the caller": lambda: Path(f"/proc/{caller}/maps").read_bytes(),
        "read": lambda: Path(secret).read_bytes(),
        "write": lambda: Path(secret).write_bytes(b""),
        "append": lambda: opened(secret, "ab"),
        "truncate": lambda: os.truncate(secret, 0),
        "delete": lambda: Path(secret).unlink(),
        "rename": lambda: Path(secret).rename(f"{folder}/other"),
        "link": lambda: os.link(secret, f"{argument['writable']}/link"),
        "create": lambda: Path(f"{folder}/new").touch(),
        "create a folder": lambda: Path(f"{folder}/new").mkdir(),
        "list": lambda: list(Path(folder).iterdir()),
        "read code": lambda: Path(__file__).read_bytes(),
        "write code": lambda: opened(__file__, "ab"),
        "read accounts": lambda: Path("/etc/passwd").read_bytes(),
        "signal the caller": lambda: os.kill(caller, 0),
        "signal the server": lambda: os.kill(os.getppid(), signal.SIGKILL),
        "signal a thread": lambda: system_call("tgkill", caller, caller, 0),
        "queue a signal": lambda: system_call("rt_sigqueueinfo", caller, 0, space),
        "trace": lambda: system_call("ptrace", 16, caller, 0, 0),
        "read memory": lambda: system_call("process_vm_readv", caller, space, 1, space, 1, 0),
        "write memory": lambda: system_call("process_vm_writev", caller, space, 1, space, 1, 0),
        "open the process": lambda: system_call("pidfd_open", caller, 0),
        "limit the caller": lambda: system_call("prlimit64", caller, 0, space, None),
    }
    return {name: _error_of(attempt) for name, attempt in acts.items()}


def _error_of(attempt: Callable[[], Any]) -> str:
    try:
        attempt()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"
