"""Functions that behave in a sandbox like a decoder that has read a malicious file."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from config.shared.errors import InvalidInput


def act(what: str, argument: Any = None) -> Any:
    return globals()[f"_{what}"](argument)


def prepare(source: str, **paths: str) -> Any:
    """Prepare a video. If its file has the name of a function here, call that function instead."""
    what = Path(source).stem
    if f"_{what}" in globals():
        return act(what, 1 << 14 if what == "allocate" else None)
    from pooling.media.preparing import prepare

    return prepare(source, **paths)


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


def _kill(_: None) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _kill_server(_: None) -> None:
    os.kill(os.getppid(), signal.SIGKILL)


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
