"""Where the positives are: how many a caption has, at which rank runs find them, who finds one.

"Source" tells positives apart that came with the dataset from those that judging brought. Figures
2, 3, 11 and 12 and tables 5 and 6 of the FIRE study are drawn from these counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.relevance.judged import Judged, check_ranked, look_up_gains

ORIGINAL, NEW = range(2)
NEITHER, ONLY_FIRST, ONLY_SECOND, BOTH = range(4)
"""Who is right: the code is `first is right + 2 * second is right`."""

_KINDS: Final = 4


def positives_per_query(judged: Judged) -> IntArray:
    """How many videos are positive for each query, int64 [n_queries]."""
    codes, _ = judged.positives()
    return np.bincount(judged.space.queries(codes), minlength=judged.n_queries)


def length_table(lengths: IntArray, positives: IntArray) -> IntArray:
    """How many captions have so many words and so many positives, int64 [max length + 1, max
    positives + 1].

    lengths, positives: int64 [n_queries], not negative.
    """
    if lengths.shape != positives.shape:
        raise ValueError("lengths and positives must be of the same length")
    height, width = int(lengths.max(initial=0)) + 1, int(positives.max(initial=0)) + 1
    cells = np.bincount(lengths * width + positives, minlength=height * width)
    return cells.reshape(height, width)


def ranks_by_source(ranked: npt.NDArray[Any], judged: Judged, original: Judged) -> IntArray:
    """How many positives a run has at each rank, by their source: int64 [2, depth], rows ORIGINAL
    and NEW.

    A positive of `judged` is ORIGINAL where `original` has it, too; one that `original` alone has
    is not counted.
    """
    check_ranked(ranked, judged)
    positive = look_up_gains(ranked, judged) >= 1
    came_with = look_up_gains(ranked, original) >= 1
    return np.stack([(positive & came_with).sum(axis=0), (positive & ~came_with).sum(axis=0)])


def finds_one(ranked: npt.NDArray[Any], judged: Judged, cutoff: int) -> BoolArray:
    """Whether a positive is in the top `cutoff` of each query's list, bool [n_queries]."""
    check_ranked(ranked, judged)
    return np.asarray((look_up_gains(ranked[:, :cutoff], judged) >= 1).any(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class RightByLength:
    """Who finds a positive for captions of each length.

    lengths: int64 [n], ascending, those that occur. counts: int64 [n, 4], columns NEITHER,
    ONLY_FIRST, ONLY_SECOND, BOTH; a row sums up to the captions of that length.
    """

    lengths: IntArray
    counts: IntArray


def right_by_length(first: BoolArray, second: BoolArray, lengths: IntArray) -> RightByLength:
    """Compare what `finds_one` says of two systems, by the lengths of the captions."""
    if not first.shape == second.shape == lengths.shape:
        raise ValueError("first, second and lengths must be of the same length")
    who = first.astype(np.int64) + 2 * second
    found = np.flatnonzero(np.bincount(lengths))
    width = int(lengths.max(initial=-1)) + 1
    counts = np.bincount(lengths * _KINDS + who, minlength=_KINDS * width)
    return RightByLength(found, counts.reshape(-1, _KINDS)[found])


def at_the_ends(lengths: IntArray, count: int) -> tuple[IntArray, IntArray, IntArray]:
    """Query numbers of `count` captions each at the short end, around the median and at the long
    end, by length; of equal ones the first numbers."""
    order = np.argsort(lengths, kind="stable")
    middle = max(0, (len(order) - count) // 2)
    return order[:count], order[middle : middle + count], order[-count:] if count else order[:0]
