"""Counts of positives, and of captions on which systems are correct.

Positives are counted by caption, by rank in a run, and by the length of the caption. Captions on
which systems are correct are counted by length. A length is a number of words. The source of a
positive is the captioning data set (`ORIGINAL`) or the judgments (`NEW`). Figures 2, 3, 11 and 12
and tables 5 and 6 of the FIRE study (see `measures`) show these counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.relevance.judged import Judged, look_up_gains
from pooling.core.ranked_lists import RankedLists

ORIGINAL, NEW = range(2)
NEITHER, ONLY_FIRST, ONLY_SECOND, BOTH = range(4)
"""Which of two systems is correct on a query: `first is correct + 2 * second is correct`."""

_N_CASES: Final = 4


def positives_per_query(judged: Judged) -> IntArray:
    """Return the number of positive videos of each query, int64 [n_queries]."""
    codes, _ = judged.positives()
    return np.bincount(judged.space.queries(codes), minlength=judged.n_queries)


def length_table(lengths: IntArray, positives: IntArray) -> IntArray:
    """Return the number of captions by length and number of positives.

    lengths, positives: int64 [n_queries], not negative. The result is int64 [max length + 1, max
    positives + 1]. Raises ValueError if the two arrays differ in size.
    """
    if lengths.shape != positives.shape:
        raise ValueError("lengths and positives must be of the same size")
    height, width = int(lengths.max(initial=0)) + 1, int(positives.max(initial=0)) + 1
    cells = np.bincount(lengths * width + positives, minlength=height * width)
    return cells.reshape(height, width)


def ranks_by_source(lists: RankedLists, judged: Judged, original: Judged) -> IntArray:
    """Return the number of positives of a run at each rank, by source.

    The result is int64 [2, depth], with the rows ORIGINAL and NEW. A positive of `judged` is
    ORIGINAL if it is also in `original`. A positive that is only in `original` is not counted.
    """
    positive = look_up_gains(lists, judged) >= 1
    is_original = look_up_gains(lists, original) >= 1
    return np.stack([(positive & is_original).sum(axis=0), (positive & ~is_original).sum(axis=0)])


def finds_one(lists: RankedLists, judged: Judged, cutoff: int) -> BoolArray:
    """Return whether a positive is in the top `cutoff` of each list, bool [n_queries]."""
    return np.asarray((look_up_gains(lists.top(cutoff), judged) >= 1).any(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class RightByLength:
    """Numbers of captions on which two systems are correct, for each length of the captions.

    lengths: int64 [n], the lengths that occur, ascending. counts: int64 [n, 4], with the columns
    NEITHER, ONLY_FIRST, ONLY_SECOND and BOTH. The sum of a row is the number of captions of that
    length.
    """

    lengths: IntArray
    counts: IntArray


def right_by_length(first: BoolArray, second: BoolArray, lengths: IntArray) -> RightByLength:
    """Compare two systems by the lengths of the captions.

    first, second: bool [n_queries], the results of `finds_one`. lengths: int64 [n_queries]. Raises
    ValueError if the arrays differ in size.
    """
    if not first.shape == second.shape == lengths.shape:
        raise ValueError("first, second and lengths must be of the same size")
    cases = first.astype(np.int64) + 2 * second
    distinct = np.flatnonzero(np.bincount(lengths))
    width = int(lengths.max(initial=-1)) + 1
    counts = np.bincount(lengths * _N_CASES + cases, minlength=_N_CASES * width)
    return RightByLength(distinct, counts.reshape(-1, _N_CASES)[distinct])


def at_the_ends(lengths: IntArray, count: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the shortest, the middle and the longest captions, `count` of each.

    lengths: int64 [n_queries]. The results are numbers of captions, int64 [count] each. Captions
    are ordered by length, and those of equal length by number.
    """
    order = np.argsort(lengths, kind="stable")
    middle = max(0, (len(order) - count) // 2)
    return order[:count], order[middle : middle + count], order[-count:] if count else order[:0]
