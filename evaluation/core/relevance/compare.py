"""Selection and order of the captions in a comparison of ranked lists.

A run is correct on a query at a cutoff k if the top k of its list contains a positive. All
functions use the ranks of positives, which `find_places` computes once for a run and a set of
labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.relevance.judged import Judged, look_up_gains
from pooling.core.ranked_lists import RankedLists

# Options of `select_by_correctness`. Those of NEEDS_PAIR compare two runs.
ALL: Final = "all"
FIRST: Final = "first"
SECOND: Final = "second"
DIFFER: Final = "differ"
EVERY: Final = "every"
NEITHER: Final = "neither"
NEEDS_PAIR: Final = (FIRST, SECOND, DIFFER)

# Options of `changed_by_labels`.
ANY: Final = "any"
NEW: Final = "new"
TURNED: Final = "turned"

# Options of `in_order`.
BENCHMARK: Final = "benchmark"
CHANGED: Final = "changed"
BY_DISTANCE: Final = "apart"
SHORT: Final = "short"
LONG: Final = "long"

Ranks = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The ranks of the positives in the lists of a run. Ranks start at 1.

    original, labelled: int32 [n_queries], the rank of the first positive according to the original
    positives and according to the labels; 0 if the list contains none.
    new_queries, new_ranks: int32 [m], the query and the rank of each new positive, which is a
    positive that is not original.
    """

    original: Ranks
    labelled: Ranks
    new_queries: Ranks
    new_ranks: Ranks

    def right(self, cutoff: int, *, by_labels: bool = True) -> BoolArray:
        """Return whether a positive is in the top `cutoff` of each list, bool [n_queries]."""
        ranks = self.labelled if by_labels else self.original
        is_correct: BoolArray = (ranks > 0) & (ranks <= cutoff)
        return is_correct

    def new_in_top(self, cutoff: int) -> IntArray:
        """Return the number of new positives in the top `cutoff` of each list.

        int64 [n_queries].
        """
        queries = self.new_queries[self.new_ranks <= cutoff]
        return np.bincount(queries, minlength=len(self.labelled))


def find_places(lists: RankedLists, judged: Judged, original: Judged) -> Places:
    """Return the ranks of a run's positives, by the labels (`judged`) and by `original`.

    Raises ValueError if the lists are not those of the benchmark.
    """
    positive = look_up_gains(lists, judged) >= 1
    is_original = look_up_gains(lists, original) >= 1
    queries, columns = np.nonzero(positive & ~is_original)
    return Places(
        _first_ranks(is_original),
        _first_ranks(positive),
        queries.astype(np.int32),
        (columns + 1).astype(np.int32),
    )


def _first_ranks(positive: BoolArray) -> Ranks:
    if not positive.shape[1]:
        return np.zeros(len(positive), np.int32)
    ranks = np.argmax(positive, axis=1) + 1
    return np.where(positive.any(axis=1), ranks, 0).astype(np.int32)


def select_by_correctness(
    show: str,
    runs: Mapping[str, Places],
    pair: tuple[str, str] | None,
    cutoff: int,
    *,
    by_labels: bool = True,
) -> BoolArray:
    """Select the queries on which certain runs are correct, bool [n_queries].

    show: ALL selects every query. FIRST and SECOND select the queries on which only that run of
    `pair` is correct, and DIFFER those on which exactly one of the two is. EVERY selects the
    queries on which all runs are correct, and NEITHER those on which no run is.

    Raises ValueError if `show` has another value, if it needs a pair and `pair` is None, or if
    there is no run.
    """
    right = {name: run.right(cutoff, by_labels=by_labels) for name, run in runs.items()}
    every: BoolArray = np.all(list(right.values()), axis=0)
    some: BoolArray = np.any(list(right.values()), axis=0)
    if show == ALL:
        return np.ones(len(every), np.bool_)
    if show == EVERY:
        return every
    if show == NEITHER:
        return ~some
    if show not in NEEDS_PAIR or pair is None:
        raise ValueError(f"{show!r} is not a choice, or needs two runs")
    first, second = right[pair[0]], right[pair[1]]
    selected: dict[str, BoolArray] = {
        FIRST: first & ~second,
        SECOND: second & ~first,
        DIFFER: first != second,
    }
    return selected[show]


def changed_by_labels(effect: str, runs: Mapping[str, Places], cutoff: int) -> BoolArray:
    """Select the queries on which the labels have a certain effect, bool [n_queries].

    effect: ANY selects every query. NEW selects the queries with a new positive in the top k of a
    run. TURNED selects the queries on which a run is correct according to the original positives
    but not according to the labels, or the reverse. Raises ValueError if the effect has another
    value.
    """
    has_new: BoolArray = new_in_tops(runs, cutoff) > 0
    if effect == NEW:
        return has_new
    turned: BoolArray = np.any(
        [run.right(cutoff) != run.right(cutoff, by_labels=False) for run in runs.values()], axis=0
    )
    if effect == TURNED:
        return turned
    if effect != ANY:
        raise ValueError(f"{effect!r} is not a choice")
    return np.ones(len(turned), np.bool_)


def new_in_tops(runs: Mapping[str, Places], cutoff: int) -> IntArray:
    """Return the number of new positives in the top `cutoff` of all runs together.

    int64 [n_queries]. A video that several runs contain counts once for each.
    """
    counts: IntArray = np.sum([run.new_in_top(cutoff) for run in runs.values()], axis=0)
    return counts


def in_order(
    queries: IntArray,
    order: str,
    runs: Mapping[str, Places],
    pair: tuple[str, str] | None,
    cutoff: int,
    lengths: IntArray,
) -> IntArray:
    """Sort queries, int64 [m]. Queries with equal sort keys keep their order.

    order: BENCHMARK keeps the order. CHANGED puts the queries with the most new positives first.
    BY_DISTANCE puts those queries first for which the rank of the first positive, according to the
    labels, differs most between the two runs of `pair`. SHORT puts queries with short captions
    first, LONG those with long ones. lengths: int64 [n_queries], the length of each caption.

    Raises ValueError if `order` has another value, or if it needs a pair and `pair` is None.
    """
    if order == BENCHMARK:
        return queries
    if order == CHANGED:
        keys = -new_in_tops(runs, cutoff)
    elif order in (SHORT, LONG):
        keys = lengths if order == SHORT else -lengths
    elif order == BY_DISTANCE and pair is not None:
        keys = -_rank_distance(runs[pair[0]], runs[pair[1]])
    else:
        raise ValueError(f"{order!r} is not a choice, or needs two runs")
    return queries[np.argsort(keys[queries], kind="stable")]


def _rank_distance(first: Places, second: Places) -> IntArray:
    """Return the difference between the first positive ranks of two runs, int64 [n_queries].

    A list without a positive counts as if its first positive were one rank below the lowest first
    positive of all lists.
    """
    ranks = np.stack([first.labelled, second.labelled]).astype(np.int64)
    ranks[ranks == 0] = ranks.max(initial=0) + 1
    distance: IntArray = np.abs(ranks[0] - ranks[1])
    return distance
