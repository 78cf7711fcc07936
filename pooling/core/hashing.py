"""Reproducible selections by a seeded hash, such as a sample of captions.

The streams of numpy's generators may change between versions. This hash never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Bools, Int64s, UInt64s

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_TOP_BITS = 16
_REST_BITS = 64 - _TOP_BITS

Parts = Callable[[], Iterable[Int64s]]
"""A function that returns the codes in parts. It is called once for each pass."""


def mix(codes: Int64s | UInt64s, seed: int) -> UInt64s:
    """Return the hash of each code under a seed, uint64 [n].

    The hash is output number `code`, counted from 0, of SplitMix64 started at `seed`: Steele, Lea &
    Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, with the finaliser
    constants of Vigna's splitmix64.c. It is a bijection for each seed, so codes never collide.
    Seeds that are equal modulo 2**64 have the same hashes.
    """
    with np.errstate(over="ignore"):  # the arithmetic is modulo 2**64
        z = (codes.astype(np.uint64) + np.uint64(1)) * np.uint64(_GOLDEN)
        z += np.uint64(seed & _MASK)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def lowest(codes: Int64s | UInt64s, count: int, seed: int) -> Bools:
    """Select the `count` codes with the smallest hashes. Return flags, bool [n].

    The codes must be distinct. The selection depends on the set of codes and on the seed, not on
    the order of the codes. Raises `ValueError` if there are fewer than `count` codes.
    """
    if not 0 <= count <= len(codes):
        raise ValueError(f"cannot select {count} of {len(codes)} codes")
    selected: npt.NDArray[np.bool_] = np.zeros(len(codes), dtype=np.bool_)
    if count:
        selected[np.argpartition(mix(codes, seed), count - 1)[:count]] = True
    return selected


def limit_of_lowest(parts: Parts, count: int, seed: int) -> int | None:
    """Return the `count`-th smallest hash of distinct codes, or None if `count` is 0.

    The codes with a hash up to the limit are those that `lowest` selects. Memory depends only on
    the largest part. Raises `ValueError` if there are fewer than `count` codes.
    """
    if not count:
        return None
    sizes = np.zeros(1 << _TOP_BITS, np.int64)
    for codes in parts():
        sizes += np.bincount(_top(mix(codes, seed)), minlength=len(sizes))
    ends = np.cumsum(sizes)
    if not 0 < count <= ends[-1]:
        raise ValueError(f"cannot select {count} of {ends[-1]} codes")
    # The limit is one of the hashes that begin with these bits.
    top = int(np.searchsorted(ends, count))
    hashes = (mix(codes, seed) for codes in parts())
    candidates = np.concatenate([part[_top(part) == top] for part in hashes])
    return int(np.sort(candidates)[count - 1 - int(ends[top] - sizes[top])])


def _top(hashes: UInt64s) -> Int64s:
    return (hashes >> np.uint64(_REST_BITS)).astype(np.int64)
