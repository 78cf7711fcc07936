"""Labels replayed in an order, and the number of labels after which scores hardly change."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.pools.history import (
    order_as_judged,
    order_at_random,
    order_settled_from,
    replay_labels,
    settled_from,
)

CODES = np.array([1, 4, 6], np.int64)


def test_labels_known_at_each_checkpoint() -> None:
    # Pair 1 has the labels 1, 0 and 1, pair 4 has 0, and pair 6 has 1, which is the last label.
    pair_of = np.array([0, 1, 0, 0, 2], np.int64)
    relevant = np.array([1, 0, 0, 1, 1], np.int64)
    checkpoints = np.array([0, 1, 3, 4, 5], np.int64)
    # The last label of pair 1 was requested because the first two differ.
    is_first = np.array([True, True, True, False, True])
    found = list(
        replay_labels(
            CODES, pair_of, relevant, checkpoints, is_first=is_first, n_queries=2, n_videos=4
        )
    )
    assert [point.labels for point in found] == [0, 1, 3, 4, 5]
    assert [
        dict(zip(point.judged.codes.tolist(), point.judged.gains.tolist(), strict=True))
        for point in found
    ] == [{}, {1: 1}, {4: 0}, {1: 1, 4: 0}, {1: 1, 4: 0, 6: 1}]
    assert [point.opinions.n_labels for point in found] == [0, 1, 3, 3, 4]
    assert [point.opinions.n_multiply_labelled for point in found] == [0, 0, 1, 1, 1]


def test_number_of_labels_after_which_scores_hardly_change() -> None:
    checkpoints = np.array([0, 10, 20, 30])
    scores = np.array([[0.1, 0.3], [0.5, 0.4], [0.49, 0.46], [0.5, 0.45]])
    found = [settled_from(checkpoints, scores, near) for near in (1, 0.06, 0.02, 0.001)]
    assert found == [0, 10, 20, 30]
    assert order_settled_from(checkpoints, scores) == 10
    # A later score is outside of the limit, so earlier checkpoints do not count.
    again = np.array([[0.5], [0.5], [0.1], [0.5]])
    assert settled_from(checkpoints, again, 0.1) == 30
    assert order_settled_from(checkpoints, again) == 0


# Pairs 0 and 1 are in group 0, pairs 2 and 3 in group 1, pair 4 in group 2. Group 3 has no labels.
GROUP_OF = np.array([0, 0, 1, 1, 2], np.int64)
NONE_INCOMPLETE = np.zeros(4, np.bool_)


def test_groups_in_the_order_judged() -> None:
    # The first label is of pair 3, the second pair of group 1. Only the first pair of each group
    # determines the order, so group 0 is first.
    pair_of = np.array([3, 0, 2, 4, 1, 3], np.int64)
    found = order_as_judged(pair_of, GROUP_OF, NONE_INCOMPLETE)
    assert (found.groups.tolist(), found.seen) == ([0, 1, 2], 3)
    # Group 0 is complete after the fifth label, group 1 after the sixth, group 2 after the fourth.
    assert found.labels.tolist() == [5, 6, 6]


def test_incomplete_groups_end_the_sequence() -> None:
    pair_of = np.array([0, 2, 4, 1, 3], np.int64)
    found = order_as_judged(pair_of, GROUP_OF, np.array([False, True, False, True]))
    assert (found.groups.tolist(), found.seen, found.labels.tolist()) == ([0, 1, 2, 3], 1, [4])


def test_groups_in_random_order() -> None:
    pair_of = np.array([3, 0, 2, 4, 1, 3], np.int64)
    labels = np.array([2, 3, 1])
    orders = set()
    for seed in range(30):
        found = order_at_random(pair_of, GROUP_OF, NONE_INCOMPLETE, np.random.default_rng(seed))
        assert found.seen == 3
        assert found.labels.tolist() == np.cumsum(labels[found.groups]).tolist()
        orders.add(tuple(found.groups.tolist()))
    assert len(orders) == 6
    incomplete = np.array([False, False, False, True])
    found = order_at_random(pair_of, GROUP_OF, incomplete, np.random.default_rng(1))
    assert sorted(found.groups.tolist()) == [0, 1, 2, 3]
    assert found.seen == found.groups.tolist().index(3) == len(found.labels)


def test_an_answer_for_several_pairs_counts_once() -> None:
    # One answer is for all pairs of groups 0 and 1, and one for group 2.
    pair_of = np.arange(len(GROUP_OF))
    answer_of = (GROUP_OF == 2).astype(np.int64)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        found = order_at_random(pair_of, GROUP_OF, NONE_INCOMPLETE, rng, answer_of)
        expected = {2: [1, 2, 2], 0: [1, 1, 2], 1: [1, 1, 2]}[int(found.groups[0])]
        if found.groups.tolist().index(2) == 1:
            expected = [1, 2, 2]
        assert found.labels.tolist() == expected


def test_without_labels_there_are_no_groups() -> None:
    nothing, none_incomplete = np.array([], np.int64), np.zeros(0, np.bool_)
    found = order_as_judged(nothing, nothing, none_incomplete)
    assert (found.groups.tolist(), found.seen, found.labels.tolist()) == ([], 0, [])


def test_groups_with_many_pairs_are_not_earlier() -> None:
    """If pairs are in random order, groups are, too, whatever their number of pairs."""
    rng = np.random.default_rng(3)
    group_of = np.repeat([0, 1], [30, 1])
    first = [
        order_as_judged(rng.permutation(31), group_of, np.zeros(2, np.bool_)).groups[0]
        for _ in range(1000)
    ]
    assert np.mean(first) == pytest.approx(0.5, abs=0.05)
