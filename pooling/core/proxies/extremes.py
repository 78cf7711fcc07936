"""The highest and the lowest values of one caption or one video."""

from __future__ import annotations

import numpy as np

from pooling.core.arrays import Int64s
from pooling.core.proxies.word_sets import Matrix


def highest_and_lowest(values: Matrix, count: int) -> tuple[Int64s, Int64s]:
    """Return the places of the `count` highest values, best first, and of the lowest, worst first.

    values: [n]. Equal values are in the order of their places. No place is in both.
    """
    order = np.argsort(-values.astype(np.float64), kind="stable")
    highest = order[:count]
    rest = order[count:]
    lowest = rest[np.lexsort((rest, values[rest]))][:count]
    return highest, lowest
