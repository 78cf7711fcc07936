"""Intervals of shares, by caption and by video."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.statistics.proportions import (
    effective_size,
    jackknife_deviation,
    paired_interval,
    wilson_interval,
)
from evaluation.core.statistics.resampling import difference_interval, mean_interval

Z = float(stats.norm.ppf(0.975))


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- Single captions ------------------------------------------------------------------------------


@given(n=st.integers(1, 5000), share=st.floats(0, 1), confidence=st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_equals_scipy(n: int, share: float, confidence: float) -> None:
    right = round(share * n)
    z = float(stats.norm.ppf((1 + confidence) / 2))
    peer = stats.binomtest(right, n).proportion_ci(confidence, "wilson")
    low, high = wilson_interval(right / n, n, z)
    assert (low, high) == pytest.approx((peer.low, peer.high), abs=1e-12)


def test_correct_on_all_queries_is_not_certain() -> None:
    found = mean_interval(np.ones(30), rng=rng_of(0))
    # z^2 / (30 + z^2) = 3.8415 / 33.8415
    assert (found.low, found.high) == pytest.approx((1 - 3.841459 / 33.841459, 1.0), abs=1e-6)
    none = mean_interval(np.zeros(30), rng=rng_of(0))
    assert (none.low, none.high) == pytest.approx((0.0, 3.841459 / 33.841459), abs=1e-6)
    assert (found.method, none.method) == ("wilson", "wilson")


@pytest.mark.parametrize(("n", "share"), [(300, 0.97), (670, 0.97), (670, 0.99), (3000, 0.99)])
def test_wilson_covers_near_saturation(n: int, share: float) -> None:
    """The coverage is exact, computed over all numbers of correct captions."""
    right = np.arange(n + 1)
    ends = [wilson_interval(value / n, n, Z) for value in right]
    holds = [low <= share <= high for low, high in ends]
    assert 0.93 <= float(stats.binom.pmf(right, n, share)[holds].sum()) <= 0.97


def test_paired_interval_by_hand() -> None:
    # 12 of 100 queries are won and 4 lost. The interval adds one of each: 13 / 102 and 5 / 102.
    low, high = paired_interval(0.12, 0.04, 100, Z)
    half = Z * math.sqrt((18 / 102 - (8 / 102) ** 2) / 102)
    assert (low, high) == pytest.approx((8 / 102 - half, 8 / 102 + half), abs=1e-12)


def test_systems_without_a_difference_have_an_interval() -> None:
    found = difference_interval(np.ones(30), np.ones(30), rng=rng_of(0))
    half = Z * math.sqrt(2 / 32 / 32)
    assert (found.low, found.high) == pytest.approx((-half, half), abs=1e-9)
    assert found.method == "paired"


@pytest.mark.parametrize("shares", [(0.2, 0.2), (0.05, 0.05), (0.03, 0.01), (0.1, 0.02)])
def test_paired_interval_covers(shares: tuple[float, float]) -> None:
    won, lost = shares
    drawn = rng_of(1).multinomial(300, [won, lost, 1 - won - lost], size=4000)[:, :2] / 300
    ends = [paired_interval(one, other, 300, Z) for one, other in drawn.tolist()]
    covered = np.mean([low <= won - lost <= high for low, high in ends])
    assert 0.93 <= covered <= 0.975


# --- Videos with several captions -----------------------------------------------------------------


def draw_videos(
    rng: np.random.Generator, n_videos: int, captions: int, share: float, alike: float
) -> tuple[FloatArray, IntArray]:
    """Draw values 0 and 1 with mean `share` and correlation `alike` within videos."""
    sizes = 1 + rng.negative_binomial(2, 2 / (1 + captions), n_videos)
    spread = (1 - alike) / alike
    chance = rng.beta(share * spread, (1 - share) * spread, n_videos)
    videos = np.repeat(np.arange(n_videos), sizes)
    return (rng.random(len(videos)) < chance[videos]).astype(float), videos


@pytest.mark.parametrize(
    ("n_videos", "captions", "share", "alike", "most"),
    [
        # The design effects are about 7 to 13. On MSVD, that of C@5 is 5 to 10.
        (8, 14, 0.5, 0.3, 0.97),
        (12, 14, 0.8, 0.3, 0.97),
        (19, 14, 0.5, 0.3, 0.97),
        (19, 41, 0.9, 0.15, 0.97),
        (100, 14, 0.8, 0.3, 0.97),
        (300, 14, 0.97, 0.3, 0.97),
        (300, 14, 0.99, 0.3, 0.97),
        (670, 41, 0.97, 0.2, 0.97),
        (670, 41, 0.99, 0.1, 0.97),
        # There are few videos and hardly any failures, so the interval is wide.
        (12, 14, 0.97, 0.3, 1.0),
        (19, 14, 0.99, 0.3, 1.0),
    ],
)
def test_a_share_by_video_covers(
    n_videos: int, captions: int, share: float, alike: float, most: float
) -> None:
    rng = rng_of(n_videos)
    trials = 500 if n_videos > 200 else 1500
    covered = 0
    for _ in range(trials):
        values, videos = draw_videos(rng, n_videos, captions, share, alike)
        found = mean_interval(values, rng=rng, clusters=videos)
        covered += found.low <= share <= found.high  # type: ignore[operator]
    assert 0.93 - 0.01 <= covered / trials <= most + 0.01


def test_by_caption_the_coverage_is_too_low() -> None:
    rng = rng_of(1)
    drawn = [draw_videos(rng, 300, 14, 0.9, 0.3)[0] for _ in range(300)]
    found = [mean_interval(values, rng=rng) for values in drawn]
    assert np.mean([interval.low <= 0.9 <= interval.high for interval in found]) < 0.64  # type: ignore[operator]


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_if_nothing_varies_each_video_counts_once(share: float) -> None:
    values, videos = np.full(60, share), np.repeat(np.arange(20), 3)
    found = mean_interval(values, rng=rng_of(0), clusters=videos)
    extra = float(stats.t.ppf(0.975, 19)) ** 2 / 20
    end = extra / (1 + extra)
    expected = (0.0, end) if share == 0 else (1 - end, 1.0)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)
    none = difference_interval(values, values, rng=rng_of(0), clusters=videos)
    size = 20 * (Z / float(stats.t.ppf(0.975, 19))) ** 2
    assert none.high == pytest.approx(Z * math.sqrt(2 / (size + 2) / (size + 2)), abs=1e-12)


def test_effective_size_by_hand() -> None:
    # Four videos have two captions each, of which 2, 1, 0 and 2 are correct: p = 5/8.
    values = np.array([1.0, 1, 1, 0, 0, 0, 1, 1])
    videos = np.repeat(np.arange(4), 2)
    # The shares without one video are 3/6, 4/6, 5/6 and 3/6. With all videos, the share is 5/8.
    away = np.array([3, 4, 5, 3]) / 6 - 5 / 8
    variance = 3 / 4 * float(away @ away)
    assert jackknife_deviation(np.array([2.0, 1, 0, 2]), np.full(4, 2.0)) == pytest.approx(
        math.sqrt(variance), abs=1e-12
    )
    # Two videos contain a wrong caption, so t has 2 degrees of freedom and is 4.303. If each of the
    # four videos counts once, t has 3 degrees of freedom and is 3.182. The larger size is returned.
    found = effective_size(values, videos, 0.95, Z)
    by_variance = 15 / 64 / variance * (Z / 4.302653) ** 2
    least = 4 * (Z / 3.182446) ** 2
    assert by_variance < least
    assert found == pytest.approx(least, rel=1e-6)


def test_videos_of_one_caption_change_nothing_but_the_quantile() -> None:
    values = (rng_of(2).random(2000) < 0.9).astype(float)
    alone = mean_interval(values, rng=rng_of(0), clusters=np.arange(2000))
    plain = mean_interval(values, rng=rng_of(0))
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), abs=2e-4)
