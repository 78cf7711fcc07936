"""Choices that anybody can repeat: which tenth is judged twice, which captions are sampled.

numpy's generators may change their streams between versions; this hash is fixed for ever.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Bools, Int64s, UInt64s

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def mix(codes: Int64s | UInt64s, seed: int) -> UInt64s:
    """uint64 [n]: hash of each code under a seed, `seed` counting modulo 2**64.

    It is output number `code` (from 0) of SplitMix64 started at `seed`: Steele, Lea & Flood, "Fast
    splittable pseudorandom number generators", OOPSLA 2014, with the finaliser constants of
    Vigna's splitmix64.c. For one seed it is a bijection, so distinct codes never collide.
    """
    with np.errstate(over="ignore"):  # arithmetic is modulo 2**64 by design
        z = (codes.astype(np.uint64) + np.uint64(1)) * np.uint64(_GOLDEN)
        z += np.uint64(seed & _MASK)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def lowest(codes: Int64s | UInt64s, count: int, seed: int) -> Bools:
    """bool [n]: the `count` codes with the smallest hash; codes must be distinct.

    Which are chosen depends on the set of codes and the seed, not on their order. Raises
    ValueError if there are fewer than `count` codes.
    """
    if not 0 <= count <= len(codes):
        raise ValueError(f"{count} of {len(codes)} codes cannot be chosen")
    chosen: npt.NDArray[np.bool_] = np.zeros(len(codes), dtype=np.bool_)
    if count:
        chosen[np.argpartition(mix(codes, seed), count - 1)[:count]] = True
    return chosen
