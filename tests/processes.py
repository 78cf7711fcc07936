"""Other processes of this machine, read from /proc."""

from __future__ import annotations

import os
from pathlib import Path

PAGE_MB = os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def children_of(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(one) for thread in threads for one in (thread / "children").read_text().split()]


def memory_of(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_MB
