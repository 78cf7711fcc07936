from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.pools.history import (
    look_back,
    order_settled_from,
    settled_from,
    units_as_judged,
    units_drawn,
)

CODES = np.array([1, 4, 6], np.int64)


def test_what_was_known_when() -> None:
    # Pair 1: relevant, not, relevant. Pair 4: not. Pair 6: relevant, at the very end.
    pair_of = np.array([0, 1, 0, 0, 2], np.int64)
    relevant = np.array([1, 0, 0, 1, 1], np.int64)
    moments = np.array([0, 1, 3, 4, 5], np.int64)
    # The last label of pair 1 was requested because the first two differ.
    is_first = np.array([True, True, True, False, True])
    found = list(
        look_back(CODES, pair_of, relevant, moments, is_first=is_first, n_queries=2, n_videos=4)
    )
    assert [one.labels for one in found] == [0, 1, 3, 4, 5]
    assert [
        dict(zip(one.judged.codes.tolist(), one.judged.gains.tolist(), strict=True))
        for one in found
    ] == [{}, {1: 1}, {4: 0}, {1: 1, 4: 0}, {1: 1, 4: 0, 6: 1}]
    assert [one.opinions.n_labels for one in found] == [0, 1, 3, 3, 4]
    assert [one.opinions.n_multiply_labelled for one in found] == [0, 0, 1, 1, 1]


def test_from_when_on_it_was_settled() -> None:
    moments = np.array([0, 10, 20, 30])
    scores = np.array([[0.1, 0.3], [0.5, 0.4], [0.49, 0.46], [0.5, 0.45]])
    found = [settled_from(moments, scores, near) for near in (1, 0.06, 0.02, 0.001)]
    assert found == [0, 10, 20, 30]
    assert order_settled_from(moments, scores) == 10
    # Once more out of bounds, all before counts no more.
    again = np.array([[0.5], [0.5], [0.1], [0.5]])
    assert settled_from(moments, again, 0.1) == 30
    assert order_settled_from(moments, again) == 0


# Pairs 0 and 1 are of unit 0, pairs 2 and 3 of unit 1, pair 4 of unit 2; unit 3 waits.
UNIT_OF = np.array([0, 0, 1, 1, 2], np.int64)
NONE_WAITS = np.zeros(4, np.bool_)


def test_units_in_the_order_judged() -> None:
    # Unit 1's second pair comes first of all, but its first pair stands for it.
    pair_of = np.array([3, 0, 2, 4, 1, 3], np.int64)
    found = units_as_judged(pair_of, UNIT_OF, NONE_WAITS)
    assert (found.units.tolist(), found.seen) == ([0, 1, 2], 3)
    # Unit 0 is complete with the fifth label, unit 1 with the sixth, unit 2 was with the fourth.
    assert found.labels.tolist() == [5, 6, 6]


def test_units_that_wait_for_labels_end_the_sequence() -> None:
    pair_of = np.array([0, 2, 4, 1, 3], np.int64)
    found = units_as_judged(pair_of, UNIT_OF, np.array([False, True, False, True]))
    assert (found.units.tolist(), found.seen, found.labels.tolist()) == ([0, 1, 2, 3], 1, [4])


def test_units_in_a_drawn_order() -> None:
    pair_of = np.array([3, 0, 2, 4, 1, 3], np.int64)
    labels = np.array([2, 3, 1])
    orders = set()
    for seed in range(30):
        found = units_drawn(pair_of, UNIT_OF, NONE_WAITS, np.random.default_rng(seed))
        assert found.seen == 3
        assert found.labels.tolist() == np.cumsum(labels[found.units]).tolist()
        orders.add(tuple(found.units.tolist()))
    assert len(orders) == 6
    waits = np.array([False, False, False, True])
    found = units_drawn(pair_of, UNIT_OF, waits, np.random.default_rng(1))
    assert sorted(found.units.tolist()) == [0, 1, 2, 3]
    assert found.seen == found.units.tolist().index(3) == len(found.labels)


def test_an_answer_for_several_pairs_counts_once() -> None:
    # One answer for all pairs of the units 0 and 1, one for unit 2.
    pair_of = np.arange(len(UNIT_OF))
    answer_of = (UNIT_OF == 2).astype(np.int64)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        found = units_drawn(pair_of, UNIT_OF, NONE_WAITS, rng, answer_of)
        expected = {2: [1, 2, 2], 0: [1, 1, 2], 1: [1, 1, 2]}[int(found.units[0])]
        if found.units.tolist().index(2) == 1:
            expected = [1, 2, 2]
        assert found.labels.tolist() == expected


def test_no_labels_no_units() -> None:
    nothing, none_waits = np.array([], np.int64), np.zeros(0, np.bool_)
    found = units_as_judged(nothing, nothing, none_waits)
    assert (found.units.tolist(), found.seen, found.labels.tolist()) == ([], 0, [])


def test_many_pairs_do_not_bring_a_unit_forward() -> None:
    """In a random order of pairs, units come in random order, whatever their number of pairs."""
    rng = np.random.default_rng(3)
    unit_of = np.repeat([0, 1], [30, 1])
    first = [
        units_as_judged(rng.permutation(31), unit_of, np.zeros(2, np.bool_)).units[0]
        for _ in range(1000)
    ]
    assert np.mean(first) == pytest.approx(0.5, abs=0.05)
