"""Results as JSON objects."""

from __future__ import annotations

from typing import Any

from evaluation.core.arrays import FloatArray
from evaluation.core.people.alpha import Interval

Result = dict[str, Any]


def mean_of(values: FloatArray) -> float | None:
    """Return a mean as JSON; null if there are no values."""
    return float(values.mean()) if len(values) else None


def ends(interval: Interval) -> list[float] | None:
    """Return an interval as JSON; null if it is undefined."""
    if interval.low is None or interval.high is None:
        return None
    return [interval.low, interval.high]
