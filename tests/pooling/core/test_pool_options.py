"""The options of a pool: samples, original positives, and the pairs that a budget prefers."""

from __future__ import annotations

import numpy as np

from pooling.core.pair_space import PairSpace
from pooling.core.pool import NOT_RANKED
from pooling.core.pool_options import PoolOptions, Priority, in_or_out, is_drawn


def test_budget_prefers_pairs_of_more_systems_and_then_better_ranks() -> None:
    codes = np.array([0, 1, 2, 5, 9])
    priority = Priority(codes)
    # Two runs of one system count as one system; their better rank counts.
    none = NOT_RANKED
    priority.add_system(
        [
            np.array([0, none, 1, 0, none], np.int32),
            np.array([1, none, 0, none, none], np.int32),
        ]
    )
    priority.add_system([np.array([1, 0, none, none, none], np.int32)])
    assert priority.n_systems.tolist() == [2, 1, 1, 1, 0]
    assert priority.best[:4].tolist() == [0, 0, 0, 0]
    assert priority.first(codes, 1, seed=0).tolist() == [0]
    # Three pairs have equal priority, so a seeded hash selects one. Unranked pairs come last.
    assert [priority.first(codes, 2, seed).tolist() for seed in (0, 1, 2, 3)] == [
        [0, 2],
        [0, 1],
        [0, 5],
        [0, 2],
    ]
    assert priority.first(codes, 4, seed=0).tolist() == [0, 1, 2, 5]
    assert priority.first(codes[3:], 9, seed=0).tolist() == [5, 9]


def test_best_rank_decides_between_pairs_of_the_same_number_of_systems() -> None:
    priority = Priority(np.array([0, 1, 2]))
    priority.add_system([np.array([1, 2, 0], np.int32)])
    for seed in range(8):
        assert priority.first(np.array([0, 1, 2]), 2, seed).tolist() == [0, 2]


def test_samples_of_captions_and_videos_are_drawn_by_different_seeds() -> None:
    space = PairSpace(n_queries=20, n_videos=20)
    codes = np.arange(space.n_pairs)
    both = codes[is_drawn(codes, space, PoolOptions(depth=1, sample=5, video_sample=5, seed=1))]
    captions, videos = space.decode(both)
    assert sorted(set(captions.tolist())) == [4, 8, 10, 14, 15]  # as in test_pool.py
    assert len(set(videos.tolist())) == 5
    assert set(videos.tolist()) != {4, 8, 10, 14, 15}
    assert len(both) == 25


def test_original_positives_are_added_or_left_out() -> None:
    codes, originals = np.array([1, 3, 5]), np.array([3, 4])
    assert in_or_out(codes, originals, "ranked").tolist() == [1, 3, 5]
    assert in_or_out(codes, originals, "added").tolist() == [1, 3, 4, 5]
    assert in_or_out(codes, originals, "left-out").tolist() == [1, 5]
