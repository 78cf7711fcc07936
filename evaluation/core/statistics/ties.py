"""Equality of scores up to rounding noise.

A sum of the same numbers in another order differs in its last digits, about 1e-16 of its size. Two
scores that differ by less than 1e-9 are therefore equal. The smallest true difference is far
larger: with 100,000 queries, means of C@k differ by 1e-5 or more.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray

ROUNDING: Final = 1e-9


def signs_of(differences: npt.ArrayLike) -> IntArray:
    """Return -1, 0 or 1 for each difference; rounding noise counts as 0. Same shape, int64."""
    array = np.asarray(differences, dtype=np.float64)
    return (array > ROUNDING).astype(np.int64) - (array < -ROUNDING)


def merge_ties(values: npt.ArrayLike) -> FloatArray:
    """Return the values [n]; values that differ only by rounding noise become equal."""
    array = np.asarray(values, dtype=np.float64)
    distinct, place = np.unique(array, return_inverse=True)
    if len(distinct) == 0:
        return array
    starts = np.concatenate([[True], np.diff(distinct) > ROUNDING])
    return np.asarray(distinct[starts][np.cumsum(starts)[place.reshape(-1)] - 1])


def rank_systems(means: FloatArray) -> IntArray:
    """Return ranks from 1, the highest mean, within each column: int64 like means [n_systems, …].

    Equal systems share the better rank: 1, 2, 2, 4.
    """
    better = [np.count_nonzero(means > mean + ROUNDING, axis=0) for mean in means]
    return np.stack(better).astype(np.int64) + 1
