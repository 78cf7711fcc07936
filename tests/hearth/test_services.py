"""The servers and the browser of the tests."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.services import ensure_chromium


@pytest.mark.skipif(sys.platform != "linux", reason="real-time priorities of Linux")
def test_started_programs_get_no_real_time_priority() -> None:
    ensure_chromium()
    ask = "import os; os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    assert (done.returncode, "PermissionError" in done.stderr) == (1, True)
