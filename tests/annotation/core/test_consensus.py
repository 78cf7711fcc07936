"""What several labels come to: by hand, and against the rule said another way."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.consensus import NO_LABEL, Outcome, decide, decide_all, majority_labels


@pytest.mark.parametrize(
    ("labels", "planned", "labels_max", "outcome"),
    [
        # One label is planned: it decides alone.
        ([], 1, 3, Outcome("open", None, 1)),
        ([0], 1, 3, Outcome("resolved", 0, 1)),
        ([1], 1, 1, Outcome("resolved", 1, 1)),
        # Two are planned: both are waited for, and a third is asked for where they differ.
        ([], 2, 3, Outcome("open", None, 2)),
        ([1], 2, 3, Outcome("open", None, 2)),
        ([1, 1], 2, 3, Outcome("resolved", 1, 2)),
        ([1, 0], 2, 3, Outcome("open", None, 3)),
        ([1, 0, 0], 2, 3, Outcome("resolved", 0, 3)),
        ([1, 0, 1], 2, 3, Outcome("resolved", 1, 3)),
        # Without a majority, up to as many as the campaign allows; then it is a conflict.
        ([1, 0], 2, 2, Outcome("conflicted", None, 2)),
        ([3, 1, 0], 2, 3, Outcome("conflicted", None, 3)),
        ([3, 1, 0], 2, 5, Outcome("open", None, 4)),
        ([3, 1, 0, 0], 2, 5, Outcome("open", None, 5)),
        ([3, 1, 0, 0, 0], 2, 5, Outcome("resolved", 0, 5)),
        ([3, 1, 0, 0, 1], 2, 5, Outcome("conflicted", None, 5)),
        # Half is not more than half.
        ([2, 2, 1, 1], 4, 4, Outcome("conflicted", None, 4)),
        ([2, 2, 2, 1], 4, 4, Outcome("resolved", 2, 4)),
    ],
)
def test_outcome_of_labels(
    labels: list[int], planned: int, labels_max: int, outcome: Outcome
) -> None:
    assert decide(labels, planned=planned, labels_max=labels_max) == outcome


@given(
    st.lists(st.integers(0, 3), max_size=6),
    st.integers(1, 4),
    st.integers(1, 6),
    st.randoms(use_true_random=False),
)
def test_outcome_does_not_depend_on_the_order_of_the_labels(
    labels: list[int], planned: int, labels_max: int, random: object
) -> None:
    shuffled = list(labels)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    outcome = decide(labels, planned=planned, labels_max=labels_max)

    assert decide(shuffled, planned=planned, labels_max=labels_max) == outcome
    assert (outcome.state == "open") == (outcome.required > len(labels))
    assert (outcome.state == "resolved") == (outcome.label is not None)


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=7), min_size=1, max_size=8))
def test_majority_of_many_pairs_is_that_of_each(pairs: list[list[int]]) -> None:
    counts = np.array([[labels.count(value) for value in range(4)] for labels in pairs])
    expected = [
        next((label for label, n in Counter(labels).items() if 2 * n > len(labels)), -1)
        for labels in pairs
    ]
    assert majority_labels(counts).tolist() == expected


def test_a_pair_without_a_label_has_no_majority() -> None:
    assert majority_labels(np.zeros((1, 2), dtype=np.int64)).tolist() == [-1]


@given(
    tasks=st.lists(
        st.tuples(st.lists(st.integers(0, 2), max_size=6), st.integers(1, 4)), max_size=12
    ),
    labels_max=st.integers(1, 6),
)
def test_many_tasks_are_decided_as_each(
    tasks: list[tuple[list[int], int]], labels_max: int
) -> None:
    counts = np.array([np.bincount(labels, minlength=3) for labels, _ in tasks]).reshape(-1, 3)
    planned = np.array([planned for _, planned in tasks], np.int64)
    found = decide_all(counts.astype(np.int64), planned=planned, labels_max=labels_max)
    for place, (labels, wanted) in enumerate(tasks):
        outcome = decide(labels, planned=wanted, labels_max=labels_max)
        state = "open" if found.is_open[place] else "resolved"
        state = "conflicted" if found.is_conflict[place] else state
        label = None if found.labels[place] == NO_LABEL else int(found.labels[place])
        assert Outcome(state, label, int(found.required[place])) == outcome
        assert found.given[place] == len(labels)
