"""The items of an ordering study, and the orders in which people put the captions.

Wray et al. (CVPR 2021, supplement A) show people a video with five captions, which the people put
in order of similarity. A proxy chooses the captions: the most similar one, the three quartiles, and
the least similar one. For this, the proxy ranks the n captions with different texts. The five
chosen captions have the ranks 0, (n - 1) / 4, (n - 1) / 2, 3 (n - 1) / 4 and n - 1, rounded half
up. Many proxies have few different values, so the quartiles often have equal values. With
`Levels.VALUES`, the different values are ranked instead of the captions, so all five differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pooling.core.hashing import mix

CAPTIONS: Final = 5

# The two captions of each of the ten pairs, the first with the lower number.
FIRST, SECOND = np.triu_indices(CAPTIONS, k=1)

# The bits of a sort key: 16 of the value, 24 of the hash, 24 of the number of the caption.
_VALUE_AT, _HASH_AT, _HASH_FROM = np.uint64(48), np.uint64(24), np.uint64(40)
_NUMBER: Final = np.uint64((1 << 24) - 1)

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


def by_text(first_equal: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the captions grouped by their texts, int64 [n], and the place where each text begins.

    first_equal: int64 [n], the number of the first caption with an equal text.
    """
    captions = np.argsort(first_equal, kind="stable")
    return captions, np.flatnonzero(np.diff(first_equal[captions], prepend=-1))


def choose_captions(
    values: npt.NDArray[Any],
    texts: tuple[Int64Array, Int64Array],
    codes: Int64Array,
    seed: int,
    levels: Levels = Levels.CAPTIONS,
) -> Choice | Refusal:
    """Choose five captions of one video, or return why they cannot be chosen.

    values: [n_queries], the proxy's values for the video, 0 to 1; they are compared as float16.
    texts: the result of `by_text`. codes: a code for each query, int64 [n_queries], different for
    each caption and video. A seeded hash of the code decides between equal values. Of captions with
    equal texts, only one with the highest value can be chosen.
    """
    captions, starts = texts
    if len(starts) < CAPTIONS:
        return Refusal.TOO_FEW_TEXTS
    keys = _sort_keys(values, mix(codes, seed))
    ranked = np.sort(np.minimum.reduceat(keys[captions], starts))
    ranked_values = ranked >> _VALUE_AT
    if ranked_values[0] == ranked_values[-1]:
        return Refusal.ALL_EQUAL
    if levels == Levels.VALUES:
        # The first caption of each value, in the random order of equal values.
        ranked = ranked[np.append(True, ranked_values[1:] != ranked_values[:-1])]
        if len(ranked) < CAPTIONS:
            return Refusal.TOO_FEW_VALUES
    steps = np.arange(CAPTIONS) * (len(ranked) - 1)
    chosen = ranked[(steps + 2) // 4] & _NUMBER
    return Choice(tuple(chosen.tolist()), tuple(values[chosen].astype(float).tolist()))


def _sort_keys(values: npt.NDArray[Any], hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return a number for each caption, uint64 [n]. The most similar caption has the smallest one.

    Each number consists of the value, the hash and the number of the caption. Sorting these numbers
    is much faster than sorting by three columns. For values that are not negative, the bits of
    float16 are in the order of the values.
    """
    bits = np.abs(values.astype(np.float16)).view(np.uint16)
    keys = (np.uint16(0xFFFF) - bits).astype(np.uint64) << _VALUE_AT
    return keys | (hashes >> _HASH_FROM << _HASH_AT) | np.arange(len(values), dtype=np.uint64)


def shuffled_places(codes: Int64Array, seed: int) -> Int64Array:
    """Return the places of captions on the screen, drawn by a seeded hash, int64 [n, 5].

    codes: int64 [n, 5], as for `choose_captions`. The places depend neither on the values of the
    proxy nor on the choice between equal values, which uses another hash.
    """
    hashes = mix(mix(codes, seed), seed)
    return np.argsort(np.argsort(hashes, axis=1), axis=1)


def is_order(places: Sequence[int]) -> bool:
    """Return whether `places` has each of the places 0 to 4 once."""
    return sorted(places) == list(range(CAPTIONS))


def text_of_order(places: Sequence[int]) -> str:
    """Return an order as the places on the screen, counted from 1, such as "3 1 2 5 4"."""
    return " ".join(str(place + 1) for place in places)


def is_in_steps(order: Sequence[int], steps: Sequence[int]) -> bool:
    """Return whether the captions of lower steps come before those of higher steps.

    order: places, most similar caption first. steps: the step of the caption in each place.
    """
    found = [steps[place] for place in order]
    return found == sorted(found)


def ranks_in_orders(orders: npt.ArrayLike, places: npt.ArrayLike) -> Int64Array:
    """Return the rank of each caption in each order, 0 for the most similar, int64 [n, 5].

    orders: [n, 5], the places in each order, most similar caption first. places: [n, 5], for each
    order, the place of each caption on the screen.
    """
    ranks = np.argsort(np.asarray(orders, np.int64).reshape(-1, CAPTIONS), axis=1)
    return np.take_along_axis(ranks, np.asarray(places, np.int64).reshape(-1, CAPTIONS), axis=1)


def tau_with_others(ranks: npt.ArrayLike, videos: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return for each order its mean Kendall's tau with the other orders of its video, float64 [n].

    ranks: [n, 5], the rank of each caption in each order, 0 for the most similar. videos: [n]. The
    result is NaN if a video has no other order.
    """
    signs = -signs_of_pairs(np.asarray(ranks).reshape(-1, CAPTIONS))
    _, of = np.unique(videos, return_inverse=True)
    totals = np.zeros((len(of), len(FIRST)))
    np.add.at(totals, of, signs)
    others = np.bincount(of, minlength=len(of))[of] - 1
    products = (signs * (totals[of] - signs)).mean(axis=1)
    return np.where(others > 0, products / np.maximum(others, 1), np.nan)


def signs_of_pairs(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the sign of the first caption's value minus the second's, float64 [n_videos, 10]."""
    wide = values.astype(np.float64)
    return np.asarray(np.sign(wide[:, FIRST] - wide[:, SECOND]))
