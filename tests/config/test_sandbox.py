"""A function in a sandbox can crash, hang or use too much. Then only its own call fails."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config.shared.errors import InvalidInput
from config.shared.sandbox import Limits, Sandbox

LIMITS = Limits(seconds=20, cpu_seconds=20, memory_mb=200, file_mb=1)
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel must be Linux")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox("tests.config.misbehaving:act") as one:
        yield one


def reason(sandbox: Sandbox, what: str, argument: Any = None, **limits: int) -> str:
    """Return why the call fails. The next call must work again."""
    with pytest.raises(InvalidInput) as caught:
        sandbox.call(replace(LIMITS, **limits), what=what, argument=argument)
    assert sandbox.call(LIMITS, what="echo", argument=1) == 1
    assert (caught.value.source, caught.value.line) == (None, None)
    return caught.value.reason


def test_values_and_errors_of_the_function_reach_the_caller(sandbox: Sandbox) -> None:
    value = {"text": "grün\n", "number": 1.5, "list": [None, True]}

    assert sandbox.call(LIMITS, what="echo", argument=value) == value
    assert sandbox.call(LIMITS, what="print", argument='{"value": "forged"}') == "printed"
    assert reason(sandbox, "refuse", "the file is empty") == "the file is empty"
    with pytest.raises(FileNotFoundError) as caught:
        sandbox.call(LIMITS, what="read", argument="/missing")
    assert caught.value.filename == "/missing"


def test_each_call_has_a_separate_process(sandbox: Sandbox) -> None:
    (first, server), (second, same) = (sandbox.call(LIMITS, what="process") for _ in range(2))

    assert first != second
    assert server == same != os.getpid()


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("crash", "the process crashed (SIGSEGV)"),
        ("kill", "the process crashed (SIGKILL)"),
        ("kill_server", "the process was killed"),
        ("lambda", "the process failed"),
    ],
)
def test_a_crash_ends_only_the_call(sandbox: Sandbox, what: str, expected: str) -> None:
    assert reason(sandbox, what) == expected


def test_a_call_that_hangs_is_ended(sandbox: Sandbox) -> None:
    began = time.monotonic()

    text = "processing was stopped, because it takes longer than 1 second"
    assert reason(sandbox, "sleep", seconds=1) == text
    assert reason(sandbox, "spin", cpu_seconds=1) == text
    assert time.monotonic() - began < 60  # as long as the first call would sleep


@only_linux
def test_a_call_gets_no_more_memory_than_its_limit(sandbox: Sandbox) -> None:
    assert sandbox.call(LIMITS, what="allocate", argument=100) == 100 << 20
    assert reason(sandbox, "allocate", 300) == "processing needs more than 200 MB of memory"


def test_a_call_writes_no_file_beyond_its_limit(sandbox: Sandbox, tmp_path: Path) -> None:
    file = tmp_path / "large"

    text = "the converted file would be larger than 1 MB"
    assert reason(sandbox, "write", str(file)) == text
    assert file.stat().st_size == 1 << 20


@only_linux
def test_a_call_can_neither_connect_nor_start_programs(sandbox: Sandbox) -> None:
    assert sandbox.is_isolated()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        with pytest.raises(PermissionError):
            sandbox.call(LIMITS, what="connect", argument=listener.getsockname()[1])
        with pytest.raises(BlockingIOError):
            listener.accept()
    with pytest.raises(PermissionError):
        sandbox.call(LIMITS, what="start")


def test_a_call_does_not_see_the_secrets_of_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_KEY", "canary")
    with Sandbox("tests.config.misbehaving:act") as sandbox:
        names = sandbox.call(LIMITS, what="environment")

    assert "SECRET_KEY" not in names
    assert "PATH" in names


def test_closing_ends_the_process_and_its_child() -> None:
    sandbox = Sandbox("tests.config.misbehaving:act")
    _, server = sandbox.call(LIMITS, what="process")

    sandbox.close()

    with suppress(ProcessLookupError):
        os.kill(server, 0)
        pytest.fail("the process still runs")


def test_a_function_that_does_not_exist_is_an_error_of_the_program() -> None:
    with (
        Sandbox("tests.config.misbehaving:missing") as sandbox,
        pytest.raises(RuntimeError, match="did not start"),
    ):
        sandbox.call(LIMITS)
