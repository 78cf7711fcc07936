"""The difference of two systems' C@k from strata of undecided captions.

Captions are undecided for the first system only (A), for the second only (B), or for both. All
others count as they are. In A and B the difference is a share, with Wilson's interval. In AB it is
that of two paired shares, by method 10 of Newcombe (1998). The intervals are joined by adding their
squares (MOVER; Zou and Donner 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.estimates.shares import Interval, allot, wilson
from evaluation.core.estimates.values import Z

_WEIGHTS = np.sqrt([0.2, 0.2, 0.3])


class Sides(NamedTuple):
    """A difference and its distances to the lower and the upper end."""

    value: FloatArray
    down: FloatArray
    up: FloatArray


@dataclass(frozen=True, slots=True)
class Stratum:
    """Captions that are undecided for one system, of which the other's result is known.

    x: [...], the number of the n drawn captions on which the undecided system is correct. known:
    the number of all captions of the stratum on which the other system is correct.
    """

    size: int
    n: int
    x: npt.ArrayLike
    known: int


@dataclass(frozen=True, slots=True)
class BothStratum:
    """Captions undecided for both. cells: [..., 4], both correct, only first, only second, none."""

    size: int
    n: int
    cells: npt.ArrayLike


def allocate(sizes: npt.ArrayLike, n: int) -> IntArray:
    """Divide n captions among the strata A, B and AB, int64 [3]. It is fixed before the draw."""
    size = np.asarray(sizes, np.int64)
    return allot(np.asarray(size * _WEIGHTS, np.float64), size, min(n, int(size.sum())))


def paired(cells: npt.ArrayLike, n: int, population: float, z: float = Z) -> Sides:
    """Return the difference of two paired shares by Newcombe's method 10. cells: [..., 4]."""
    both, only_a, only_b, none = np.moveaxis(np.asarray(cells, np.float64), -1, 0)
    first = wilson(both + only_a, n, population, z)
    second = wilson(both + only_b, n, population, z)
    top = both * none - only_a * only_b
    top = np.where(top > 0, np.maximum(top - n / 2, 0), top)
    root = np.sqrt((both + only_a) * (only_b + none) * (both + only_b) * (only_a + none))
    phi = np.where(root > 0, top / np.where(root > 0, root, 1), 0)

    def distance(own: FloatArray, other: FloatArray) -> FloatArray:
        return np.sqrt(np.maximum(own**2 - 2 * phi * own * other + other**2, 0))

    return Sides(
        first.value - second.value,
        distance(first.value - first.low, second.high - second.value),
        distance(first.high - first.value, second.value - second.low),
    )


def compare_strata(
    base: int,
    n_all: int,
    a: Stratum | None = None,
    b: Stratum | None = None,
    both: BothStratum | None = None,
    z: float = Z,
) -> Interval:
    """Return C of the first minus C of the second system, with its interval.

    base: the sum of the differences over the captions that are decided for both systems.
    """
    parts: list[tuple[int, Sides]] = []
    if a is not None and a.size:
        parts.append((a.size, _one(a, z)))
    if b is not None and b.size:
        found = _one(b, z)
        parts.append((b.size, Sides(-found.value, found.up, found.down)))
    if both is not None and both.size:
        parts.append((both.size, paired(both.cells, both.n, both.size, z)))
    value = np.asarray(base / n_all + sum(size / n_all * side.value for size, side in parts))
    down = np.asarray(sum((size / n_all * side.down) ** 2 for size, side in parts))
    up = np.asarray(sum((size / n_all * side.up) ** 2 for size, side in parts))
    return Interval(value, value - np.sqrt(down), value + np.sqrt(up))


def _one(stratum: Stratum, z: float) -> Sides:
    share = wilson(stratum.x, stratum.n, stratum.size, z)
    known = stratum.known / stratum.size
    return Sides(share.value - known, share.value - share.low, share.high - share.value)
