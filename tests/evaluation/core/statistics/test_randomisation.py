"""The randomisation test, compared with scipy, with all sign assignments and with limits."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.core.arrays import FloatArray
from evaluation.core.statistics import randomisation, resampling
from evaluation.core.statistics.randomisation import PValue, randomisation_test


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def randomise(differences: Any, draws: int = 10_000, **keywords: Any) -> PValue:
    return randomisation_test(differences, draws, rng=rng_of(1), **keywords)


def p_by_enumeration(units: FloatArray) -> float:
    """Return p by enumerating all sign assignments."""
    signs = np.array(list(product([-1, 1], repeat=len(units))))
    return float(np.mean(np.abs(signs @ units) >= abs(units.sum()) * (1 - 1e-12)))


@given(wins=st.integers(0, 3000), losses=st.integers(0, 3000), ties=st.integers(0, 50))
def test_wins_and_losses_give_the_sign_test(wins: int, losses: int, ties: int) -> None:
    differences = np.repeat([1.0, -1.0, 0.0], [wins, losses, ties])
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    found = randomise(differences)
    assert found.is_exact
    # scipy's sum of a tail is exact to about ten digits.
    assert found.p == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_sign_test_by_hand_and_with_tiny_p() -> None:
    # With five wins of five, two of 32 assignments are as far from 0.
    assert randomise([1, 1, 1, 1, 1, 0]) == PValue(pytest.approx(0.0625, rel=1e-12), 0)
    assert randomise([1, 1, -1]) == PValue(1.0, 0)
    assert randomise(np.ones(300)).p == pytest.approx(2.0**-299, rel=1e-9)
    # 2^-4999 is too small for a float, but p is never 0.
    assert 0 < randomise(np.ones(5000)).p < 1e-300
    assert randomise([0.0, 0.0]) == PValue(1.0, 0)
    assert randomise([]) == PValue(1.0, 0)


def test_sign_test_of_many_queries_equals_scipy() -> None:
    differences = np.repeat([1.0, -1.0], [139_400, 138_230])
    expected = stats.binomtest(139_400, 277_630).pvalue
    assert randomise(differences).p == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 301, 20_000])
def test_fair_binomial_equals_scipy(n: int) -> None:
    chances = randomisation._fair_binomial(n)
    assert chances.shape == (n + 1,)
    expected = stats.binom.pmf(np.arange(n + 1), n, 0.5)
    np.testing.assert_allclose(chances, expected, rtol=1e-9, atol=1e-15)


@given(st.lists(st.integers(-6, 6), max_size=11))
def test_whole_numbers_are_counted_exactly(units: list[int]) -> None:
    found = randomise(units)
    assert found == PValue(pytest.approx(p_by_enumeration(np.array(units, float)), abs=1e-12), 0)


@given(st.lists(st.sampled_from([-0.7, -0.25, 0.0, 0.1, 0.3, 1 / 3]), max_size=10))
def test_few_differences_are_enumerated(units: list[float]) -> None:
    found = randomise(units)
    assert found == PValue(pytest.approx(p_by_enumeration(np.array(units)), abs=1e-12), 0)


@pytest.mark.parametrize("seed", range(3))
def test_randomisation_equals_scipy(seed: int) -> None:
    rng = rng_of(seed)
    values, others = rng.random((2, 11))
    exact = stats.permutation_test(
        (values, others),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=math.inf,
    )
    assert randomise(values - others).p == pytest.approx(exact.pvalue, abs=1e-9)


@pytest.mark.parametrize("shift", [0.0, 0.01, 0.025])
def test_sampled_signs_equal_the_normal_limit(shift: float) -> None:
    differences = rng_of(2).normal(shift, 0.3, 2003)
    found = randomise(differences, 40_000)
    assert found.draws == 40_000
    expected = 2 * stats.norm.sf(abs(differences.sum()) / np.sqrt(np.square(differences).sum()))
    assert found.p == pytest.approx(expected, abs=0.012)


def test_sampled_signs_equal_the_exact_share(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = rng_of(7).normal(0.2, 0.5, 19)
    exact = randomise(differences)
    monkeypatch.setattr(randomisation, "_ENUMERATED", 0)
    found = randomise(differences, 50_000)
    assert (exact.is_exact, found.is_exact) == (True, False)
    assert found.p == pytest.approx(exact.p, abs=4 * math.sqrt(exact.p / 50_000))


def test_sampled_signs_are_fair_and_independent() -> None:
    """A sum of powers of two determines all signs. 19 numbers are two groups of 8 and a rest."""
    sums = randomisation._sampled_sums(2.0 ** np.arange(19), 20_000, rng_of(3))
    positive = (((sums + 2**19 - 1) / 2).astype(np.int64)[:, None] >> np.arange(19)) & 1
    assert positive.mean(axis=0) == pytest.approx(np.full(19, 0.5), abs=0.016)
    correlation = np.corrcoef(positive.T) - np.eye(19)
    assert np.abs(correlation).max() < 0.032


@pytest.mark.parametrize("groups", [2, 64])
def test_signs_of_many_numbers_are_drawn_by_group(
    groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With only two groups, much of the variance is deviation from the means of the groups."""
    monkeypatch.setattr(resampling, "_GROUPS", groups)
    units = rng_of(8).normal(0.1, 1.0, 10_000)
    sums = randomisation._sampled_sums(units, 20_000, rng_of(3))
    deviation = math.sqrt(float(units @ units))
    assert sums.mean() == pytest.approx(0, abs=4 * deviation / math.sqrt(20_000))
    assert sums.std() == pytest.approx(deviation, rel=0.02)
    assert stats.kstest(sums / deviation, "norm").pvalue > 0.01


def test_a_few_large_differences_among_many_small_ones_keep_their_signs() -> None:
    """Each of the eight sign assignments of three large differences has its own distribution."""
    small, large = rng_of(5).uniform(-0.02, 0.02, 9000), np.array([5.0, -3.0, 2.0])
    differences = np.concatenate([small, large])
    observed, others = abs(differences.sum()), stats.norm(0, math.sqrt(float(small @ small)))
    shifts = [float(np.dot(signs, large)) for signs in product([-1, 1], repeat=3)]
    expected = np.mean(
        [others.sf(observed - shift) + others.cdf(-observed - shift) for shift in shifts]
    )
    assert randomise(differences, 40_000).p == pytest.approx(expected, abs=0.01)


def test_the_observed_signs_count_among_the_draws() -> None:
    differences = np.linspace(0.5, 1.5, 60)
    assert randomise(differences, 999) == PValue(1 / 1000, 999)


def test_clusters_change_their_sign_together() -> None:
    # The sums of the clusters are 3, -1 and 0.
    differences, clusters = [1, 1, 1, -1, 1, -1], [5, 5, 5, 2, 9, 9]
    assert randomise(differences, clusters=clusters).p == pytest.approx(
        p_by_enumeration(np.array([3.0, -1.0])), abs=1e-12
    )
    rng = rng_of(4)
    members = rng.integers(0, 14, 400)
    values = rng.integers(-1, 2, 400).astype(float)
    sums = np.array([values[members == cluster].sum() for cluster in range(14)])
    found = randomise(values, clusters=members)
    assert found == PValue(pytest.approx(p_by_enumeration(sums), abs=1e-12), 0)


def test_false_alarms_have_the_stated_rate() -> None:
    rng = rng_of(5)
    zero_ones = [randomise(rng.integers(-1, 2, 300)).p for _ in range(800)]
    sampled = [randomise(rng.normal(0, 1, 60), 400).p for _ in range(400)]
    assert 0.02 < np.mean(np.array(zero_ones) <= 0.05) < 0.075
    assert 0.02 < np.mean(np.array(sampled) <= 0.05) < 0.09
