"""The distribution of a proxy's values, counted exactly.

A value is float16 and from 0 to 1, so it is one of 15,361 numbers. The count of each number is
enough for the mean, all bins and all thresholds.
"""

from __future__ import annotations

from typing import Final, TypedDict

import numpy as np

from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Int64s
from pooling.core.proxies.word_sets import Matrix

N_BINS: Final = 20
THRESHOLDS: Final = tuple(step / 10 for step in range(1, 11))

_BLOCK_CELLS: Final = 4 << 20
_SIGN: Final = 0x8000
# The bits of the float16 number 1. Numbers from 0 to 1 have the same order as their bits.
_ONE: Final = 0x3C00


class Distribution(TypedDict):
    """The distribution as it is stored with a proxy.

    bins: the number of pairs in each of 20 bins of equal width; the last one contains 1. at_least:
    the number of pairs at or above each threshold from 0.1 to 1.
    """

    mean: float
    zeros: int
    bins: list[int]
    at_least: list[int]


def as_stored(threshold: float) -> np.float16:
    """Return a threshold rounded to float16, as values are stored.

    0.8 is stored as 0.7998, so values must be compared with that number.
    """
    return np.float16(threshold)


def distribution_of(values: Matrix, progress: Progress = no_progress) -> Distribution:
    """Return the distribution of a matrix of float16 with values from 0 to 1."""
    counts = np.zeros(_ONE + 1, np.int64)
    step = max(1, _BLOCK_CELLS // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        progress(start, len(values), "counting values")
        rows = np.ascontiguousarray(values[start : start + step], dtype=np.float16)
        bits = rows.view(np.uint16).ravel() & np.uint16(_SIGN - 1)  # -0 is 0
        counts += np.bincount(bits, minlength=_ONE + 1)
    numbers = np.arange(_ONE + 1, dtype=np.uint16).view(np.float16).astype(np.float64)
    from_each = np.concatenate([np.cumsum(counts[::-1])[::-1], [0]])
    edges = np.array([_place(bin_ / N_BINS) for bin_ in range(N_BINS)] + [_ONE + 1])
    return {
        "mean": float(counts @ numbers / max(1, counts.sum())),
        "zeros": int(counts[0]),
        "bins": _ints(from_each[edges[:-1]] - from_each[edges[1:]]),
        "at_least": _ints(from_each[[_place(threshold) for threshold in THRESHOLDS]]),
    }


def _place(threshold: float) -> int:
    """Return the place of a threshold among the numbers from 0 to 1: its bits as an integer."""
    return int(as_stored(threshold).view(np.uint16))


def _ints(numbers: Int64s) -> list[int]:
    return [int(number) for number in numbers]


def highest_and_lowest(values: Matrix, count: int) -> tuple[Int64s, Int64s]:
    """Return the places of the `count` highest values, and of the `count` lowest values.

    values: [n]. The highest values are in descending order, and the lowest in ascending order.
    Equal values are in the order of their places. No place is in both results.
    """
    order = np.argsort(-values.astype(np.float64), kind="stable")
    highest = order[:count]
    rest = order[count:]
    lowest = rest[np.lexsort((rest, values[rest]))][:count]
    return highest, lowest
