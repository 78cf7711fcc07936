"""Sub-samples of whole videos."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.core.statistics.design_effect import measure_clustering
from evaluation.core.statistics.pilot import measure_pilot
from evaluation.core.statistics.planner import captions_needed
from evaluation.core.statistics.resampling import (
    SubSamples,
    draw_sub_samples,
    normal_quantile,
)
from evaluation.core.statistics.sub_samples import (
    clusters_to_draw,
    draw_cluster_sub_samples,
    paired_sub_samples,
    smallest_tested_difference,
)


def test_videos_for_a_number_of_captions() -> None:
    # Three videos have five captions, 5/3 on average.
    clusters = [7, 7, 2, 2, 5]
    assert [clusters_to_draw(size, clusters, 5) for size in (1, 2, 3, 5, 10)] == [1, 1, 2, 3, 6]
    with pytest.raises(ValueError, match="3 clusters for 5 queries"):
        clusters_to_draw(2, [1, 2, 3], 5)


def test_whole_videos_are_drawn() -> None:
    """One of two videos is drawn. The first has three captions, and the second has one."""
    values = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0]]
    drawn = draw_cluster_sub_samples(
        values, 2, 4000, rng=np.random.default_rng(1), clusters=[4, 4, 4, 9]
    )
    first = drawn[0].means == 1 / 3
    assert first.mean() == pytest.approx(0.5, abs=0.03)
    assert np.all(drawn[0].means[~first] == 1)
    # Both systems have the same videos.
    assert np.array_equal(drawn[1].means == 2 / 3, first)
    difference = paired_sub_samples(*drawn)
    assert difference.size == 2
    assert difference.means[first] == pytest.approx(-1 / 3, abs=1e-12)
    assert np.all(difference.means[~first] == 0)


def test_the_deviation_grows_by_the_design_effect() -> None:
    rng = np.random.default_rng(2)
    videos = np.repeat(np.arange(300), rng.integers(5, 16, 300))
    share = rng.beta(2, 2, 300)[videos]
    values = (rng.random(len(videos)) < share).astype(float)
    clustering = measure_clustering([values], videos)
    assert clustering is not None
    (drawn,) = draw_cluster_sub_samples(values[None], 1000, 20_000, rng=rng, clusters=videos)
    expected = math.sqrt(clustering.effect * values.var() / 1000)
    assert clustering.effect > 2
    assert drawn.deviation == pytest.approx(expected, rel=0.03)
    assert drawn.mean == pytest.approx(values.mean(), abs=0.003)


@pytest.mark.parametrize("by_video", [False, True])
def test_the_smallest_difference_is_that_of_the_planner(by_video: bool) -> None:
    """With a power of one half, the planner returns the size of the sub-samples."""
    rng = np.random.default_rng(3)
    videos = np.repeat(np.arange(500), 8)
    kinds = rng.choice(3, (500, 2), p=[0.35, 0.1, 0.55])[:, [0, 0, 0, 0, 1, 1, 1, 1]].reshape(-1)
    values, others = (kinds == 0).astype(float), (kinds == 1).astype(float)
    size, differences = 2000, values - others
    if by_video:
        both = draw_cluster_sub_samples([values, others], size, 20_000, rng=rng, clusters=videos)
        drawn = paired_sub_samples(*both)
    else:
        drawn = draw_sub_samples(differences, size, 20_000, rng=rng)
    smallest = smallest_tested_difference(drawn, differences)
    # The expected difference is .25. The variance around it is .3875, and around 0 it is .45.
    assert smallest / (normal_quantile(0.95) * drawn.deviation) == pytest.approx(
        math.sqrt(np.square(differences).mean() / differences.var()), abs=1e-9
    )
    pilot = measure_pilot(values, others, "paired", clusters=videos if by_video else None)
    assert pilot is not None
    assert captions_needed(pilot, smallest, power=0.5) == pytest.approx(size, rel=0.04)


def test_equal_differences_have_a_smallest_significant_difference() -> None:
    drawn = SubSamples(100, np.full(10, 0.5))
    found = smallest_tested_difference(drawn, np.full(40, 0.5))
    assert found == pytest.approx(1.959964 * 0.5 / 10, abs=1e-6)
    assert smallest_tested_difference(drawn, np.zeros(40)) == 0


@pytest.mark.parametrize(("size", "resamples"), [(0, 10), (5, 1)])
def test_sub_samples_of_videos_refuse_bad_parameters(size: int, resamples: int) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="sub-samples need values, a size of at least 1 and two"):
        draw_cluster_sub_samples([[1.0, 0.0]], size, resamples, rng=rng, clusters=[0, 1])
    with pytest.raises(ValueError, match="sub-samples need values, a size of at least 1 and two"):
        draw_cluster_sub_samples(np.empty((1, 0)), 5, 10, rng=rng, clusters=[])
