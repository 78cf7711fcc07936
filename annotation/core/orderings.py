"""The items of an ordering study, and the orders in which people put their captions.

Wray et al. (CVPR 2021, supplement A) show people a video with five captions, to be put in order of
similarity: the caption that a proxy calls most similar, the three quartiles, and the least similar
one. The captions of a video, n with different texts, are ranked by the proxy. The chosen ones have
the places 0, (n - 1) / 4, (n - 1) / 2, 3 (n - 1) / 4 and n - 1, rounded half up. Many proxies have
few different values, so the quartiles are often equal. With `Levels.VALUES`, the different values
are ranked instead of the captions, so that all five differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pooling.core.hashing import mix

CAPTIONS: Final = 5

_ORDERS: Final = tuple(permutations(range(CAPTIONS)))
_NUMBERS: Final = {order: number for number, order in enumerate(_ORDERS)}

N_ORDERS: Final = len(_ORDERS)
# Each order as the places on the screen, counted from 1, such as "3 1 2 5 4".
ORDER_TEXTS: Final = {
    number: " ".join(str(place + 1) for place in order) for number, order in enumerate(_ORDERS)
}

Int64Array = npt.NDArray[np.int64]


class Levels(StrEnum):
    """What is divided into quartiles."""

    CAPTIONS = "captions"
    VALUES = "values"


class Refusal(StrEnum):
    """Why five captions cannot be chosen for a video."""

    TOO_FEW_TEXTS = "fewer than five captions have different texts"
    TOO_FEW_VALUES = "the proxy has fewer than five different values"
    ALL_EQUAL = "the proxy has the same value for all captions"


@dataclass(frozen=True, slots=True)
class Choice:
    """Five captions of a video, most similar first: their numbers, and the proxy's values."""

    captions: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def has_ties(self) -> bool:
        """Whether the proxy has the same value for two of the captions."""
        return len(set(self.values)) < CAPTIONS


def choose_captions(
    values: npt.NDArray[Any],
    first_equal: Int64Array,
    codes: Int64Array,
    seed: int,
    levels: Levels = Levels.CAPTIONS,
) -> Choice | Refusal:
    """Choose five captions of one video, or return why they cannot be chosen.

    values: [n_queries], the proxy's values for the video. first_equal: int64 [n_queries], the
    number of the first caption with an equal text. codes: int64 [n_queries], different for each
    caption and video. A seeded hash of the code decides between equal values. Of captions with
    equal texts, only one with the highest value can be chosen.
    """
    order = np.lexsort((mix(codes, seed), -values.astype(np.float64)))
    firsts = np.unique(first_equal[order], return_index=True)[1]
    ranked = order[np.sort(firsts)]
    if len(ranked) < CAPTIONS:
        return Refusal.TOO_FEW_TEXTS
    of_ranked = values[ranked]
    if of_ranked[0] == of_ranked[-1]:
        return Refusal.ALL_EQUAL
    if levels == Levels.VALUES:
        # The first caption of each value, in the random order of equal values.
        ranked = ranked[np.flatnonzero(np.diff(of_ranked, prepend=np.inf))]
        if len(ranked) < CAPTIONS:
            return Refusal.TOO_FEW_VALUES
    steps = np.arange(CAPTIONS) * (len(ranked) - 1)
    chosen = ranked[(steps + 2) // 4]
    return Choice(tuple(chosen.tolist()), tuple(values[chosen].astype(float).tolist()))


def shuffled_places(code: int, seed: int) -> list[int]:
    """Return the places of five captions on the screen, drawn by a seeded hash of a code."""
    hashes = mix(code * CAPTIONS + np.arange(CAPTIONS), seed)
    return np.argsort(np.argsort(hashes)).tolist()  # type: ignore[no-any-return]


def number_of_order(order: Sequence[int]) -> int:
    """Return the number of an order among the 120 orders of the places 0 to 4.

    The orders are numbered lexicographically, so each number from 0 to 119 is one order. Raises
    ValueError if `order` does not contain each place once.
    """
    number = _NUMBERS.get(tuple(order))
    if number is None:
        raise ValueError(f"{list(order)} does not contain each of the places 0 to 4 once")
    return number


def order_of_number(number: int) -> tuple[int, ...]:
    """Return the order with this number. Raises ValueError if it is not from 0 to 119."""
    if not 0 <= number < N_ORDERS:
        raise ValueError(f"{number} is not the number of an order, 0 to {N_ORDERS - 1}")
    return _ORDERS[number]


def ranks_in_orders(numbers: Iterable[int], places: npt.ArrayLike) -> Int64Array:
    """Return the rank of each caption in each order, 0 for the most similar, int64 [n, 5].

    numbers: of the orders, [n]. places: [n, 5], the place of each caption of the item, as in the
    orders.
    """
    orders = np.array([order_of_number(number) for number in numbers], np.int64)
    ranks = np.argsort(orders.reshape(-1, CAPTIONS), axis=1)
    return np.take_along_axis(ranks, np.asarray(places, np.int64).reshape(-1, CAPTIONS), axis=1)
