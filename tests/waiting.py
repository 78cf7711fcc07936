"""Wait for states of other threads and processes. tests/e2e/waiting.py waits for those of pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# The limit is generous, because only a test that fails waits for so long.
SECONDS = 120


def wait_for(holds: Callable[[], Any], seconds: float = SECONDS) -> bool:
    """Call `holds` until it returns something true. Return False if the time limit comes first."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
