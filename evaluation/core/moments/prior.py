"""The prior of moments: where in a video they are most often, whatever the caption says."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np

from evaluation.core.arrays import FloatArray

PARTS: Final = 10
DEPTH: Final = 5


def frequent_windows(starts: FloatArray, ends: FloatArray) -> FloatArray:
    """Return the most frequent windows as shares of the video, float64 [n, 2], n <= DEPTH.

    starts, ends: float64 [n], shares of the video. They are rounded to tenths. Of equally frequent
    windows, the one that begins and ends first comes first.
    """
    first = np.clip(np.round(starts * PARTS), 0, PARTS - 1).astype(np.int64)
    last = np.clip(np.round(ends * PARTS), first + 1, PARTS).astype(np.int64)
    counts = Counter(zip(first.tolist(), last.tolist(), strict=True))
    ordered = sorted(counts, key=lambda window: (-counts[window], window))
    return np.array(ordered[:DEPTH], np.float64).reshape(-1, 2) / PARTS


def group_of(shares: FloatArray, bounds: tuple[float, ...]) -> np.ndarray:
    """Return the group of each share, int64 [n]: the number of bounds that it reaches."""
    return np.searchsorted(np.array(bounds), shares, side="right")
