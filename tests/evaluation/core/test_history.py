from __future__ import annotations

import numpy as np

from evaluation.core.history import look_back

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
