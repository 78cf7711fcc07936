"""Which captions to look at when ranked lists are compared side by side, and in which order.

A run is right on a query within a cut-off if a positive stands in the top of its list. All that is
asked here follows from the ranks of positives, which are found once for a run and a set of labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.relevance.judged import Judged, check_ranked, look_up_gains

ALL: Final = "all"
FIRST: Final = "first"
SECOND: Final = "second"
DIFFER: Final = "differ"
EVERY: Final = "every"
NEITHER: Final = "neither"
OF_TWO: Final = (FIRST, SECOND, DIFFER)

ANY: Final = "any"
NEW: Final = "new"
TURNED: Final = "turned"

BENCHMARK: Final = "benchmark"
CHANGED: Final = "changed"
APART: Final = "apart"
SHORT: Final = "short"
LONG: Final = "long"

Ranks = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where in a run's lists the positives of each query stand; ranks count from 1.

    original, labelled: int32 [n_queries], the rank of the first positive by the original positives
    and by the labels, 0 where the list holds none.
    new_queries, new_ranks: int32 [m], where positives stand that are not original.
    """

    original: Ranks
    labelled: Ranks
    new_queries: Ranks
    new_ranks: Ranks

    def right(self, cutoff: int, *, by_labels: bool = True) -> BoolArray:
        """Whether a positive is in the top `cutoff`, bool [n_queries]."""
        ranks = self.labelled if by_labels else self.original
        found: BoolArray = (ranks > 0) & (ranks <= cutoff)
        return found

    def new_in_top(self, cutoff: int) -> IntArray:
        """How many positives of the top `cutoff` are not original, int64 [n_queries]."""
        queries = self.new_queries[self.new_ranks <= cutoff]
        return np.bincount(queries, minlength=len(self.labelled))


def find_places(ranked: npt.NDArray[Any], judged: Judged, original: Judged) -> Places:
    """The ranks of a run's positives by the labels (`judged`) and by the original positives.

    ranked: int [n_queries, depth], padded with -1. Raises ValueError where it is no run of the
    benchmark.
    """
    check_ranked(ranked, judged)
    positive = look_up_gains(ranked, judged) >= 1
    came_with = look_up_gains(ranked, original) >= 1
    queries, columns = np.nonzero(positive & ~came_with)
    return Places(
        _first_ranks(came_with),
        _first_ranks(positive),
        queries.astype(np.int32),
        (columns + 1).astype(np.int32),
    )


def _first_ranks(positive: BoolArray) -> Ranks:
    if not positive.shape[1]:
        return np.zeros(len(positive), np.int32)
    ranks = np.argmax(positive, axis=1) + 1
    return np.where(positive.any(axis=1), ranks, 0).astype(np.int32)


def who_is_right(
    show: str,
    runs: Mapping[str, Places],
    pair: tuple[str, str] | None,
    cutoff: int,
    *,
    by_labels: bool = True,
) -> BoolArray:
    """The queries on which who is right is as `show` says, bool [n_queries].

    ALL: every query. FIRST, SECOND: of the two runs in `pair` this one alone is right. DIFFER: one
    of the two is. EVERY, NEITHER: all runs are right, none is. Raises ValueError for other choices,
    where there is no run, and where a pair is needed and not given.
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
    if show not in OF_TWO or pair is None:
        raise ValueError(f"{show!r} is no choice, or needs two runs")
    first, second = right[pair[0]], right[pair[1]]
    wanted: dict[str, BoolArray] = {
        FIRST: first & ~second,
        SECOND: second & ~first,
        DIFFER: first != second,
    }
    return wanted[show]


def what_labels_change(effect: str, runs: Mapping[str, Places], cutoff: int) -> BoolArray:
    """The queries that the labels change as `effect` says, bool [n_queries].

    ANY: every query. NEW: a positive that is not original is in the top of a run. TURNED: a run is
    right by the original positives and wrong by the labels, or the other way round.
    """
    brought: BoolArray = new_in_tops(runs, cutoff) > 0
    if effect == NEW:
        return brought
    turned: BoolArray = np.any(
        [run.right(cutoff) != run.right(cutoff, by_labels=False) for run in runs.values()], axis=0
    )
    if effect == TURNED:
        return turned
    if effect != ANY:
        raise ValueError(f"{effect!r} is no choice")
    return np.ones(len(turned), np.bool_)


def new_in_tops(runs: Mapping[str, Places], cutoff: int) -> IntArray:
    """How many places in the tops of the runs hold positives that are not original, int64
    [n_queries]."""
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
    """The same queries, int64 [m], as they are to be looked at; what is equal keeps its order.

    BENCHMARK: as they are. CHANGED: those first in whose tops the labels brought most. APART: those
    first whose first positives by the labels stand farthest apart in the two runs of `pair`.
    SHORT, LONG: by `lengths`, int64 [n_queries]. Raises ValueError for other choices, and where a
    pair is needed and not given.
    """
    if order == BENCHMARK:
        return queries
    if order == CHANGED:
        keys = -new_in_tops(runs, cutoff)
    elif order in (SHORT, LONG):
        keys = lengths if order == SHORT else -lengths
    elif order == APART and pair is not None:
        keys = -_apart(runs[pair[0]], runs[pair[1]])
    else:
        raise ValueError(f"{order!r} is no choice, or needs two runs")
    return queries[np.argsort(keys[queries], kind="stable")]


def _apart(first: Places, second: Places) -> IntArray:
    """By how many ranks the first positives differ; a list without one has it below all others."""
    ranks = np.stack([first.labelled, second.labelled]).astype(np.int64)
    ranks[ranks == 0] = ranks.max(initial=0) + 1
    apart: IntArray = np.abs(ranks[0] - ranks[1])
    return apart
