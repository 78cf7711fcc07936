"""How tests are run: parts at the same time, and rows of earlier tests reused."""

from __future__ import annotations

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
