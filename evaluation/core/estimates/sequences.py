"""Intervals that hold at any time while people judge.

Shares: the prior-posterior ratio (Waudby-Smith and Ramdas 2020), exact for draws without
replacement and any stopping rule. The prior of the number K of correct captions among U is uniform.
After n draws with x correct, K is kept if

    binom(K, x) binom(U - K, n - x) / binom(U, n) > alpha / (n + 1)

Means: a time-uniform normal interval, approximate, with two added values.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray
from evaluation.core.estimates.means import weight_of_machine
from evaluation.core.estimates.shares import Interval, effective_size


class Kept(NamedTuple):
    """The smallest and the largest kept number of correct captions."""

    low: int
    high: int


def log_chance(
    correct: npt.ArrayLike, population: int, n: npt.ArrayLike, x: npt.ArrayLike
) -> FloatArray:
    """Return the logarithm of the hypergeometric probability of x correct among n draws."""
    from scipy.special import gammaln  # type: ignore[import-untyped]  # slow to import

    def log_choose(top: FloatArray, part: FloatArray) -> FloatArray:
        inside = (part >= 0) & (part <= top)
        top, part = np.where(inside, top, 0), np.where(inside, part, 0)
        value = gammaln(top + 1) - gammaln(part + 1) - gammaln(top - part + 1)
        return np.where(inside, value, -np.inf)

    k, drawn, hits = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (correct, n, x)))
    return np.asarray(
        log_choose(k, hits)
        + log_choose(population - k, drawn - hits)
        - log_choose(np.full_like(drawn, population), drawn)
    )


def is_kept(
    correct: npt.ArrayLike, population: int, n: npt.ArrayLike, x: npt.ArrayLike, alpha: float = 0.05
) -> BoolArray:
    """Return whether the interval after n draws with x correct contains a number K."""
    limit = np.log(alpha) - np.log(np.asarray(n, np.float64) + 1)
    return np.asarray(log_chance(correct, population, n, x) > limit)


def share_sequence(population: int, n: int, x: int, alpha: float = 0.05) -> Kept:
    """Return the numbers of correct captions among the population after n draws."""
    numbers = np.arange(x, population - n + x + 1)
    kept = numbers[is_kept(numbers, population, n, x, alpha)]
    return Kept(int(kept[0]), int(kept[-1]))


def z_of_sequence(
    n: npt.ArrayLike, population: float, planned: int, alpha: float = 0.05
) -> FloatArray:
    """Return z_n, the quantile for which normal intervals hold at all n together.

    planned: the number of captions for which the interval is as narrow as possible.
    """
    log = -2 * math.log(alpha)
    rate = (log + math.log(log) + 1) / planned
    time = effective_size(n, population) * rate
    return np.asarray(np.sqrt(2 * (1 + 1 / time) * np.log(np.sqrt(time + 1) / alpha)))


def mean_sequence(
    m: FloatArray,
    f: FloatArray,
    mean_f: float,
    population: int,
    planned: int,
    alpha: float = 0.05,
) -> Interval:
    """Return the mean of all captions after n draws, float64 [..., n] in m and f.

    One value 1 and one value -1 are added to the n differences m - lam f.
    """
    lam = weight_of_machine(m, f)
    rest = m - lam[..., None] * f
    n = m.shape[-1]
    mean = rest.sum(axis=-1) / (n + 2)
    variance = ((rest**2).sum(axis=-1) + 2 - (n + 2) * mean**2) / (n + 1)
    z = z_of_sequence(n, population, planned, alpha)
    half = z * np.sqrt(variance * (1 - n / population) / (n + 2))
    value = lam * mean_f + mean
    return Interval(value, value - half, value + half)
