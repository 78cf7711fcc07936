"""How tests are run: parts at once, rows of earlier tests reused, and no replaced globals."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.db import transaction

from pooling.models import Benchmark
from tests.conftest import ROOT
from tests.evaluation.worked import make_worked_benchmark
from tests.replay import all_rows, replayed

# A program that replaces make. The target `bad` fails. The targets `one` and `two` each wait until
# the other has started.
MAKE = """#!/bin/sh
for target; do case "$target" in
  one) echo "to two" > pipe ;;
  two) cat pipe ;;
  bad) echo "wrong" >&2; exit 2 ;;
esac; done
"""


def test_parts_run_at_the_same_time_and_the_run_fails_if_one_part_fails(tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text(MAKE)
    make.chmod(0o755)
    os.mkfifo(tmp_path / "pipe")

    def run(*parts: str) -> tuple[int, set[str]]:
        done = subprocess.run(
            [sys.executable, "-m", "tests.parts", make, *parts],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        return done.returncode, {line.partition(" after ")[0] for line in done.stdout.splitlines()}

    shown = {"First  | passed", "Second | to two", "Second | passed"}
    assert run("First=one", "Second=two") == (0, shown)
    shown = {*shown, "Other  | wrong", "Other  | failed"}
    assert run("First=one", "Second=two", "Other=bad") == (1, shown)


def test_replayed_rows_are_those_that_were_made(db: None, tmp_path: Path) -> None:
    def rows() -> dict[str, set[tuple[Any, ...]]]:
        return {table: set(found) for table, found in all_rows().items()}

    def begin_again() -> None:
        transaction.savepoint_rollback(empty)

    calls = []

    @replayed
    def make(folder: Path) -> Benchmark:
        calls.append(folder)
        return make_worked_benchmark(folder)

    empty = transaction.savepoint()
    made, first = make(tmp_path), rows()
    assert len(first["pooling_run"]) == 2
    begin_again()
    assert rows() != first
    assert (make(tmp_path), rows(), len(calls)) == (made, first, 1)
    # If another row has one of the primary keys, the function is called again.
    begin_again()
    Benchmark.objects.create(pk=made.pk, key="other", n_queries=1, n_videos=1)
    assert make(tmp_path).pk != made.pk
    assert len(calls) == 2


OURS = ("annotation", "config", "evaluation", "hearth", "hearth_client", "pooling", "tests")
# pytest itself replaces the standard streams in each test. The lock belongs to the broker's parent
# class, and only the broker uses it.
ALSO = {"sys.stdin", "sys.stderr", "filesystem.lock"}


def replaced_globals(path: Path) -> set[str]:
    """Return the attributes of other packages that the tests in a file replace."""
    tree = ast.parse(path.read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    foreign = {
        alias.asname or alias.name
        for node in imports
        for alias in node.names
        if not (getattr(node, "module", "") or "").startswith(OURS)
    }
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name(), "setattr" | "delattr"), [target, *rest]):
                name = ".".join(ast.unparse(one).strip("'") for one in (target, *rest[:-1]))
                root = name.split(".")[0]
                is_text = isinstance(target, ast.Constant)
                # An attribute of one of our modules can be a module of Python: `services.time`.
                is_inner = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
                is_module = is_inner and target.attr.islower()
                is_ours = name.startswith(OURS) if is_text else root not in foreign
                if not is_ours or (is_module and not name.rpartition(".")[2].isupper()):
                    found.add(name)
    return found


def test_no_test_replaces_a_global_of_another_package(tmp_path: Path) -> None:
    """The rest of the process would use it, too. Code takes its clock as a parameter instead."""
    bad = tmp_path / "test_bad.py"
    bad.write_text(
        "import os\nfrom hearth import jobs\n"
        "monkeypatch.setattr(os, 'fsync', None)\nmonkeypatch.setattr(jobs.time, 'sleep', None)\n"
        "monkeypatch.setattr('socket.socket', None)\nmonkeypatch.setattr(jobs, 'ROWS', 1)\n"
    )
    assert replaced_globals(bad) == {"os.fsync", "jobs.time.sleep", "socket.socket"}
    found = {
        f"{path.name}: {name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in replaced_globals(path) - ALSO
    }
    assert found == set()
