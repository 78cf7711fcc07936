"""How much the result of a system depends on the wording of a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pooling.core.arrays import Int64s

TopItems = tuple[Int64s, Int64s]
"""The queries of a phrasing with a list, ascending, and the first item of each; int64 [n]."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The share of queries with a positive at rank 1, over phrasings.

    correct: the share for each phrasing, among its queries with a list. n_lists: their number.
    changed: the share of queries whose first item differs between their phrasings, among those with
    a list for another phrasing than 0. None if there are none.
    """

    correct: dict[int, float]
    n_lists: dict[int, int]
    changed: float | None

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.correct.values())))

    @property
    def best(self) -> float:
        return max(self.correct.values())

    @property
    def worst(self) -> float:
        return min(self.correct.values())


def spread_of(tops: Mapping[int, TopItems], positives: Int64s, n_items: int) -> Spread:
    """Return the spread over phrasings. positives: pair codes. tops[0]: the original phrasing."""
    correct, originals = {}, tops[0]
    compared: list[Int64s] = []
    changed: list[Int64s] = []
    for number, (queries, items) in tops.items():
        hits = np.isin(queries * n_items + items, positives)
        correct[number] = float(hits.mean()) if len(hits) else 0.0
        both, own, first = np.intersect1d(queries, originals[0], return_indices=True)
        if number:
            compared.append(both)
            changed.append(both[items[own] != originals[1][first]])
    n_compared = len(np.unique(np.concatenate(compared))) if compared else 0
    return Spread(
        correct,
        {number: len(queries) for number, (queries, _) in tops.items()},
        len(np.unique(np.concatenate(changed))) / n_compared if n_compared else None,
    )
