"""Spans of videos, and how much two spans overlap in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Bools, Float32s, Float64s, Int64s

Seconds = npt.NDArray[np.floating[Any]]

# Times in files have at most eight decimals.
_DECIMALS: Final = 9


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """n spans of pairs, ordered by code, start, end and person.

    codes: int64 [n], pair codes. starts, ends: float64 [n], seconds. people: int64 [n], who marked
    each span; 0 is the truth of a file. grades: float64 [n], grades of spans, or None.
    """

    codes: Int64s
    starts: Float64s
    ends: Float64s
    people: Int64s
    grades: Float64s | None = None

    @classmethod
    def of(
        cls,
        codes: npt.ArrayLike,
        starts: npt.ArrayLike,
        ends: npt.ArrayLike,
        people: npt.ArrayLike | None = None,
        grades: npt.ArrayLike | None = None,
    ) -> Self:
        """Return the spans in their order. Raises ValueError unless all 0 <= start < end."""
        code, start = np.asarray(codes, np.int64), np.asarray(starts, np.float64)
        end = np.asarray(ends, np.float64)
        person = np.zeros(len(code), np.int64) if people is None else np.asarray(people, np.int64)
        grade = None if grades is None else np.asarray(grades, np.float64)
        if not (np.isfinite(end) & (start >= 0) & (start < end)).all():
            raise ValueError("a span needs 0 <= start < end")
        order = np.lexsort((person, end, start, code))
        kept = None if grade is None else grade[order]
        return cls(code[order], start[order], end[order], person[order], kept)

    @classmethod
    def none(cls) -> Self:
        return cls.of([], [], [])

    def __len__(self) -> int:
        return len(self.codes)

    def only(self, kept: Bools | Int64s | slice) -> Spans:
        """Return some of the spans, from flags [n], places or a slice."""
        grades = None if self.grades is None else self.grades[kept]
        return Spans(
            self.codes[kept], self.starts[kept], self.ends[kept], self.people[kept], grades
        )

    def equals(self, other: Spans) -> bool:
        """Return whether both have the same spans."""
        names = (*_ARRAYS, "grades")
        return all(_same(getattr(self, n), getattr(other, n)) for n in names)

    def joined(self, other: Spans) -> Spans:
        """Return the spans of both."""
        grades = None
        if self.grades is not None and other.grades is not None:
            grades = np.concatenate([self.grades, other.grades])
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in _ARRAYS
        }
        return Spans.of(**columns, grades=grades)


_ARRAYS: Final = ("codes", "starts", "ends", "people")


def hull_overlap(starts: Seconds, ends: Seconds, others: Seconds, other_ends: Seconds) -> Seconds:
    """Return the common time divided by the time from the first start to the last end.

    The arrays are broadcast, and the numbers keep their type. The result is 0 if the divisor is 0.
    """
    common = np.minimum(ends, other_ends) - np.maximum(starts, others)
    hull = np.maximum(ends, other_ends) - np.minimum(starts, others)
    np.maximum(common, 0, out=common)
    found: Seconds = np.divide(common, hull, out=np.zeros_like(common), where=hull > 0)
    return found


def union_overlap(starts: Seconds, ends: Seconds, others: Seconds, other_ends: Seconds) -> Seconds:
    """Return the common time divided by the time that either of two spans covers.

    It differs from `hull_overlap` only by rounding, because spans without common time have 0.
    """
    common = np.minimum(ends, other_ends) - np.maximum(starts, others)
    np.maximum(common, 0, out=common)
    union = (ends - starts) + (other_ends - others) - common
    found: Seconds = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
    return found


def decimals(values: Float32s) -> Float64s:
    """Return the shortest decimal number of each float32, as float64.

    Times in files have few digits, for example 24.3. The float64 of that text is the time that
    evaluators in float64 read, and not the float64 of its float32.
    """
    exact = values.astype(np.float64)
    found = exact.copy()
    open_ = np.ones(values.shape, np.bool_)
    for places in range(_DECIMALS):
        rounded = np.round(exact, places)
        reached = open_ & (rounded.astype(np.float32) == values)
        found[reached] = rounded[reached]
        open_ &= ~reached
        if not open_.any():
            break
    return found


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one, other))
