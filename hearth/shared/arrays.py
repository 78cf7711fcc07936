"""Sort and number the values of numpy arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]


def combined(first: Int64s, second: npt.NDArray[np.integer]) -> Int64s:
    """Return one number per row. Sorting by these numbers sorts by `first` and then by `second`.

    second: numbers from 0. Sorting by one array that is almost in order takes a tenth of the time
    of sorting by two.
    """
    return np.asarray(first * (int(second.max(initial=0)) + 1) + second)


def sorted_once(numbers: Int64s) -> Int64s:
    """Return the numbers ascending, without repetition.

    np.unique of numpy 2.4 takes up to fifty times as long if most numbers differ.
    """
    numbers = np.sort(numbers)
    first = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers[first]


def numbered(values: Int64s) -> tuple[Int64s, Int64s]:
    """Return the distinct values [k] ascending, and for each value its index among them [n].

    The result is that of np.unique with `return_inverse`. Values that lie close together, such as
    primary keys or labels, are not sorted, but marked in an array that covers their range.
    """
    lowest = int(values.min()) if len(values) else 0
    width = int(values.max(initial=lowest)) - lowest + 1
    if width > 4 * len(values):
        distinct = sorted_once(values)
        return distinct, np.searchsorted(distinct, values)
    offsets = values - lowest
    occurs = np.zeros(width, np.bool_)
    occurs[offsets] = True
    return np.flatnonzero(occurs) + lowest, (np.cumsum(occurs) - 1)[offsets]
