"""Which captions to look at when ranked lists are compared side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.positives import finds_one
from evaluation.core.relevance import Judged, look_up_gains

ALL: Final = "all"
FIRST: Final = "first"
SECOND: Final = "second"
NEITHER: Final = "neither"
CHANGED: Final = "changed"
CHOICES: Final = (ALL, FIRST, SECOND, NEITHER, CHANGED)


def choose_queries(
    choice: str,
    runs: Mapping[str, npt.NDArray[Any]],
    judged: Judged,
    original: Judged,
    cutoff: int,
) -> IntArray:
    """Query numbers in the order in which they are to be looked at, int64 [m].

    ALL: every query. FIRST, SECOND: the first two runs differ, and this one has a positive in its
    top `cutoff`. NEITHER: no run has one. CHANGED: the labels brought positives into the tops of
    the runs that are not original, those with the most first. Raises ValueError for other choices,
    and where two runs are needed and not given.
    """
    if choice == ALL:
        return np.arange(judged.n_queries, dtype=np.int64)
    if choice == CHANGED:
        new = _new_positives(runs, judged, original, cutoff)
        order = np.argsort(-new, kind="stable")
        return order[new[order] > 0]
    right = [finds_one(ranked, judged, cutoff) for ranked in runs.values()]
    if choice == NEITHER:
        found: BoolArray = np.any(right, axis=0)
        return np.flatnonzero(~found)
    if choice not in CHOICES or len(right) < 2:
        raise ValueError(f"{choice!r} is no choice, or needs two runs")
    better, worse = (right[0], right[1]) if choice == FIRST else (right[1], right[0])
    return np.flatnonzero(better & ~worse)


def _new_positives(
    runs: Mapping[str, npt.NDArray[Any]], judged: Judged, original: Judged, cutoff: int
) -> IntArray:
    """How many places in the tops of the runs hold positives that are not original, int64
    [n_queries]."""
    counts = np.zeros(judged.n_queries, np.int64)
    for ranked in runs.values():
        top = ranked[:, :cutoff]
        new = (look_up_gains(top, judged) >= 1) & (look_up_gains(top, original) < 1)
        counts += new.sum(axis=1)
    return counts
