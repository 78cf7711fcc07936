"""Values of results as JSON, and the keys that the results of several analyses have.

Each analysis declares its result as a `TypedDict`, next to its tables. A result is stored as JSON,
so a `float` of a result can be an `int`, and every tuple is a list.
"""

from __future__ import annotations

from typing import TypeAlias, TypedDict

from evaluation.core.arrays import FloatArray
from evaluation.lab.analyses import tables

Ends: TypeAlias = list[float]
"""The lower and the upper end of an interval."""


Row: TypeAlias = tables.Row


class Resampled(TypedDict):
    """The resampling unit of a result, `captions` or `videos`, and the number of units."""

    unit: str
    units: int


class WithIntervals(Resampled):
    """A result with intervals. confidence: the confidence of all intervals, 0 to 1."""

    confidence: float


class Correlation(TypedDict):
    """The rank correlations of two properties of captions; null if undefined."""

    spearman: float | None
    kendall: float | None


class RunCorrelation(Correlation):
    """The rank correlations of a property of captions with their scores in one run."""

    run: str


def mean_of(values: FloatArray) -> float | None:
    """Return a mean as JSON; null if there are no values."""
    return float(values.mean()) if len(values) else None
