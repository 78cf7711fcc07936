"""The plan of a campaign: the order of its pairs, and which pairs get an extra label."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pooling.core.hashing import Parts, limit_of_lowest, mix
from pooling.core.pair_space import Integers, PairSpace

# The maximum number of pairs of one caption in a row. Annotators read the caption once for all of
# them. With more pairs in a row, earlier answers would influence later ones.
RUN_OF_ONE_CAPTION = 20
# This is larger than the number of blocks of any caption, so no two blocks have the same number.
BLOCKS_PER_QUERY = 1 << 20
# The default share of pairs with an extra label.
DOUBLE_SHARE = 0.10

Int64Array = npt.NDArray[np.int64]


def plan_positions(
    codes: Int64Array,
    space: PairSpace,
    seed: int,
    *,
    grouped: bool = True,
    tiers: Int64Array | None = None,
) -> Int64Array:
    """Return the position of each pair in the queue, a permutation of 0..n-1, int64 [n].

    If grouped, up to `RUN_OF_ONE_CAPTION` pairs of one caption form a block in shuffled order. The
    blocks are shuffled. Two blocks of one caption follow each other only if the other captions do
    not have enough blocks to separate them. If not grouped, all pairs are shuffled. The result
    depends only on the seed and the pairs.

    codes: int64 [n], ascending codes of pairs in `space`.
    tiers: int64 [n]. All pairs of a lower tier come before those of a higher tier.
    """
    if tiers is None:
        tiers = np.zeros(len(codes), np.int64)
    queue = Queue([(codes, tiers)], space, seed, grouped=grouped)
    return queue.positions(codes, tiers)


class Queue:
    """The positions that `plan_positions` returns, for pairs that come in parts.

    The object needs memory for each block of a caption. If not grouped, it needs eight bytes for
    each pair.

    parts: codes and tiers, int64 [n] each. All pairs of a caption are in one part.
    """

    def __init__(
        self,
        parts: Iterable[tuple[Int64Array, Int64Array]],
        space: PairSpace,
        seed: int,
        *,
        grouped: bool = True,
    ) -> None:
        make = _Grouped if grouped else _Shuffled
        self._tiers: dict[int, _Grouped | _Shuffled] = {}
        for codes, tiers in parts:
            for tier in np.unique(tiers).tolist():
                order = self._tiers.setdefault(tier, make(space, seed))
                order.add(codes[tiers == tier])
        self._starts: dict[int, int] = {}
        start = 0
        for tier, order in sorted(self._tiers.items()):
            self._starts[tier] = start
            start += order.finish()

    def positions(self, codes: Int64Array, tiers: Int64Array) -> Int64Array:
        """Return the positions of the pairs of one part, int64 [n]."""
        positions = np.empty(len(codes), np.int64)
        for tier in np.unique(tiers).tolist():
            chosen = tiers == tier
            positions[chosen] = self._starts[tier] + self._tiers[tier].positions(codes[chosen])
        return positions


class _Shuffled:
    """The order of pairs by their hashes."""

    def __init__(self, space: PairSpace, seed: int) -> None:
        self._seed = seed
        self._hashes = array("Q")

    def add(self, codes: Int64Array) -> None:
        self._hashes.frombytes(mix(codes, self._seed).tobytes())

    def finish(self) -> int:
        """Prepare the positions of all pairs that were added. Return their number."""
        self._sorted = np.frombuffer(self._hashes, np.uint64)
        self._sorted.sort()
        return len(self._sorted)

    def positions(self, codes: Int64Array) -> Int64Array:
        return np.searchsorted(self._sorted, mix(codes, self._seed))


class _Grouped:
    """The order of pairs in blocks of one caption."""

    def __init__(self, space: PairSpace, seed: int) -> None:
        self._space, self._seed = space, seed
        self._sizes = np.zeros(space.n_queries, np.int64)

    def add(self, codes: Int64Array) -> None:
        queries, sizes = np.unique(self._space.queries(codes), return_counts=True)
        self._sizes[queries] += sizes

    def finish(self) -> int:
        """Prepare the positions of all pairs that were added. Return their number."""
        n_blocks = -(-self._sizes // RUN_OF_ONE_CAPTION)
        ends = np.cumsum(n_blocks)
        self._first_block = ends - n_blocks
        captions = np.repeat(np.arange(len(n_blocks)), n_blocks)
        within = np.arange(len(captions)) - self._first_block[captions]
        sizes = np.minimum(self._sizes[captions] - within * RUN_OF_ONE_CAPTION, RUN_OF_ONE_CAPTION)
        drawn = np.argsort(mix(captions * BLOCKS_PER_QUERY + within, self._seed + 1))
        order = drawn[_spread(captions[drawn])]
        self._starts = np.empty(len(order), np.int64)
        self._starts[order] = np.cumsum(sizes[order]) - sizes[order]
        return int(sizes.sum())

    def positions(self, codes: Int64Array) -> Int64Array:
        queries = self._space.queries(codes)
        order = np.lexsort((mix(codes, self._seed), queries))
        firsts = np.flatnonzero(np.diff(queries, prepend=-1))
        lengths = np.diff(firsts, append=len(codes))
        within = np.arange(len(codes)) - np.repeat(firsts, lengths)
        # Codes are ascending, so `order` shuffles the pairs only within their caption.
        blocks = self._first_block[queries] + within // RUN_OF_ONE_CAPTION
        positions = np.empty(len(codes), np.int64)
        positions[order] = self._starts[blocks] + within % RUN_OF_ONE_CAPTION
        return positions


class GroupQueue:
    """The positions of tasks in groups. The tasks of a group follow each other by their places.

    The groups are shuffled. Those of a lower tier come first, and the tier of a group is the lowest
    of its tasks. units: int64 [n], the tasks. groups, places, tiers: int64 [n] each.
    """

    def __init__(
        self,
        units: Int64Array,
        groups: Int64Array,
        places: Int64Array,
        tiers: Int64Array,
        seed: int,
    ) -> None:
        codes, group_of = np.unique(groups, return_inverse=True)
        lowest = np.full(len(codes), np.iinfo(np.int64).max)
        np.minimum.at(lowest, group_of, tiers)
        drawn = mix(codes, seed + 1)
        order = np.lexsort((places, group_of, drawn[group_of], lowest[group_of]))
        by_unit = np.argsort(units)
        positions = np.empty(len(units), np.int64)
        positions[order] = np.arange(len(units))
        self._units, self._positions = units[by_unit], positions[by_unit]

    def positions(self, codes: Int64Array, tiers: Int64Array) -> Int64Array:
        """Return the positions of tasks, int64 [n]. Their tiers are known."""
        return self._positions[np.searchsorted(self._units, codes)]


def _spread(captions: Int64Array) -> Int64Array:
    """Return an order of blocks in which blocks of the same caption are apart, int64 [n_blocks].

    A block that would follow a block of its own caption is postponed until another block is
    between them. Blocks that are left at the end are inserted at earlier positions.

    captions: the caption of each block, int64 [n_blocks].
    """
    order = array("q")
    postponed: list[int] = []  # blocks of the caption that came last
    last = -1
    # Unlike a list, an array needs no Python object for each block.
    for block, caption in enumerate(array("q", captions.tobytes())):
        if caption == last:
            postponed.append(block)
            continue
        order.append(block)
        last = caption
        if postponed:
            order.append(postponed.pop())
            last = captions[order[-1]]
    for place in reversed(range(len(order))) if postponed else ():
        around = order[max(0, place - 1) : place + 1]
        if postponed and all(captions[postponed[-1]] != captions[block] for block in around):
            order.insert(place, postponed.pop())
    return np.array([*order, *postponed], np.int64)


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """The planned number of labels of each pair: `each`, plus 1 if the pair gets an extra label.

    Exactly `round(n * share)` pairs get an extra label: those with the smallest seeded hash.
    This choice depends only on the seed and the pairs.

    limit: the largest hash of a pair with an extra label, or None if there is no such pair.
    """

    each: int
    seed: int
    limit: int | None

    @staticmethod
    def of(parts: Parts, n: int, share: float, seed: int, each: int = 1) -> LabelPlan:
        """Return the plan for `n` pairs, whose codes come in parts."""
        limit = limit_of_lowest(parts, round(n * share), seed)
        return LabelPlan(each, seed, limit)

    def labels(self, codes: Int64Array) -> npt.NDArray[np.int16]:
        """Return the planned number of labels of each pair, int16 [n]."""
        if self.limit is None:
            return np.full(len(codes), self.each, np.int16)
        is_doubled = mix(codes, self.seed) <= np.uint64(self.limit)
        return (self.each + is_doubled).astype(np.int16)


def count_plan(parts: Iterable[tuple[Integers, Integers]]) -> list[list[int]]:
    """Count the tasks and their pairs for each planned number of labels, ascending.

    parts: the planned number of labels of each task, and the number of its pairs, [n_tasks] each.
    Each row of the result is [planned number of labels, tasks, pairs].
    """
    tasks: Counter[int] = Counter()
    pairs: Counter[int] = Counter()
    for labels, n_pairs in parts:
        for planned in np.unique(labels).tolist():
            chosen = labels == planned
            tasks[planned] += int(chosen.sum())
            pairs[planned] += int(n_pairs[chosen].sum())
    return [[planned, tasks[planned], pairs[planned]] for planned in sorted(tasks)]
