"""The plan of a campaign: the order of its pairs, and which pairs get an extra label."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pooling.core.hashing import lowest, mix
from pooling.core.pair_space import Integers, PairSpace

# Annotators read a caption once for several videos. With more in a row, earlier answers would
# influence later ones.
RUN_OF_ONE_CAPTION = 20
BLOCKS_PER_QUERY = 1 << 20
# The share of pairs with an extra label, unless a campaign has another.
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
    blocks are shuffled. Two blocks of one caption follow each other only if no other caption is
    left. If not grouped, all pairs are shuffled. The result depends only on the seed and the pairs.

    codes: int64 [n], ascending codes of pairs in `space`.
    tiers: int64 [n]. All pairs of a lower tier come before those of a higher tier.
    """
    if tiers is None:
        tiers = np.zeros(len(codes), np.int64)
    positions = np.empty(len(codes), np.int64)
    start = 0
    for tier in np.unique(tiers):
        chosen = tiers == tier
        order = _grouped if grouped else _shuffled
        positions[chosen] = start + order(codes[chosen], space, seed)
        start += int(chosen.sum())
    return positions


def _shuffled(codes: Int64Array, space: PairSpace, seed: int) -> Int64Array:
    return _places(np.argsort(mix(codes, seed)))


def _grouped(codes: Int64Array, space: PairSpace, seed: int) -> Int64Array:
    queries = space.queries(codes)
    shuffled = np.lexsort((mix(codes, seed), queries))
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    within = np.arange(len(codes)) - np.repeat(starts, np.diff(np.append(starts, len(codes))))
    blocks = queries * BLOCKS_PER_QUERY + within // RUN_OF_ONE_CAPTION
    names, block_of = np.unique(blocks, return_inverse=True)
    places = _spread(names[np.argsort(mix(names, seed + 1))].tolist())
    place_of_block = np.array([places[name] for name in names.tolist()])
    return _places(shuffled[np.lexsort((within, place_of_block[block_of]))])


def _places(order: npt.NDArray[np.intp]) -> Int64Array:
    """Return the position of each element in an order: the inverse permutation."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


def _spread(blocks: list[int]) -> dict[int, int]:
    """Return the position of each block, so that blocks of one caption are separated.

    A block that would follow a block of its own caption is postponed until another block is
    between them. Blocks that are left at the end are inserted at earlier positions.
    """
    order: list[int] = []
    postponed: list[int] = []  # blocks of the caption that came last
    for block in blocks:
        if order and _same_caption(order[-1], block):
            postponed.append(block)
            continue
        order.append(block)
        if postponed:
            order.append(postponed.pop())
    for place in reversed(range(len(order))):
        around = order[max(0, place - 1) : place + 1]
        if postponed and not any(_same_caption(postponed[-1], block) for block in around):
            order.insert(place, postponed.pop())
    return {block: place for place, block in enumerate([*order, *postponed])}


def _same_caption(block: int, other: int) -> bool:
    return block // BLOCKS_PER_QUERY == other // BLOCKS_PER_QUERY


def plan_labels(
    codes: Int64Array, double_share: float, seed: int, each: int = 1
) -> npt.NDArray[np.int16]:
    """Return the planned number of labels of each pair: `each`, or one more for the doubled share.

    Exactly `round(n * double_share)` pairs get an extra label: those with the smallest seeded hash.
    They depend only on the seed and the pairs. Returns int16 [n].
    """
    count = round(len(codes) * double_share)
    return np.where(lowest(codes, count, seed), each + 1, each).astype(np.int16)


def count_plan(labels: Integers, n_pairs: Integers) -> list[list[int]]:
    """Return the numbers of tasks and of their pairs for each planned number of labels, ascending.

    labels, n_pairs: [n_tasks], the planned labels and the pairs of each task. Each row of the
    result is [planned labels, tasks, pairs].
    """
    planned, of_task, tasks = np.unique(labels, return_inverse=True, return_counts=True)
    pairs = np.zeros(len(planned), np.int64)
    np.add.at(pairs, of_task.reshape(-1), n_pairs)
    rows: list[list[int]] = np.stack([planned, tasks, pairs], axis=1).astype(np.int64).tolist()
    return rows


def is_gold_due(place: int, annotator: int, share: float, seed: int) -> bool:
    """Return whether an annotator gets gold at this place (from 0) of their pairs.

    A seeded hash draws each place independently, so that annotators cannot predict the next one.
    """
    drawn = int(mix(mix(np.array([place]), seed), annotator)[0])
    return drawn < share * 2.0**64
