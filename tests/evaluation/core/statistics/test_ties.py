"""Values that are equal except for rounding errors."""

from __future__ import annotations

import numpy as np
from scipy import stats

from evaluation.core.statistics.ties import merge_ties, rank_systems, signs_of


def test_signs_ignore_rounding_errors() -> None:
    assert signs_of([0.1 + 0.2 - 0.3, -1e-12, 0.0, 1e-6, -0.5]).tolist() == [0, 0, 0, 1, -1]


def test_ties_are_merged_in_place() -> None:
    merged = merge_ties([0.5, 0.3, 0.1 + 0.2, 0.5 + 1e-12, 0.5 + 1e-6])
    assert merged.tolist() == [0.5, 0.3, 0.3, 0.5, 0.5 + 1e-6]
    assert merge_ties([]).tolist() == []


def test_equal_systems_share_the_better_rank() -> None:
    means = np.array([[0.5, 0.1], [0.7, 0.2], [0.5 + 1e-12, 0.3], [0.2, 0.4]])
    assert rank_systems(means).T.tolist() == [[2, 1, 2, 4], [4, 3, 2, 1]]
    drawn = np.random.default_rng(1).integers(0, 4, (6, 50)).astype(float)
    expected = stats.rankdata(-drawn, method="min", axis=0)
    assert rank_systems(drawn).tolist() == expected.tolist()
