"""In which order a campaign hands out its pairs, and which of them are labelled twice."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pooling.core.hashing import lowest, mix

# A caption is read once for several videos, but never for so many in a row that the
# answers to it begin to anchor each other.
RUN_OF_ONE_CAPTION = 20
BLOCKS_PER_QUERY = 1 << 20

Int64Array = npt.NDArray[np.int64]


def plan_positions(codes: Int64Array, n_videos: int, seed: int) -> Int64Array:
    """The place of each pair in the queue, a permutation of 0..n-1, int64 [n].

    Pairs of one caption come together in shuffled order, at most `RUN_OF_ONE_CAPTION` of
    them; these blocks are shuffled among each other, and two of one caption meet only where
    no other caption is left. Follows from the seed alone.
    codes: int64 [n], query number * n_videos + video number, ascending.
    """
    if not len(codes):
        return np.empty(0, np.int64)
    queries = codes // n_videos
    shuffled = np.lexsort((mix(codes, seed), queries))
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    within = np.arange(len(codes)) - np.repeat(starts, np.diff(np.append(starts, len(codes))))
    blocks = queries * BLOCKS_PER_QUERY + within // RUN_OF_ONE_CAPTION
    names, block_of = np.unique(blocks, return_inverse=True)
    places = _spread(names[np.argsort(mix(names, seed + 1))].tolist())
    place_of_block = np.array([places[name] for name in names.tolist()])
    order = shuffled[np.lexsort((within, place_of_block[block_of]))]
    positions = np.empty(len(codes), np.int64)
    positions[order] = np.arange(len(codes))
    return positions


def _spread(blocks: list[int]) -> dict[int, int]:
    """The place of each block: in the order given, but one that would follow another of its
    own caption waits until a third has come between, or goes further up at the end."""
    order: list[int] = []
    waiting: list[int] = []  # all of the caption that came last
    for block in blocks:
        if order and _same_caption(order[-1], block):
            waiting.append(block)
            continue
        order.append(block)
        if waiting:
            order.append(waiting.pop())
    for place in reversed(range(len(order))):
        around = order[max(0, place - 1) : place + 1]
        if waiting and not any(_same_caption(waiting[-1], block) for block in around):
            order.insert(place, waiting.pop())
    return {block: place for place, block in enumerate([*order, *waiting])}


def _same_caption(block: int, other: int) -> bool:
    return block // BLOCKS_PER_QUERY == other // BLOCKS_PER_QUERY


def plan_labels(codes: Int64Array, double_share: float, seed: int) -> npt.NDArray[np.int16]:
    """How many labels each pair is planned to get: 2 for the doubled share, else 1; int16 [n].

    Exactly `round(n * double_share)` pairs, those of the smallest seeded hash: the same pairs
    whenever the campaign is opened again, whoever arrives first.
    """
    count = round(len(codes) * double_share)
    return np.where(lowest(codes, count, seed), 2, 1).astype(np.int16)
