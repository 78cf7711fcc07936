"""The highest and the lowest values of one caption or one video."""

from __future__ import annotations

import numpy as np

from pooling.core.arrays import Int64s
from pooling.core.proxies.word_sets import Matrix


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
