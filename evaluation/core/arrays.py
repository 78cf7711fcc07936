"""Array types of the core, checks of integer arguments, and renumbering without gaps."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hearth.shared.arrays import numbered

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
GainArray: TypeAlias = npt.NDArray[np.int8]


def whole_numbers(values: npt.ArrayLike, name: str, highest: int | None) -> IntArray:
    """Return `values` as a one-dimensional int64 array.

    name: the name of the values in error messages. highest: the largest allowed value; None for no
    upper bound. Raises ValueError if `values` is not one-dimensional, or if a value is not an
    integer from 0 to `highest`. A boolean is not an integer here.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name}: not one-dimensional")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name}: {array.dtype} instead of whole numbers")
    if array.min() < 0 or (highest is not None and array.max() > highest):
        limit = "negative" if highest is None else f"outside of 0 to {highest}"
        raise ValueError(f"{name}: a number is {limit}")
    return array.astype(np.int64, copy=False)


def renumber(values: IntArray) -> IntArray:
    """Return the place of each value among the distinct values, from 0, int64 [n].

    values: int64 [n]. The result has no gaps: 5, 9, 5, 7 becomes 0, 2, 0, 1.
    """
    return numbered(values)[1]


def dense_groups(groups: npt.ArrayLike, n_queries: int, name: str = "clusters") -> IntArray:
    """Renumber the groups of the queries as 0, 1, 2 … without gaps, int64 [n_queries].

    groups: whole numbers [n_queries], the group of each query. name: the name of the groups in
    error messages. Raises ValueError unless there is one whole number for each query.
    """
    numbers = whole_numbers(groups, name, None)
    if len(numbers) != n_queries:
        raise ValueError(f"{len(numbers)} {name} for {n_queries} queries")
    return renumber(numbers)
