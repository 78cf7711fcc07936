"""Candidate pairs from captions with similar texts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pooling.core.equal_texts import first_equal
from pooling.core.pair_space import PairSpace
from pooling.core.similar_texts import matched_pairs, similar_texts, tf_idf

TEXTS = ["a red dog", "a red dog runs", "a blue cat", "?", "A blue cat."]


def test_weights_are_counts_times_inverse_frequencies() -> None:
    rows = tf_idf(["a a b", "a"]).toarray()
    idf_b = 1 + math.log(3 / 2)  # "a" is in both texts, so its weight is 1
    length = math.hypot(2, idf_b)
    assert rows == pytest.approx(np.array([[2 / length, idf_b / length], [1, 0]]))


def test_nearest_texts_come_first_and_ties_by_number() -> None:
    texts = ["x y", "x y", "x z", "w", "x y"]
    rows, near = similar_texts(texts, 2, 0.1)
    assert list(zip(rows.tolist(), near.tolist(), strict=True)) == [
        (0, 1),
        (0, 4),
        (1, 0),
        (1, 4),
        (2, 0),
        (2, 1),
        (4, 0),
        (4, 1),
    ]
    rows, near = similar_texts(texts, 9, 1)
    assert list(zip(rows.tolist(), near.tolist(), strict=True)) == [
        (0, 1),
        (0, 4),
        (1, 0),
        (1, 4),
        (4, 0),
        (4, 1),
    ]
    assert [len(part) for part in similar_texts([], 2, 0.1)] == [0, 0]


def test_dense_and_sparse_words_give_the_same_similarity(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"w{i % 3} w{i % 5} w{i % 7} w{i}" for i in range(60)]
    found = similar_texts(texts, 5, 0.2)
    for common in (0.0, 1.0):
        monkeypatch.setattr("pooling.core.similar_texts.COMMON", common)
        other = similar_texts(texts, 5, 0.2)
        assert [part.tolist() for part in other] == [part.tolist() for part in found]


def test_captions_are_paired_with_the_videos_of_similar_and_equal_ones() -> None:
    space = PairSpace(n_queries=5, n_videos=5)
    originals = space.encode(np.arange(5), np.arange(5))
    equal = first_equal(TEXTS, "folded")
    found = matched_pairs(TEXTS, equal, originals, space, count=1, lowest=0.5)
    pairs = [tuple(int(part[i]) for part in space.decode(found)) for i in range(len(found))]
    # Captions 2 and 4 are equal. Caption 3 has no word.
    assert pairs == [(0, 1), (1, 0), (2, 4), (4, 2)]
