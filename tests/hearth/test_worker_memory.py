"""Worker processes have a memory limit, so that a bad file fails one job and not the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = """
from config.celery import prepare_worker
prepare_worker()
bytearray(50 << 20)
try:
    bytearray(300 << 20)
except MemoryError:
    print("limited")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces the limit")
@pytest.mark.parametrize(("limit", "printed"), [("100", "limited\n"), ("0", "")])
def test_a_job_beyond_the_limit_gets_no_memory(limit: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "WORKER_MEMORY_MB": limit,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
