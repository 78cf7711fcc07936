"""Short forms of the drills and of the soak. `make faults` and `make soak` run the long forms."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.faults.__main__ import DRILLS

ROOT = Path(__file__).resolve().parent.parent.parent
SOAK = "tests.faults.soak --people 5 --think 0.5 --seconds 6"


def result_of(*arguments: str) -> tuple[Any, int]:
    """Run a module, and return the object that it prints and its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr[-4000:]
    return json.loads(done.stdout), done.returncode


@pytest.mark.slow
@pytest.mark.timeout(2400)  # three minutes of processor time, which take longer on a busy machine
def test_nothing_is_lost_or_doubled_in_the_drills() -> None:
    """All drills run in one process, because they then share the server and its migration."""
    found, code = result_of("tests.faults")
    rows = found["rows"]
    assert [(row["lost"], row["doubled"]) for row in rows] == [(0, 0)] * len(DRILLS), rows
    assert code == 0, rows


@pytest.mark.slow
def test_a_short_soak_has_no_errors() -> None:
    """The exit code is ignored, because each process still grows in the first seconds."""
    found, _ = result_of(*SOAK.split())
    assert (found["errors"], found["doubled"], found["imports"]) == ([], 0, 1)
    assert found["acknowledged"] == found["stored"] > 0
    assert {"api-claim", "api-judgments"} <= {view["name"] for view in found["views"]}
    processes = {f"{name}, process 1" for name in ("gunicorn", "worker")}
    assert processes <= {one["process"] for one in found["memory"]}
