"""The differences between two label sets of a benchmark, pair by pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from annotation.core.consensus import NO_LABEL
from evaluation.core.files.label_file import Labels

Int64Array = npt.NDArray[np.int64]


class Kind(IntEnum):
    """How a pair differs. A pair that is pending or in conflict has no label.

    SAME: nothing differs. NEW, REMOVED: only the new or only the old label set contains the pair.
    CHANGED: the pair has different labels. GAINED, LOST: it has a label only in the new or only in
    the old label set. SUPPORT: the label is the same or missing in both, and the judgments or the
    source differ.
    """

    SAME = 0
    NEW = 1
    REMOVED = 2
    CHANGED = 3
    GAINED = 4
    LOST = 5
    SUPPORT = 6


@dataclass(frozen=True, slots=True, eq=False)
class LabelDiff:
    """All pairs of two label sets, ascending by code, [n] each.

    codes: int64, pair codes. kinds: int8, values of `Kind`. old, new: int64, the index of the pair
    in the old and in the new label set, or -1 if the label set does not contain the pair.
    """

    codes: Int64Array
    kinds: npt.NDArray[np.int8]
    old: Int64Array
    new: Int64Array

    @property
    def counts(self) -> Mapping[Kind, int]:
        found = np.bincount(self.kinds, minlength=len(Kind)).tolist()
        return {kind: found[kind] for kind in Kind}

    def rows_of(self, kinds: set[Kind]) -> npt.NDArray[np.intp]:
        """Return the indices of the pairs that differ in one of these ways."""
        return np.flatnonzero(np.isin(self.kinds, [int(kind) for kind in kinds]))


def diff_labels(old: Labels, new: Labels) -> LabelDiff:
    """Compare two label sets of one benchmark."""
    codes = np.union1d(old.codes, new.codes)
    at_old, at_new = _places(old.codes, codes), _places(new.codes, codes)
    in_old, in_new = at_old >= 0, at_new >= 0
    both = in_old & in_new
    before, after = (
        np.where(inside, labels.labels[at] if len(labels.labels) else NO_LABEL, NO_LABEL)
        for labels, at, inside in ((old, at_old, in_old), (new, at_new, in_new))
    )
    had, has = before != NO_LABEL, after != NO_LABEL
    kinds = np.select(
        [
            ~in_old,
            ~in_new,
            had & has & (before != after),
            ~had & has,
            had & ~has,
            both & _support_differs(old, new, at_old, at_new),
        ],
        [Kind.NEW, Kind.REMOVED, Kind.CHANGED, Kind.GAINED, Kind.LOST, Kind.SUPPORT],
        Kind.SAME,
    )
    return LabelDiff(codes, kinds.astype(np.int8), at_old, at_new)


def _places(codes: Int64Array, wanted: Int64Array) -> Int64Array:
    """Return the index of each wanted code in `codes`, or -1."""
    if not len(codes):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return np.where(codes[at] == wanted, at, -1)


def _support_differs(
    old: Labels, new: Labels, at_old: Int64Array, at_new: Int64Array
) -> npt.NDArray[np.bool_]:
    """Return whether the source or the judgments of pairs differ.

    The result is valid only for pairs that both label sets contain.
    """
    columns = (
        (old.states, new.states),
        (old.judgments, new.judgments),
        (old.relevant, new.relevant),
    )
    differs = np.zeros(len(at_old), np.bool_)
    if len(old.codes) and len(new.codes):
        for before, after in columns:
            differs |= before[at_old] != after[at_new]
    return differs
