"""Sorting numpy arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]


def sorted_once(numbers: Int64s) -> Int64s:
    """Return the numbers ascending, without repetition.

    np.unique of numpy 2.4 takes up to fifty times as long if most numbers differ.
    """
    numbers = np.sort(numbers)
    first = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers[first]
