"""Where gold comes among pairs, so that its place does not tell it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pooling.core.hashing import mix

BESIDE_THE_LAST, BETWEEN, BESIDE_THE_NEXT = -1, 0, 1

Place = tuple[int, int]
"""Before which pair (`len(captions)`: after the last), and the order of what comes at one place:
what belongs to the caption before, what to neither, what to the caption behind."""


def places_for_gold(
    captions: Sequence[int],
    gold: Sequence[tuple[int, int]],
    *,
    following: int | None,
    grouped: bool,
    seed: int,
) -> list[Place] | None:
    """Where each item of gold comes among the pairs; None where one of them has no place.

    captions: of the pairs, in their order. gold: key and caption of each item. following: the
    caption of the pair that is handed out next, None where none is left.
    Grouped by caption, gold stands beside pairs of its own caption, or where one caption ends and
    another begins: a single pair within another caption's would be known for what it is.
    """
    places = []
    anywhere = [(place, BETWEEN) for place in range(len(captions) + 1)]
    for key, caption in gold:
        free = _free(captions, caption, following) if grouped else anywhere
        if not free:
            return None
        drawn = mix(np.array([key]), seed)[0]
        places.append(free[int(drawn % np.uint64(len(free)))])
    return places


def _free(captions: Sequence[int], caption: int, following: int | None) -> list[Place]:
    own = [place for place, other in enumerate(captions) if other == caption]
    if own:
        before = [(place, BESIDE_THE_NEXT) for place in own]
        return [*before, *((place + 1, BESIDE_THE_LAST) for place in own)]
    if caption == following:
        return [(len(captions), BESIDE_THE_NEXT)]
    changes = [place for place, (a, b) in enumerate(pairwise(captions), start=1) if a != b]
    if captions and following != captions[-1]:
        changes.append(len(captions))
    return [(place, BETWEEN) for place in changes]
