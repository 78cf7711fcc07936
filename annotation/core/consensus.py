"""The rule that decides the outcome of a pair from its labels.

Campaigns, drafts, label sets, agreement and analyses all call `resolve`, which applies these rules:

1. A lead's ruling decides.
2. Without a ruling, a pair with fewer labels than planned is pending.
3. If more than half of the labels are relevant (at or above the threshold), or more than half are
   not relevant, the pair is resolved. Its label is the median of all its labels, which is always on
   the side of the majority. If the number of labels is even, the median is the lower of the two
   labels in the middle.
4. Without a majority, the pair is pending while it may get another label. Otherwise it is in
   conflict.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

NO_LABEL = -1

Int64Array = npt.NDArray[np.int64]


class State(IntEnum):
    PENDING = 0
    RESOLVED = 1
    CONFLICTED = 2
    ADJUDICATED = 3


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """The number of pairs with each outcome, counting only pairs with an answer or a ruling."""

    resolved: int = 0
    pending: int = 0
    conflicted: int = 0
    adjudicated: int = 0

    @classmethod
    def of(cls, states: npt.NDArray[np.integer]) -> OutcomeCounts:
        """Count the values of `State` in an array."""
        return cls(**{state.name.lower(): int((states == state).sum()) for state in State})

    @property
    def settled(self) -> int:
        """The number of resolved and adjudicated pairs."""
        return self.resolved + self.adjudicated

    @property
    def unsettled(self) -> int:
        return self.pending + self.conflicted

    def __add__(self, other: OutcomeCounts) -> OutcomeCounts:
        return OutcomeCounts(
            self.resolved + other.resolved,
            self.pending + other.pending,
            self.conflicted + other.conflicted,
            self.adjudicated + other.adjudicated,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The outcomes of n pairs. Each field is an array [n].

    states: int8, values of `State`. labels: int8, `NO_LABEL` for a pending or conflicted pair.
    required: int64, the number of labels that the pair needs in total. n_labels: int64, the number
    of labels that it has.
    """

    states: npt.NDArray[np.int8]
    labels: npt.NDArray[np.int8]
    required: Int64Array
    n_labels: Int64Array


def resolve(
    counts: npt.NDArray[np.integer],
    planned: npt.NDArray[np.integer],
    rulings: npt.NDArray[np.integer] | None = None,
    *,
    labels_max: npt.NDArray[np.integer] | int,
    threshold: int = 1,
) -> Outcomes:
    """Decide the outcome of each pair.

    counts: [n, n_values], the number of labels of each value. planned: [n], the number of labels
    that a pair needs before its labels can decide. rulings: [n], a lead's label or `NO_LABEL`.
    labels_max: the number of labels at which a pair without a majority is in conflict; one number
    for all pairs, or [n]. threshold: the lowest label that is relevant.

    For pairs that get no further labels, pass the number of their labels as `planned` and as
    `labels_max`.
    """
    n_labels = counts.sum(axis=1, dtype=np.int64)
    lacks_planned = n_labels < np.maximum(planned, 1)
    relevant = counts[:, threshold:].sum(axis=1, dtype=np.int64)
    is_tied = ~lacks_planned & (2 * relevant == n_labels)
    gets_another = is_tied & (n_labels < labels_max)
    states = np.where(is_tied, State.CONFLICTED, State.RESOLVED)
    states[lacks_planned | gets_another] = State.PENDING
    labels = np.where(states == State.RESOLVED, _medians(counts, n_labels), NO_LABEL)
    if rulings is not None:
        ruled = rulings != NO_LABEL
        states[ruled], labels[ruled] = State.ADJUDICATED, rulings[ruled]
    return Outcomes(
        states=states.astype(np.int8),
        labels=labels.astype(np.int8),
        required=np.where(lacks_planned, planned, n_labels + gets_another).astype(np.int64),
        n_labels=n_labels,
    )


def complete(n_answers: Int64Array, planned: Int64Array) -> Outcomes:
    """Return the outcomes of items whose answers need not agree.

    An item is resolved without a label when it has the planned number of answers. n_answers: [n],
    the number of answers to each item. planned: [n], as for `resolve`.
    """
    return Outcomes(
        states=np.where(n_answers < planned, State.PENDING, State.RESOLVED).astype(np.int8),
        labels=np.full(len(n_answers), NO_LABEL, np.int8),
        required=planned,
        n_labels=n_answers,
    )


def count_values(
    pair_of: Int64Array, labels: npt.NDArray[np.integer], n_pairs: int, width: int
) -> Int64Array:
    """Count the labels of each value for each pair, int64 [n_pairs, width].

    pair_of, labels: [n_labels], the pair of each label and its value from 0 to width - 1.
    """
    cells = np.bincount(pair_of * width + labels, minlength=n_pairs * width)
    return np.asarray(cells.reshape(n_pairs, width), np.int64)


def places_within(groups: Int64Array) -> Int64Array:
    """Number the members of each group from 0 in the order of the array, int64 [n].

    groups: int64 [n], the group of each element.
    """
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(groups)))
    places = np.empty(len(groups), np.int64)
    places[order] = np.arange(len(groups)) - np.repeat(starts, sizes)
    return places


def _medians(counts: npt.NDArray[np.integer], n_labels: Int64Array) -> Int64Array:
    """Return the lower median label of each pair [n], arbitrary for pairs without labels."""
    at_most = counts.cumsum(axis=1)
    middle = np.maximum(n_labels - 1, 0) // 2
    return np.asarray((at_most > middle[:, None]).argmax(axis=1), np.int64)
