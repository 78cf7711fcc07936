from __future__ import annotations

import numpy as np

from evaluation.core.history import look_back, order_settled_from, settled_from

CODES = np.array([1, 4, 6], np.int64)


def test_what_was_known_when() -> None:
    # Pair 1: relevant, not, relevant. Pair 4: not. Pair 6: relevant, at the very end.
    pair_of = np.array([0, 1, 0, 0, 2], np.int64)
    relevant = np.array([1, 0, 0, 1, 1], np.int64)
    moments = np.array([0, 1, 3, 4, 5], np.int64)
    found = list(look_back(CODES, pair_of, relevant, moments, n_queries=2, n_videos=4))
    assert [one.labels for one in found] == [0, 1, 3, 4, 5]
    assert [
        dict(zip(one.judged.codes.tolist(), one.judged.gains.tolist(), strict=True))
        for one in found
    ] == [{}, {1: 1}, {4: 0}, {1: 1, 4: 0}, {1: 1, 4: 0, 6: 1}]
    assert [one.opinions.n_labels for one in found] == [0, 1, 3, 4, 5]
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
