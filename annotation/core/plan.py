"""In which order a campaign hands out its pairs, and which of them are labelled twice."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pooling.core.hashing import lowest, mix
from pooling.core.pair_space import PairSpace

# A caption is read once for several videos, but never for so many in a row that the
# answers to it begin to anchor each other.
RUN_OF_ONE_CAPTION = 20
BLOCKS_PER_QUERY = 1 << 20

Int64Array = npt.NDArray[np.int64]


def plan_positions(
    codes: Int64Array,
    space: PairSpace,
    seed: int,
    *,
    grouped: bool = True,
    tiers: Int64Array | None = None,
) -> Int64Array:
    """The place of each pair in the queue, a permutation of 0..n-1, int64 [n].

    Grouped: pairs of one caption come together in shuffled order, at most `RUN_OF_ONE_CAPTION` of
    them; these blocks are shuffled among each other, and two of one caption meet only where no
    other caption is left. Else all are shuffled. Follows from the seed alone.
    codes: int64 [n], ascending codes of pairs in `space`.
    tiers: int64 [n]; pairs of a lower tier come before all of a higher one, each tier in an order
    of its own.
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
    """Where each element comes in an order: the inverse of the permutation."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


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


def plan_labels(
    codes: Int64Array, double_share: float, seed: int, each: int = 1
) -> npt.NDArray[np.int16]:
    """How many labels each pair is planned to get: `each`, and one more for the doubled share.

    Exactly `round(n * double_share)` pairs get one more, those of the smallest seeded hash: the
    same pairs whenever the campaign is opened again, whoever arrives first. int16 [n].
    """
    count = round(len(codes) * double_share)
    return np.where(lowest(codes, count, seed), each + 1, each).astype(np.int16)


def is_gold_due(place: int, annotator: int, share: float, seed: int) -> bool:
    """Whether gold comes at this place (from 0) of what an annotator is handed.

    Drawn for each place by a seeded hash, so that nobody can count up to the next one, and the
    same whoever asks.
    """
    drawn = int(mix(mix(np.array([place]), seed), annotator)[0])
    return drawn < share * 2.0**64
