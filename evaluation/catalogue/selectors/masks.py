"""The conditions of filters, as one boolean for each caption or video."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.catalogue.enums import JudgedPairs, Positives
from evaluation.catalogue.selectors.counts import Counts
from evaluation.core.arrays import BoolArray, IntArray
from pooling.core.packing import unpack_numbers
from pooling.models import Benchmark, Tag


def within_limits(values: npt.NDArray[Any], least: float | None, most: float | None) -> BoolArray:
    """Return which values lie within the limits. NaN lies outside any limit."""
    kept = np.ones(len(values), np.bool_)
    if least is not None:
        kept &= values >= least
    if most is not None:
        kept &= values <= most
    return kept


def have_positives(counts: IntArray, wanted: str) -> BoolArray:
    """Return for each count whether a value of `Positives` selects it.

    An empty value selects all.
    """
    kept: BoolArray
    match wanted:
        case Positives.NONE:
            kept = counts == 0
        case Positives.ONE:
            kept = counts == 1
        case Positives.SEVERAL:
            kept = counts > 1
        case _:
            kept = np.ones(len(counts), np.bool_)
    return kept


def are_judged(counts: Counts, wanted: str) -> BoolArray:
    """Return which captions or videos a value of `JudgedPairs` selects.

    An empty value selects all.
    """
    is_pooled = counts.pairs > 0
    kept: BoolArray
    match wanted:
        case JudgedPairs.ALL:
            kept = is_pooled & (counts.judged == counts.pairs)
        case JudgedPairs.SOME:
            kept = (counts.judged > 0) & (counts.judged < counts.pairs)
        case JudgedPairs.NONE:
            kept = is_pooled & (counts.judged == 0)
        case JudgedPairs.NOT_POOLED:
            kept = ~is_pooled
        case _:
            kept = np.ones(len(is_pooled), np.bool_)
    return kept


def are_among(numbers: Iterable[int] | npt.NDArray[Any], n_all: int) -> BoolArray:
    """Return which of the numbers 0..n_all-1 are among `numbers`."""
    found = np.zeros(n_all, np.bool_)
    found[numbers if isinstance(numbers, np.ndarray) else list(numbers)] = True
    return found


def tagged_numbers(benchmark: Benchmark, name: str) -> npt.NDArray[np.int32]:
    """Return the numbers of the captions with a tag, ascending."""
    tag = Tag.objects.get(benchmark=benchmark, name=name)
    return unpack_numbers(bytes(tag.queries))
