"""The short form of the drills and of the soak. `make faults` and `make soak` run the long one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.__main__ import DRILLS

ROOT = Path(__file__).resolve().parent.parent.parent
SOAK = "tests.faults.soak --people 5 --think 0.5 --seconds 6 --json"


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


@pytest.mark.slow
def test_a_short_soak_has_no_errors() -> None:
    """The exit code is ignored: in a few seconds, each process still grows."""
    done = subprocess.run(
        [sys.executable, "-m", *SOAK.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert (found["errors"], found["doubled"], found["imports"]) == ([], 0, 1)
    assert found["acknowledged"] == found["stored"] > 0
    assert {"api-claim", "api-judgments"} <= {view["name"] for view in found["views"]}
    processes = {f"{name}, process 1" for name in ("gunicorn", "worker")}
    assert processes <= {one["process"] for one in found["memory"]}
