"""Children and memory of processes."""

from __future__ import annotations

import os
import resource
from pathlib import Path

PAGE_MB = os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def children_of(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(one) for thread in threads for one in (thread / "children").read_text().split()]


def memory_of(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_MB


def peak_memory_of(usage: resource.struct_rusage) -> float:
    """Return the peak memory of a process in MB. Linux counts it in kB."""
    return usage.ru_maxrss / 1024


def peak_memory() -> float:
    """Return the peak memory of this process in MB."""
    return peak_memory_of(resource.getrusage(resource.RUSAGE_SELF))
