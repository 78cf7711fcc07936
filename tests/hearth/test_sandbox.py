"""A function in a sandbox can crash, hang or use too much. Then only its own call fails."""

from __future__ import annotations

import ast
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hearth.shared.errors import InvalidInput
from hearth.shared.sandbox import ROOT, Access, Isolation, Limits, Sandbox
from hearth.shared.sandbox.landlock import version

LIMITS = Limits(seconds=20, cpu_seconds=20, memory_mb=200, file_mb=1)
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel must be Linux")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox("tests.hearth.misbehaving:act") as one:
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
        ("lambda", "the process failed"),
    ],
)
def test_a_crash_ends_only_the_call(sandbox: Sandbox, what: str, expected: str) -> None:
    assert reason(sandbox, what) == expected


def test_after_the_server_was_killed_the_next_call_starts_it_again(sandbox: Sandbox) -> None:
    _, server = sandbox.call(LIMITS, what="process")
    os.kill(server, signal.SIGKILL)
    assert reason(sandbox, "echo") == "the process was killed"


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

    with pytest.raises(InvalidInput, match="the converted file would be larger than 1 MB"):
        sandbox.call(LIMITS, Access(writable=[str(tmp_path)]), what="write", argument=str(file))
    assert file.stat().st_size == 1 << 20


@only_linux
def test_a_call_can_neither_connect_nor_start_programs(sandbox: Sandbox) -> None:
    assert sandbox.isolation().filters_calls
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        with pytest.raises(PermissionError):
            sandbox.call(LIMITS, what="connect", argument=listener.getsockname()[1])
        with pytest.raises(BlockingIOError):
            listener.accept()
    with pytest.raises(PermissionError):
        sandbox.call(LIMITS, what="start")


@only_linux
def test_a_call_reaches_only_its_own_files(sandbox: Sandbox, tmp_path: Path) -> None:
    """Code in a decoder can neither read nor change other files, and not reach other processes."""
    own, others = tmp_path / "own", tmp_path / "others"
    own.mkdir()
    others.mkdir()
    secret, source = others / "hearth.sqlite3", others / "source.mp4"
    secret.write_bytes(b"labels")
    source.write_bytes(b"video")
    access = Access(readable=[str(source)], writable=[str(own)])
    places = {"secret": str(secret), "folder": str(others), "writable": str(own)}
    found = sandbox.call(LIMITS, access, what="reach", argument={"caller": os.getpid(), **places})

    assert sandbox.isolation() == Isolation(filters_calls=True, confines_files=version() > 0)
    of_processes = {
        *("signal the caller", "signal the server", "signal a thread", "queue a signal", "trace"),
        *("read memory", "write memory", "open the process", "limit the caller"),
    }
    assert {found[name] for name in of_processes} == {"EPERM"}
    if version():
        refused = {name: error for name, error in found.items() if name not in of_processes}
        # Moving and linking to another folder fail with EXDEV, as between two disks.
        assert set(refused.values()) <= {"EACCES", "EPERM", "EXDEV"}, refused
        assert secret.read_bytes() == b"labels"
        assert sorted(path.name for path in others.iterdir()) == [secret.name, source.name]

    def call(what: str, argument: Any) -> Any:
        return sandbox.call(LIMITS, access, what=what, argument=argument)

    assert call("read", str(source)) == "video"
    if version():
        with pytest.raises(PermissionError):
            call("write", str(source))
    assert call("print", "still works") == "printed"


@only_linux
def test_check_security_reports_a_kernel_without_landlock() -> None:
    """A filter refuses the call of Landlock, as a kernel that does not know it."""
    program = """
import ast
import os
from hearth.security.limits import sandboxed_decoders
from hearth.shared.sandbox.seccomp import refuse_calls
print(repr(sandboxed_decoders(None)))
assert refuse_calls({"landlock_create_ruleset": (444, 444)})
print(repr(sandboxed_decoders(None)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lacking = "The kernel does not confine files (Landlock), so decoders can read those of Hearth."
    assert done.stdout.splitlines() == [repr("" if version() else lacking), repr(lacking)]
    assert done.stderr.count("(no Landlock)") == (1 if version() else 2)


@only_linux
@pytest.mark.parametrize(
    "start",
    [
        "import config.celery, celery; celery.signals.worker_init.send(None)",
        "import config.celery, celery; celery.signals.beat_init.send(None)",
        "import runpy; runpy.run_path('deploy/gunicorn.conf.py')",
    ],
)
def test_workers_hide_their_memory_and_environment_from_other_processes(
    start: str, tmp_path: Path
) -> None:
    get_dumpable = "import ctypes; print('dumpable', ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    done = subprocess.run(
        [sys.executable, "-c", f"{get_dumpable}; {start}; {get_dumpable}"],
        cwd=ROOT,
        env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("dumpable")]
    assert lines == ["dumpable 1", "dumpable 0"]


def test_a_call_does_not_see_the_secrets_of_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_KEY", "canary")
    with Sandbox("tests.hearth.misbehaving:act") as sandbox:
        names = sandbox.call(LIMITS, what="environment")

    assert "SECRET_KEY" not in names
    assert "PATH" in names


def test_closing_ends_the_process_and_its_child() -> None:
    sandbox = Sandbox("tests.hearth.misbehaving:act")
    _, server = sandbox.call(LIMITS, what="process")

    sandbox.close()

    with suppress(ProcessLookupError):
        os.kill(server, 0)
        pytest.fail("the process still runs")


def test_a_function_that_does_not_exist_is_an_error_of_the_program() -> None:
    with (
        Sandbox("tests.hearth.misbehaving:missing") as sandbox,
        pytest.raises(RuntimeError, match="did not start"),
    ):
        sandbox.call(LIMITS)


def test_only_modules_of_sandboxes_use_a_decoder() -> None:
    """No other module imports PyAV, or a module that does, not even within a function.

    The demo draws its own videos.
    """
    imported: dict[str, set[str]] = {}
    for folder in ("config", "hearth", "pooling", "annotation", "evaluation"):
        for path in (ROOT / folder).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            nodes = list(ast.walk(ast.parse(path.read_text())))
            imported[name] = {
                one.name for node in nodes if isinstance(node, ast.Import) for one in node.names
            }
            for node in nodes:
                if isinstance(node, ast.ImportFrom):
                    of = node.module or ""
                    root = of.partition(".")[0]
                    imported[name] |= {root, of, *(f"{of}.{one.name}" for one in node.names)}
    users = {"av"}
    while more := {name for name, used in imported.items() if used & users} - users:
        users |= more
    places = ("pooling.media.", "annotation.media.", "pooling.scenes.reading")
    places += ("evaluation.demo.", "evaluation.management.commands.demo")
    assert {name for name in users - {"av"} if not name.startswith(places)} == set()
    assert "pooling.scenes.reading" in users
