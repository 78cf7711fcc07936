"""Values of queries, some of which are undefined, and their mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.relevance.measure import Score

NO_RELEVANT: Final = "no item has a relevance above 0"
NO_FULL: Final = "no item has the relevance 1"
NO_OWN: Final = "the query has no own item"
NO_VARIATION: Final = "all values of a proxy are equal"
NO_QUERY_LEFT: Final = "the value is undefined for every query"


@dataclass(frozen=True, slots=True, eq=False)
class QueryValues:
    """The values of the queries for which a measure is defined.

    queries: numbers of these queries, int64 [n], ascending. values: float64 [n].
    left_out: the number of the other queries. reason: why the measure is undefined for them.
    """

    queries: IntArray
    values: FloatArray
    left_out: int
    reason: str

    @classmethod
    def of(cls, values: FloatArray, is_defined: BoolArray, reason: str) -> QueryValues:
        """Return the values of the queries for which `is_defined` is true, [n_queries] each."""
        queries = np.flatnonzero(is_defined)
        return cls(queries, values[queries], len(values) - len(queries), reason)

    def mean(self) -> Score:
        """Return the mean over the queries with a value."""
        if not len(self.values):
            return Score(None, 0, NO_QUERY_LEFT)
        return Score(float(self.values.mean()), len(self.values))
