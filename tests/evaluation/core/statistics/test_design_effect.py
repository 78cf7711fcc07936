"""Design effects, by hand and of simulated clusters."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.statistics.design_effect import Clustering, measure_clustering


def test_a_design_effect_by_hand() -> None:
    # Two videos have two captions each, and one video has one. The mean of the values is 0.6. The
    # deviations from it are 0.4 and 0.4, 0.4 and -0.6, and -0.6. Their sums by video are 0.8, -0.2
    # and -0.6, whose squares have the sum 1.04. The variance by videos is 1.04 * 3/2 / 5 = 0.312,
    # and the variance by captions is 0.3.
    values = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    found = measure_clustering([values], [7, 7, 2, 2, 5])
    assert found is not None
    assert (found.clusters, found.mean_size, found.weighted_size) == (3, 5 / 3, 9 / 5)
    assert found.effect == pytest.approx(1.04, abs=1e-12)
    assert found.icc == pytest.approx(0.04 / 0.8, abs=1e-12)
    # The variances of two samples are added. The other sample's variance by captions is 0.3, too.
    # Its sums by video are -0.2, -0.2 and 0.4, so its variance by videos is 0.24 * 3/2 / 5 = 0.072.
    other = np.array([1.0, 0.0, 1.0, 0.0, 1.0])
    both = measure_clustering([values, other], [7, 7, 2, 2, 5])
    assert both is not None
    assert both.effect == pytest.approx((0.312 + 0.072) / 0.6, abs=1e-12)


def test_independent_captions_have_no_design_effect() -> None:
    values = np.array([0.5, 0.1, 0.9])
    assert measure_clustering([values], None) == Clustering(3, 1.0, 1.0, 1.0)
    singles = measure_clustering([values], [3, 1, 2])
    assert singles is not None
    assert (singles.effect, singles.icc) == (pytest.approx(1.0, abs=1e-12), None)


def test_a_single_video_equal_values_and_wrong_lengths() -> None:
    assert measure_clustering([np.array([0.0, 1.0])], [1, 1]) is None
    equal = measure_clustering([np.full(4, 0.1)], [1, 1, 2, 2])
    assert equal is not None
    assert (equal.effect, equal.planned_effect) == (1.0, 1.0)
    with pytest.raises(ValueError, match="2 clusters for 3 queries"):
        measure_clustering([np.array([0.0, 1.0, 1.0])], [1, 2])


def test_the_correlation_within_simulated_videos_is_found() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 40, 4000)
    videos = np.repeat(np.arange(len(sizes)), sizes)
    # The variance is 0.2 between videos and 0.8 within.
    values = np.sqrt(0.2) * rng.standard_normal(len(sizes))[videos]
    values += np.sqrt(0.8) * rng.standard_normal(len(videos))
    found = measure_clustering([values], videos)
    assert found is not None
    assert found.icc == pytest.approx(0.2, abs=0.01)
    # The variance of the sum of all values, divided by the variance that the sum would have if the
    # values were independent.
    expected = (np.square(sizes).sum() * 0.2 + sizes.sum() * 0.8) / sizes.sum()
    assert found.effect == pytest.approx(expected, rel=0.05)
