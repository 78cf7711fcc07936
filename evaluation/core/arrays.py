"""Array types of the core, and the check of whole numbers that come from outside."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
GainArray: TypeAlias = npt.NDArray[np.int8]


def whole_numbers(values: npt.ArrayLike, what: str, highest: int | None) -> IntArray:
    """One-dimensional int64 array of `values`, each from 0 to `highest` (None: no bound above).

    Raises ValueError, which names `what`, for anything else; booleans are no numbers.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{what}: not one-dimensional")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{what}: {array.dtype} in place of whole numbers")
    if array.min() < 0 or (highest is not None and array.max() > highest):
        limit = "negative" if highest is None else f"outside of 0 to {highest}"
        raise ValueError(f"{what}: a number is {limit}")
    return array.astype(np.int64, copy=False)
