"""Array types of the core, and the check of integers that callers pass."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
GainArray: TypeAlias = npt.NDArray[np.int8]


def whole_numbers(values: npt.ArrayLike, name: str, highest: int | None) -> IntArray:
    """Return `values` as a one-dimensional int64 array.

    Each value must be an integer from 0 to `highest` (None: no upper bound), and not a boolean.
    Otherwise it raises ValueError, whose message begins with `name`.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name}: not one-dimensional")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name}: {array.dtype} in place of whole numbers")
    if array.min() < 0 or (highest is not None and array.max() > highest):
        limit = "negative" if highest is None else f"outside of 0 to {highest}"
        raise ValueError(f"{name}: a number is {limit}")
    return array.astype(np.int64, copy=False)
