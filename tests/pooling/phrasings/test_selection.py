"""Selection of phrasings, on a worked example with five vectors."""

from __future__ import annotations

import numpy as np
import pytest

from pooling.phrasings.core.selection import Selector, farthest, k_dpp, select, tf_idf

A, B, C, D, E, F = range(6)
VECTORS = np.array(
    [[1, 0, 0], [0.96, 0.28, 0], [0.8, 0.6, 0], [0.8, 0, 0.6], [0.6, 0.64, 0.48], [0.36, 0.48, 0.8]]
)


def test_farthest_query_sampling() -> None:
    assert farthest(VECTORS, 5) == [A, F, C, D, E, B]
    assert farthest(VECTORS.astype(np.float32), 2) == [A, F, C]
    assert select(VECTORS, 2, Selector.FQS) == [A, F, C]
    assert farthest(VECTORS[:1], 2) == [A]


def test_greedy_k_dpp_ends_at_the_rank() -> None:
    kernel = VECTORS @ VECTORS.T
    assert k_dpp(kernel, 4) == [A, F, C]
    assert select(VECTORS, 3, Selector.KDPP) == [A, F, C]
    assert np.linalg.det(kernel[np.ix_([A, F, C], [A, F, C])]) == pytest.approx(0.2304)


def test_the_quality_decides_the_first_item_of_k_dpp() -> None:
    quality = np.array([1, 1, 1, 1, 1.1, 1])
    assert k_dpp(VECTORS @ VECTORS.T * np.outer(quality, quality), 1) == [E]


def test_a_random_selection_keeps_the_original() -> None:
    found = select(VECTORS, 3, Selector.RANDOM, np.random.default_rng(1))
    assert found == select(VECTORS, 3, Selector.RANDOM, np.random.default_rng(1))
    assert found[0] == A
    assert len(set(found)) == 4
    with pytest.raises(ValueError, match="random generator"):
        select(VECTORS, 3, Selector.RANDOM)


def test_tf_idf() -> None:
    vectors = tf_idf(["A dog", "a cat a", ""])
    rare = np.log(4 / 2) + 1
    often = np.log(4 / 3) + 1
    first = np.array([often, 0, rare])  # a, cat, dog
    second = np.array([2 * often, rare, 0])
    assert vectors[0] == pytest.approx(first / np.linalg.norm(first))
    assert vectors[1] == pytest.approx(second / np.linalg.norm(second))
    assert vectors[2].tolist() == [0, 0, 0]
