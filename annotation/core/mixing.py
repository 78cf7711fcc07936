"""Places of gold among pairs, chosen so that annotators cannot recognise gold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pooling.core.hashing import mix

NEXT_TO_PREVIOUS, BETWEEN, NEXT_TO_FOLLOWING = -1, 0, 1

Place = tuple[int, int]
"""Where a gold item is placed.

The first number is the index of the pair before which the item comes, or the number of pairs if it
comes last. If several gold items come before the same pair, the second number determines their
order: items with the caption of the previous pair come first (`NEXT_TO_PREVIOUS`), then items with
another caption (`BETWEEN`), and then items with the caption of the following pair
(`NEXT_TO_FOLLOWING`)."""


def places_for_gold(
    captions: Sequence[int],
    gold: Sequence[tuple[int, int]],
    *,
    following: int | None,
    grouped: bool,
    seed: int,
) -> list[Place] | None:
    """Return the place of each gold item among the pairs, or None if an item has no place.

    captions: the captions of the pairs, in order. gold: the task and the caption of each gold item.
    All are primary keys. following: the caption of the first pair after these, or None if there is
    none. grouped: whether pairs are grouped by caption. If so, a gold item is placed next to pairs
    of its own caption, or between the pairs of two other captions. A single pair among the pairs of
    another caption would be recognised as gold.
    """
    places = []
    anywhere = [(place, BETWEEN) for place in range(len(captions) + 1)]
    for key, caption in gold:
        free = _free_places(captions, caption, following) if grouped else anywhere
        if not free:
            return None
        random = mix(np.array([key]), seed)[0]
        places.append(free[int(random % np.uint64(len(free)))])
    return places


def _free_places(captions: Sequence[int], caption: int, following: int | None) -> list[Place]:
    own = [place for place, other in enumerate(captions) if other == caption]
    if own:
        before = [(place, NEXT_TO_FOLLOWING) for place in own]
        return [*before, *((place + 1, NEXT_TO_PREVIOUS) for place in own)]
    if caption == following:
        return [(len(captions), NEXT_TO_FOLLOWING)]
    changes = [place for place, (a, b) in enumerate(pairwise(captions), start=1) if a != b]
    if captions and following != captions[-1]:
        changes.append(len(captions))
    return [(place, BETWEEN) for place in changes]
