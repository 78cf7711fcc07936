"""What several labels of one pair come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NO_LABEL = -1


@dataclass(frozen=True, slots=True)
class Outcome:
    """`state` is "open", "resolved" or "conflicted"; `label` is set where it is resolved.

    required: labels that the task needs in all, given those it has.
    """

    state: str
    label: int | None
    required: int


def decide(labels: Sequence[int], *, planned: int, labels_max: int) -> Outcome:
    """The outcome of a task's counted labels.

    The planned labels are waited for; then more than half of the labels decide; without such
    a majority one more label is asked for, up to `labels_max`; then it is a conflict.
    """
    given = len(labels)
    if given < planned:
        return Outcome("open", None, planned)
    label, votes = Counter(labels).most_common(1)[0]
    if 2 * votes > given:
        return Outcome("resolved", label, given)
    if given < labels_max:
        return Outcome("open", None, given + 1)
    return Outcome("conflicted", None, given)


def majority_labels(counts: npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
    """The label of more than half of each pair's judgments, int8 [n_pairs]; -1 where none has.

    counts: [n_pairs, n_labels], how often each label was given to each pair.
    """
    best = counts.argmax(axis=1)
    votes = counts[np.arange(len(counts)), best]
    return np.where(2 * votes > counts.sum(axis=1), best, NO_LABEL).astype(np.int8)


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The outcomes of many tasks, [n] each.

    labels: int8, `NO_LABEL` where none is decided. is_open, is_conflict: bool; the others are
    resolved. required: int64, as in `Outcome`. given: int64, the labels that each has.
    """

    labels: npt.NDArray[np.int8]
    is_open: npt.NDArray[np.bool_]
    is_conflict: npt.NDArray[np.bool_]
    required: npt.NDArray[np.int64]
    given: npt.NDArray[np.int64]


def decide_all(
    counts: npt.NDArray[np.integer], *, planned: npt.NDArray[np.integer], labels_max: int
) -> Outcomes:
    """What `decide` says, of many tasks at once.

    counts: [n, n_labels], how often each label was given to each task; planned: [n].
    """
    given = counts.sum(axis=1, dtype=np.int64)
    waits = given < planned
    majority = np.where(waits, NO_LABEL, majority_labels(counts)).astype(np.int8)
    undecided = ~waits & (majority == NO_LABEL)
    asks = undecided & (given < labels_max)
    return Outcomes(
        labels=majority,
        is_open=waits | asks,
        is_conflict=undecided & ~asks,
        required=np.where(waits, planned, np.where(asks, given + 1, given)).astype(np.int64),
        given=given,
    )
