"""The order of gold among pairs, chosen so that annotators cannot recognise gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pooling.core.hashing import mix

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Item:
    """One place of an annotator's queue. index: of the pair or of the gold item."""

    index: int
    is_gold: bool


@dataclass(frozen=True, slots=True)
class Mixed:
    """The next items of an annotator, and the number of gold items that are still owed to them."""

    items: list[Item]
    owed: int


def planned_gold(n_items: Int64Array, annotator: int, share: float, seed: int) -> Int64Array:
    """Return the planned number of gold items among the first items of an annotator, int64 [n].

    The items are divided into sections of 1/share items, with one gold item at a seeded place of
    each section. The sections of different annotators begin at different items. So annotators
    cannot predict the next gold item, and the number among any L items in a row differs from
    share · L by less than 2. Only differences of the returned numbers have a meaning.

    n_items: int64 [n], numbers of items.
    """
    ends = share * n_items + _drawn(np.array([-1]), annotator, seed)
    sections = np.floor(ends).astype(np.int64)
    return sections + (_drawn(sections, annotator, seed) < ends - sections)


def _drawn(keys: Int64Array, annotator: int, seed: int) -> npt.NDArray[np.float64]:
    """Return a seeded number from 0 to 1 for each key."""
    drawn: npt.NDArray[np.float64] = mix(mix(keys, seed), annotator) / 2.0**64
    return drawn


def mix_gold(
    pairs: Sequence[int],
    gold: Sequence[int],
    *,
    due: Sequence[int],
    owed: int,
    last: int | None,
    grouped: bool,
) -> Mixed:
    """Return the next `len(due)` items: the pairs in their order, with gold among them.

    Each item depends only on the items before it and on the next pair. So an annotator gets the
    same items for any sizes of claims. The items end with the last pair, because annotators would
    recognise gold without pairs.

    pairs, gold: captions of the next pairs and of the available gold items. due: the number of gold
    items that become due at each place. owed: the number that were due earlier. last: the caption
    of the annotator's last item, or None if there is none. grouped: whether pairs are grouped by
    caption. If so, a gold item comes next to an item of its own caption, or between two captions.
    A single pair among the pairs of another caption would be recognised as gold.
    """
    items: list[Item] = []
    available = list(enumerate(gold))
    following = 0
    for now_due in due:
        if following == len(pairs):
            break
        owed = min(owed + now_due, len(available))
        chosen = _next_gold(available, owed, last, pairs[following], grouped) if owed else None
        if chosen is None:
            items.append(Item(following, is_gold=False))
            last = pairs[following]
            following += 1
        else:
            available.remove(chosen)
            index, last = chosen
            items.append(Item(index, is_gold=True))
            owed -= 1
    return Mixed(items, owed)


def _next_gold(
    available: list[tuple[int, int]], owed: int, last: int | None, following: int, grouped: bool
) -> tuple[int, int] | None:
    """Return the gold item that can come before the next pair, or None if there is none.

    available: index and caption of each gold item. following: the caption of the next pair.
    """
    if not grouped:
        return available[0]
    of_last = [item for item in available if item[1] == last]
    if of_last:
        return of_last[0]
    if last == following:
        return None
    of_following = [item for item in available if item[1] == following]
    if owed <= len(of_following):
        return of_following[0]
    # After an item with the following caption, no other caption may come before the next pair.
    others = [item for item in available if item[1] != following]
    return others[0] if others else of_following[0]
