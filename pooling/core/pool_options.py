"""The options of a pool, and the pairs that a budget selects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pooling.core.arrays import Bools, Int32s, Int64s
from pooling.core.hashing import lowest, mix
from pooling.core.pair_space import PairSpace
from pooling.core.pool import NOT_RANKED, new_codes, union_codes

RANKED, ADDED, LEFT_OUT = "ranked", "added", "left-out"
"""What a pool does with original positives. `pooling.enums.Originals` describes the values."""
SIMILARITY = 0.5
PROXY_FROM = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """What a pool contains: the top `depth` of the named runs, or of all runs if none is named.

    sample, video_sample: numbers of captions and of videos that the pool is limited to, drawn by
    the seed; None for all. originals: what happens to original positives. similar: the number of
    similar texts whose original positives become candidates, None for none; similar_from: their
    lowest similarity. proxy: the name of the proxy whose pairs with a value of at least
    `proxy_from` become candidates, empty for none. budget: the maximum number of new pairs, None
    for all.
    """

    depth: int
    runs: Sequence[str] = ()
    sample: int | None = None
    video_sample: int | None = None
    seed: int = 0
    originals: str = RANKED
    similar: int | None = None
    similar_from: float = SIMILARITY
    proxy: str = ""
    proxy_from: float = PROXY_FROM
    budget: int | None = None

    @property
    def needs_runs(self) -> bool:
        return self.originals != ADDED and self.similar is None and not self.proxy

    @property
    def is_plain_top(self) -> bool:
        """Whether the pool is just the top `depth` of its runs, without other options."""
        return self == PoolOptions(depth=self.depth, runs=self.runs, seed=self.seed)

    @classmethod
    def of(cls, values: dict[str, Any]) -> PoolOptions:
        """Return the options in `values`. Other keys are ignored. Missing options have defaults."""
        return cls(**{name: values[name] for name in cls.__dataclass_fields__ if name in values})

    def values(self) -> dict[str, Any]:
        return asdict(self)


def drawn_numbers(count: int, size: int | None, seed: int) -> Bools:
    """Return which of the numbers 0..count-1 are in a sample; all of them if `size` is None."""
    if size is None:
        return np.ones(count, dtype=np.bool_)
    return lowest(np.arange(count), size, seed)


def is_drawn(codes: Int64s, space: PairSpace, options: PoolOptions) -> Bools:
    """Return which pairs have a caption and a video in the samples, bool [n].

    The sample of videos is drawn with the seed plus 1, so that it is independent of the captions.
    """
    queries, videos = space.decode(codes)
    captions = drawn_numbers(space.n_queries, options.sample, options.seed)
    others = drawn_numbers(space.n_videos, options.video_sample, options.seed + 1)
    drawn: Bools = captions[queries] & others[videos]
    return drawn


def in_or_out(codes: Int64s, originals: Int64s, rule: str) -> Int64s:
    """Add the original positives to the pairs, remove them, or leave the pairs as they are."""
    if rule == ADDED:
        return union_codes([codes, originals])
    return new_codes(codes, originals) if rule == LEFT_OUT else codes


class Priority:
    """The values that determine the priority of each pair.

    codes: int64 [n], ascending. n_systems: int32 [n], the number of systems that rank the pair.
    best: int32 [n], its best rank, `NOT_RANKED` if no run ranks it. values: float32 [n], its value
    in a proxy; 0 without a proxy.
    """

    def __init__(self, codes: Int64s) -> None:
        self.codes = codes
        self.n_systems = np.zeros(len(codes), dtype=np.int32)
        self.values = np.zeros(len(codes), dtype=np.float32)
        self.best = np.full(len(codes), NOT_RANKED, dtype=np.int32)

    def add_system(self, ranks: Sequence[Int32s]) -> None:
        """Add one system. ranks: for each of its runs, the ranks of the pairs, int32 [n]."""
        best = np.minimum.reduce(ranks)
        self.n_systems += best != NOT_RANKED
        self.best = np.minimum(self.best, best)

    def first(self, selected: Int64s, count: int, seed: int) -> Int64s:
        """Return the `count` pairs of `selected` with the highest priority, ascending codes.

        Pairs that more systems rank come first. Among pairs with equally many systems, a better
        rank decides, then a higher value, and last a hash of the pair and the seed, so that no
        caption or video is preferred.
        """
        at = np.searchsorted(self.codes, selected)
        order = np.lexsort(
            (mix(selected, seed), -self.values[at], self.best[at], -self.n_systems[at])
        )
        return np.sort(selected[order[:count]])
