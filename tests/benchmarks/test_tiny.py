"""Run each benchmark on a tiny input, so that a broken one is noticed.

Times are ignored: a program that only exceeds a limit passes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
TINY = {
    "commands": "--sqlite --tiny",
    "demo_noise": "--draws 2",
    "desk": "--sqlite --tiny",
    "estimates": "--tiny",
    "exports": "--sqlite --tiny",
    "first_frame": "--tiny",
    "focus": "--tiny",
    "fusion": "--tiny",
    "judging": "--sqlite --tiny",
    "label_noise": "--draws 2",
    "lists": "--tiny",
    "memory": "--sqlite --tiny",
    "moments": "--tiny",
    "moving": "--tiny",
    "pages": "--sqlite --tiny --requests 1",
    "proxies": "--tiny",
    "relevant_pairs": "--tiny",
    "replay": "--tiny",
    "resampling": "--tiny",
    "scale": "--tiny",
    "scoring": "--tiny",
    "strata": "--tiny",
}
# The program that compares two checkouts. The test has no second checkout.
NEEDS_A_CHECKOUT = {"judging_pairs"}
# Keys whose values must be empty or zero, if a program reports them.
WRONG = ("failures", "differences", "errors", "judged_twice")


def test_every_program_has_tiny_options() -> None:
    # A module `…_world` prepares data in a process that a program starts.
    files = set(FOLDER.glob("*.py")) - {Path(__file__), *FOLDER.glob("*_world.py")}
    programs = {path.stem for path in files if 'if __name__ == "__main__"' in path.read_text()}
    assert programs == set(TINY) | NEEDS_A_CHECKOUT


@pytest.mark.parametrize("name", TINY)
def test_a_benchmark_runs_on_a_tiny_input(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"tests.benchmarks.{name}", *TINY[name].split(), "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    # The exit code is also 1 for a missed limit. A program that fails prints no result.
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert {key: result[key] for key in WRONG if result.get(key)} == {}
