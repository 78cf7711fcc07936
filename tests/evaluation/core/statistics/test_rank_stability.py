"""Stability of ranks between two label sets, by hand and compared with plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.core.people.agreement import Estimate
from evaluation.core.people.alpha import NO_VARIATION, Interval
from evaluation.core.statistics import rank_stability as stability
from evaluation.core.statistics.rank_stability import NOT_TWO_SYSTEMS, SystemRank, rank_stability


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_rounding_noise_moves_no_rank() -> None:
    # The mean is the same, but summed in another order. Exact comparison would give the ranks 2, 1
    # under one label set and 1, 1 under the other.
    first = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
    noisy = first + np.array([[0.0], [1e-12]])
    found = rank_stability(first, noisy, 50, rng=rng_of(1))
    assert [(row.original, row.labelled) for row in found.ranks] == [(1, 1), (1, 1)]
    assert found.tau == Estimate(None, NO_VARIATION)


def test_tau_of_each_column_equals_scipy() -> None:
    first, second = rng_of(2).integers(1, 5, (2, 5, 200))
    expected = [stats.kendalltau(a, b).statistic for a, b in zip(first.T, second.T, strict=True)]
    np.testing.assert_allclose(stability._tau_b(first, second), expected, rtol=0, atol=1e-12)


def test_rank_stability_by_hand() -> None:
    # The last two systems change places under the other labels, on every query.
    original = np.tile([[0.9], [0.5], [0.4]], 8)
    labelled = np.tile([[0.9], [0.6], [0.8]], 8)
    found = rank_stability(original, labelled, 50, rng=rng_of(0))
    assert found.tau == Estimate(pytest.approx(1 / 3, abs=1e-15))
    assert (found.interval.low, found.interval.high) == pytest.approx((1 / 3, 1 / 3), abs=1e-15)
    assert (found.interval.resamples, found.interval.skipped) == (50, 0)
    assert found.same_order == 0.0
    assert found.ranks == (
        SystemRank(1, 1, (1, 1), (1, 1)),
        SystemRank(2, 3, (2, 2), (3, 3)),
        SystemRank(3, 2, (3, 3), (2, 2)),
    )
    assert rank_stability(original, original, 50, rng=rng_of(0)).same_order == 1.0


def test_rank_stability_equals_a_plain_loop() -> None:
    rng = rng_of(3)
    original = (rng.random((4, 300)) < np.array([[0.5], [0.52], [0.56], [0.4]])).astype(float)
    labelled = np.maximum(original, rng.random((4, 300)) < 0.3)
    taus, same, ranks = [], 0, []
    for _ in range(2000):
        draw = rng.integers(0, 300, 300)
        before, after = original[:, draw].mean(axis=1), labelled[:, draw].mean(axis=1)
        taus.append(stats.kendalltau(before, after).statistic)
        ranks.append(stats.rankdata(-after, method="min"))
        same += bool(np.all(stats.rankdata(-before, method="min") == ranks[-1]))
    found = rank_stability(original, labelled, 4000, rng=rng)
    whole = stats.kendalltau(original.mean(axis=1), labelled.mean(axis=1)).statistic
    assert found.tau == Estimate(pytest.approx(whole, abs=1e-12))
    assert (found.interval.low, found.interval.high) == pytest.approx(
        tuple(np.quantile(taus, [0.025, 0.975])), abs=0.2
    )
    assert found.same_order == pytest.approx(same / 2000, abs=0.05)
    bounds = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    assert [row.labelled_interval for row in found.ranks] == list(
        zip(*bounds.astype(int).tolist(), strict=True)
    )


def test_rank_stability_skips_resamples_without_an_order() -> None:
    # With two queries, half of the resamples draw one query twice. For one of the queries, all
    # systems tie, so a quarter of the resamples are skipped.
    original = np.array([[1.0, 0.0], [0.0, 0.0]])
    found = rank_stability(original, original, 4000, rng=rng_of(1))
    assert found.interval.skipped == pytest.approx(1000, abs=120)
    assert (found.interval.low, found.interval.high, found.interval.resamples) == (1.0, 1.0, 4000)
    assert found.tau == Estimate(1.0)


@pytest.mark.parametrize(
    ("original", "reason"),
    [([[1.0, 0.0]], NOT_TWO_SYSTEMS), ([[1.0, 0.0], [1.0, 0.0]], NO_VARIATION)],
)
def test_rank_stability_is_undefined_with_a_reason(
    original: list[list[float]], reason: str
) -> None:
    found = rank_stability(original, original, 100, rng=rng_of(0))
    assert found.tau == Estimate(None, reason)
    assert found.interval == Interval(None, None, 0.95, 100, 100, reason)
    assert found.ranks == tuple(SystemRank(1, 1, (1, 1), (1, 1)) for _ in original)


def test_rank_stability_rejects_bad_input() -> None:
    values = np.zeros((2, 4))
    with pytest.raises(ValueError, match="must score the same systems on the same queries"):
        rank_stability(values, values[:, :3], rng=rng_of(0))
    with pytest.raises(ValueError, match="no systems to rank"):
        rank_stability(values[:0], values[:0], rng=rng_of(0))
