"""Equality of scores except for rounding errors.

The order of addition changes the last digits of a sum, about 1e-16 of its size. Two scores that
differ by less than 1e-9 therefore count as equal. The smallest true difference is far larger: with
100,000 queries, two different means of C@k differ by 1e-5 or more.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray

ROUNDING: Final = 1e-9


def signs_of(differences: npt.ArrayLike) -> IntArray:
    """Return the sign of each difference, int64 of the same shape. Rounding errors count as 0."""
    array = np.asarray(differences, dtype=np.float64)
    return (array > ROUNDING).astype(np.int64) - (array < -ROUNDING)


def merge_ties(values: npt.ArrayLike) -> FloatArray:
    """Return the values [n]. Values that differ only by rounding errors are made equal."""
    array = np.asarray(values, dtype=np.float64)
    distinct, place = np.unique(array, return_inverse=True)
    if len(distinct) == 0:
        return array
    starts = np.concatenate([[True], np.diff(distinct) > ROUNDING])
    return np.asarray(distinct[starts][np.cumsum(starts)[place.reshape(-1)] - 1])


def rank_systems(means: FloatArray) -> IntArray:
    """Return the rank of each system in each column, int64 of the same shape; 1 is the best.

    means: float64 [n_systems, …], higher is better. Equal systems share the better rank, for
    example 1, 2, 2, 4.
    """
    better = [np.count_nonzero(means > mean + ROUNDING, axis=0) for mean in means]
    return np.stack(better).astype(np.int64) + 1
