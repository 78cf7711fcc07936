"""The short form of each drill. `python -m tests.faults --long` runs the long one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.__main__ import DRILLS

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.slow
@pytest.mark.parametrize("name", DRILLS)
def test_a_drill_loses_and_doubles_nothing(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", name, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr[-4000:]
    rows = json.loads(done.stdout)["rows"]
    assert [(row["lost"], row["doubled"]) for row in rows] == [(0, 0)] * len(rows), rows
    assert done.returncode == 0, rows
