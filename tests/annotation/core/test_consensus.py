"""The consensus rule: worked examples, and a comparison with a simple version for one pair."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.consensus import NO_LABEL, State, count_values, resolve

N_LABELS = 4


@dataclass(frozen=True)
class Outcome:
    state: State
    label: int | None
    required: int


def outcome_of(
    labels: list[int], planned: int, labels_max: int, *, threshold: int = 1, ruling: int = NO_LABEL
) -> Outcome:
    """Return the outcome of one pair."""
    found = resolve(
        np.bincount(labels, minlength=N_LABELS).reshape(1, -1),
        np.array([planned]),
        np.array([ruling]),
        labels_max=labels_max,
        threshold=threshold,
    )
    assert found.n_labels.tolist() == [len(labels)]
    label = int(found.labels[0])
    return Outcome(
        State(found.states[0]), None if label == NO_LABEL else label, int(found.required[0])
    )


PENDING, RESOLVED, CONFLICTED = State.PENDING, State.RESOLVED, State.CONFLICTED


@pytest.mark.parametrize(
    ("labels", "planned", "labels_max", "outcome"),
    [
        # One label is planned, so it decides.
        ([], 1, 3, Outcome(PENDING, None, 1)),
        ([0], 1, 3, Outcome(RESOLVED, 0, 1)),
        ([1], 1, 1, Outcome(RESOLVED, 1, 1)),
        # Two labels are planned. If they differ, a third is needed.
        ([], 2, 3, Outcome(PENDING, None, 2)),
        ([1], 2, 3, Outcome(PENDING, None, 2)),
        ([1, 1], 2, 3, Outcome(RESOLVED, 1, 2)),
        ([1, 0], 2, 3, Outcome(PENDING, None, 3)),
        ([1, 0, 0], 2, 3, Outcome(RESOLVED, 0, 3)),
        ([1, 0, 1], 2, 3, Outcome(RESOLVED, 1, 3)),
        # Without a majority at the maximum, the pair is in conflict. Half is not a majority.
        ([1, 0], 2, 2, Outcome(CONFLICTED, None, 2)),
        ([1, 1, 0, 0], 4, 4, Outcome(CONFLICTED, None, 4)),
        # Graded: 1, 2 and 3 agree that the pair is relevant, and the median is its label.
        ([1, 2, 3], 3, 3, Outcome(RESOLVED, 2, 3)),
        ([3, 1], 2, 3, Outcome(RESOLVED, 1, 2)),
        ([3, 3, 2, 1], 4, 4, Outcome(RESOLVED, 2, 4)),
        ([3, 1, 0], 2, 3, Outcome(RESOLVED, 1, 3)),
        ([3, 0], 2, 3, Outcome(PENDING, None, 3)),
        ([3, 1, 0, 0], 2, 5, Outcome(PENDING, None, 5)),
        ([3, 1, 0, 0, 0], 2, 5, Outcome(RESOLVED, 0, 5)),
        ([2, 2, 1, 0, 0, 0], 2, 6, Outcome(CONFLICTED, None, 6)),
    ],
)
def test_outcome_of_labels(
    labels: list[int], planned: int, labels_max: int, outcome: Outcome
) -> None:
    assert outcome_of(labels, planned, labels_max) == outcome


def test_threshold_divides_the_labels_into_two_sides() -> None:
    assert outcome_of([1, 1, 3], 3, 3, threshold=2) == Outcome(RESOLVED, 1, 3)
    assert outcome_of([0, 1, 1], 3, 3, threshold=2) == Outcome(RESOLVED, 1, 3)
    assert outcome_of([1, 3], 2, 2, threshold=2) == Outcome(CONFLICTED, None, 2)


def test_ruling_decides_whatever_the_labels_are() -> None:
    for labels in ([], [1], [1, 0], [0, 0, 0]):
        assert outcome_of(labels, 2, 3, ruling=1).state == State.ADJUDICATED
        assert outcome_of(labels, 2, 3, ruling=1).label == 1


def test_maximum_may_differ_from_pair_to_pair() -> None:
    counts = np.array([[1, 1], [1, 1]])
    found = resolve(counts, np.array([2, 2]), labels_max=np.array([2, 3]))
    assert found.states.tolist() == [CONFLICTED, PENDING]


def test_without_pairs_there_are_no_outcomes() -> None:
    found = resolve(np.empty((0, 2), np.int64), np.empty(0, np.int64), labels_max=3)
    assert len(found.states) == len(found.labels) == 0


def simple_outcome(labels: list[int], planned: int, labels_max: int, threshold: int) -> Outcome:
    """Return the outcome of one pair by a simple version of the rule."""
    if len(labels) < planned:
        return Outcome(PENDING, None, planned)
    relevant = sum(label >= threshold for label in labels)
    if relevant * 2 != len(labels):
        return Outcome(RESOLVED, statistics.median_low(labels), len(labels))
    if len(labels) < labels_max:
        return Outcome(PENDING, None, len(labels) + 1)
    return Outcome(CONFLICTED, None, len(labels))


@given(
    pairs=st.lists(
        st.tuples(st.lists(st.integers(0, 3), max_size=7), st.integers(1, 4)),
        min_size=1,
        max_size=12,
    ),
    labels_max=st.integers(1, 6),
    threshold=st.integers(1, 3),
)
def test_many_pairs_have_the_same_outcomes_as_single_pairs(
    pairs: list[tuple[list[int], int]], labels_max: int, threshold: int
) -> None:
    pair_of = np.repeat(np.arange(len(pairs)), [len(labels) for labels, _ in pairs])
    flat = np.array([label for labels, _ in pairs for label in labels], np.int64)
    found = resolve(
        count_values(pair_of, flat, len(pairs), N_LABELS),
        np.array([planned for _, planned in pairs]),
        labels_max=labels_max,
        threshold=threshold,
    )
    for place, (labels, planned) in enumerate(pairs):
        expected = simple_outcome(labels, planned, labels_max, threshold)
        label = NO_LABEL if expected.label is None else expected.label
        assert found.states[place] == expected.state
        assert found.labels[place] == label
        assert found.required[place] == expected.required
        # The median lies on the side that has the majority.
        if expected.label is not None:
            assert 2 * sum((other >= threshold) == (label >= threshold) for other in labels) > len(
                labels
            )
