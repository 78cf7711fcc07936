"""Processes whose time and memory the benchmarks measure."""

from __future__ import annotations

import os
import resource
import runpy
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True)
class Done:
    """The exit code, the duration in seconds and the resource usage of a process that ended."""

    code: int
    seconds: float
    usage: resource.struct_rusage


def run_program(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    out: IO[Any],
    err: IO[Any] | None = None,
    fork: bool = False,
    root: Path = ROOT,
) -> Done:
    """Run Python with these words (`manage.py …` or `-m module …`) in a separate process.

    If `fork` is True, the process is a fork of this one, so that many programs on a tiny input
    import Django once. All of them must have the same environment.
    """
    began = time.perf_counter()
    if fork:
        _, status, usage = os.wait4(_fork(words, environment, out, err), 0)
        code = os.waitstatus_to_exitcode(status)
    else:
        process = subprocess.Popen(
            [sys.executable, *words], cwd=root, env=dict(environment), stdout=out, stderr=err
        )
        _, status, usage = os.wait4(process.pid, 0)
        code = process.returncode = os.waitstatus_to_exitcode(status)
    return Done(code, time.perf_counter() - began, usage)


def has_loaded() -> bool:
    """Return whether this process has loaded Django."""
    from django.apps import apps

    return apps.ready


def _fork(
    words: Sequence[str], environment: Mapping[str, str], out: IO[Any], err: IO[Any] | None
) -> int:
    import django

    os.environ.update(environment, DJANGO_SETTINGS_MODULE="config.settings")
    django.setup()
    from hearth.jobs.registry import load_tasks

    load_tasks()
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    os.dup2(out.fileno(), 1)
    os.dup2((err or sys.stderr).fileno(), 2)
    code: Any = 1
    try:
        _run(list(words))
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(words: list[str]) -> None:
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        runpy.run_path(str(ROOT / words[0]), run_name="__main__")
