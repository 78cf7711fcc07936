from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.core import significance
from evaluation.core.agreement import Estimate
from evaluation.core.alpha import NO_VARIATION, Interval
from evaluation.core.arrays import FloatArray
from evaluation.core.resampling import ONE_CLUSTER, ONE_QUERY, mean_interval
from evaluation.core.scoring import NO_QUERIES
from evaluation.core.significance import (
    NOT_TWO_SYSTEMS,
    PValue,
    SystemRank,
    check_saturation,
    cohens_d,
    compare_systems,
    holm,
    measure_difference,
    randomisation_test,
    rank_stability,
    rank_systems,
)


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def randomise(differences: Any, draws: int = 10_000, **keywords: Any) -> PValue:
    return randomisation_test(differences, draws, rng=rng_of(1), **keywords)


def p_by_enumeration(units: FloatArray) -> float:
    """Share of all sign assignments, one by one."""
    signs = np.array(list(product([-1, 1], repeat=len(units))))
    return float(np.mean(np.abs(signs @ units) >= abs(units.sum()) * (1 - 1e-12)))


# --- Randomisation test ---------------------------------------------------------------------------


@given(wins=st.integers(0, 3000), losses=st.integers(0, 3000), ties=st.integers(0, 50))
def test_zeros_and_ones_are_the_sign_test(wins: int, losses: int, ties: int) -> None:
    differences = np.repeat([1.0, -1.0, 0.0], [wins, losses, ties])
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    found = randomise(differences)
    assert found.is_exact
    # scipy's own sum of a tail is exact to about ten digits.
    assert found.p == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_sign_test_by_hand_and_far_out() -> None:
    # Five wins of five: two of 32 assignments are as far.
    assert randomise([1, 1, 1, 1, 1, 0]) == PValue(pytest.approx(0.0625, rel=1e-12), 0)
    assert randomise([1, 1, -1]) == PValue(1.0, 0)
    assert randomise(np.ones(300)).p == pytest.approx(2.0**-299, rel=1e-9)
    # 2^-4999 is no float any more; p is never 0.
    assert 0 < randomise(np.ones(5000)).p < 1e-300
    assert randomise([0.0, 0.0]) == PValue(1.0, 0)
    assert randomise([]) == PValue(1.0, 0)


def test_sign_test_of_many_queries_equals_scipy() -> None:
    differences = np.repeat([1.0, -1.0], [139_400, 138_230])
    expected = stats.binomtest(139_400, 277_630).pvalue
    assert randomise(differences).p == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 301, 20_000])
def test_fair_binomial_equals_scipy(n: int) -> None:
    chances = significance._fair_binomial(n)
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
    monkeypatch.setattr(significance, "_ENUMERATED", 0)
    found = randomise(differences, 50_000)
    assert (exact.is_exact, found.is_exact) == (True, False)
    assert found.p == pytest.approx(exact.p, abs=4 * math.sqrt(exact.p / 50_000))


def test_sampled_signs_are_fair_and_independent() -> None:
    """Powers of two: a sum tells all its signs. 19 numbers are two eights and a part of one."""
    sums = significance._sampled_sums(2.0 ** np.arange(19), 20_000, rng_of(3))
    positive = (((sums + 2**19 - 1) / 2).astype(np.int64)[:, None] >> np.arange(19)) & 1
    assert positive.mean(axis=0) == pytest.approx(np.full(19, 0.5), abs=0.016)
    correlation = np.corrcoef(positive.T) - np.eye(19)
    assert np.abs(correlation).max() < 0.032


def test_the_observed_signs_count_among_the_draws() -> None:
    differences = np.linspace(0.5, 1.5, 60)
    assert randomise(differences, 999) == PValue(1 / 1000, 999)


def test_clusters_change_their_sign_together() -> None:
    # Sums of the clusters: 3, -1 and 0.
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


def test_false_alarms_are_as_rare_as_promised() -> None:
    rng = rng_of(5)
    zero_ones = [randomise(rng.integers(-1, 2, 300)).p for _ in range(800)]
    sampled = [randomise(rng.normal(0, 1, 60), 400).p for _ in range(400)]
    assert 0.02 < np.mean(np.array(zero_ones) <= 0.05) < 0.075
    assert 0.02 < np.mean(np.array(sampled) <= 0.05) < 0.09


# --- All figures of a difference ------------------------------------------------------------------


def test_difference_by_hand() -> None:
    found = measure_difference([1.0, 0.0, 1.0, -1.0, 0.5], 4000, rng=rng_of(1))
    assert (found.n, found.wins, found.ties, found.losses) == (5, 3, 1, 1)
    assert found.mean == pytest.approx(0.3, abs=1e-15)
    # Squared deviations from 0.3: 0.49 + 0.09 + 0.49 + 1.69 + 0.04 = 2.8.
    assert found.effect == Estimate(pytest.approx(0.3 / math.sqrt(2.8 / 4), abs=1e-12))
    # Sums of signed 1, 1, 1, 0.5 reach 1.5 unless they are 0.5 or less: in 10 of 16.
    assert found.randomisation == PValue(10 / 16, 0)
    assert found.bootstrap.draws == 4000
    assert found.interval.resamples == 4000


def test_difference_has_the_interval_of_its_mean() -> None:
    differences = rng_of(3).normal(0.1, 1, 400)
    found = measure_difference(differences, 20_000, rng=rng_of(1), confidence=0.9)
    interval = mean_interval(differences, 20_000, rng=rng_of(1), confidence=0.9)
    assert found.interval == interval


@pytest.mark.parametrize("kind", ["0/1", "distinct"])
def test_bootstrap_p_equals_the_normal_limit(kind: str) -> None:
    rng = rng_of(9)
    differences = rng.normal(0.02, 0.4, 1500) if kind == "distinct" else draw_wins(rng, 1500)
    found = measure_difference(differences, 20_000, rng=rng).bootstrap
    expected = 2 * stats.norm.sf(abs(differences.mean()) / stats.sem(differences, ddof=0))
    assert found.p == pytest.approx(expected, abs=0.02)


def draw_wins(rng: np.random.Generator, n: int) -> FloatArray:
    return rng.choice([1.0, 0.0, -1.0], n, p=[0.12, 0.78, 0.1])


def test_clusters_reach_interval_and_tests() -> None:
    differences, clusters = (
        np.repeat(rng_of(6).normal(0.3, 1, 30), 20),
        np.repeat(np.arange(30), 20),
    )
    found = measure_difference(differences, rng=rng_of(1), clusters=clusters)
    once = measure_difference(differences[::20], rng=rng_of(1))
    assert found.bootstrap.p == pytest.approx(once.bootstrap.p, abs=0.02)
    assert found.randomisation.p == pytest.approx(once.randomisation.p, abs=0.02)
    assert found.interval.low == pytest.approx(once.interval.low, abs=0.03)
    assert measure_difference(differences, rng=rng_of(1)).bootstrap.p < 0.001


def test_equal_systems_do_not_differ() -> None:
    found = measure_difference(np.zeros(10), 100, rng=rng_of(0))
    assert found.randomisation == PValue(1.0, 0)
    assert found.bootstrap == PValue(1.0, 100)
    assert found.effect == Estimate(None, NO_VARIATION)
    assert (found.interval.low, found.interval.high, found.ties) == (0.0, 0.0, 10)


def test_effect_of_differences_that_are_alike_but_for_rounding_is_undefined() -> None:
    differences = np.array([0.3 - 0.2, 0.4 - 0.3, 0.1])
    assert len(set(differences.tolist())) == 3
    assert cohens_d(differences) == Estimate(None, NO_VARIATION)


@pytest.mark.parametrize(
    ("differences", "clusters", "message"),
    [
        ([], None, NO_QUERIES),
        ([1], None, ONE_QUERY),
        ([1, 0], [3, 3], ONE_CLUSTER),
        ([1, math.inf], None, "not a finite number"),
    ],
)
def test_difference_refuses_too_little(
    differences: list[float], clusters: list[int] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        measure_difference(differences, rng=rng_of(0), clusters=clusters)


# --- All pairs of systems -------------------------------------------------------------------------


def test_holm_by_hand() -> None:
    # 0.01 * 4; 0.02 * 3; then 0.03 * 2, not below 0.06; 0.9 * 1.
    assert holm([0.03, 0.9, 0.01, 0.02]) == pytest.approx([0.06, 0.9, 0.04, 0.06], abs=1e-15)
    assert holm([0.5, 0.6]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_as_the_procedure_says(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    rejected = set()
    for step, place in enumerate(np.argsort(p_values, kind="stable").tolist()):
        if p_values[place] * (len(p_values) - step) > 0.05:
            break
        rejected.add(place)
    assert set(np.flatnonzero(adjusted <= 0.05).tolist()) == rejected
    assert np.all(adjusted >= p_values)


def test_all_pairs_are_compared_and_corrected() -> None:
    rng = rng_of(8)
    values = (rng.random((3, 500)) < np.array([[0.6], [0.5], [0.49]])).astype(float)
    rows = compare_systems(values, 2000, rng=rng_of(1))
    assert [(row.system, row.other) for row in rows] == [(0, 1), (0, 2), (1, 2)]
    for row in rows:
        difference = values[row.system] - values[row.other]
        assert row.difference.mean == pytest.approx(difference.mean(), abs=1e-15)
        won, lost = int((difference > 0).sum()), int((difference < 0).sum())
        assert (row.difference.wins, row.difference.losses) == (won, lost)
        exact = stats.binomtest(won, won + lost).pvalue
        assert row.difference.randomisation.p == pytest.approx(exact, abs=1e-9)
    expected = holm([row.difference.randomisation.p for row in rows])
    assert [row.adjusted for row in rows] == expected.tolist()
    assert compare_systems(values, 2000, rng=rng_of(1)) == rows
    assert compare_systems(values[:1], rng=rng_of(1)) == ()


# --- Rankings -------------------------------------------------------------------------------------


def test_equal_systems_share_the_better_rank() -> None:
    means = np.array([[0.5, 0.1], [0.7, 0.2], [0.5, 0.3], [0.2, 0.4]])
    assert rank_systems(means).T.tolist() == [[2, 1, 2, 4], [4, 3, 2, 1]]
    drawn = rng_of(1).integers(0, 4, (6, 50)).astype(float)
    expected = stats.rankdata(-drawn, method="min", axis=0)
    assert rank_systems(drawn).tolist() == expected.tolist()


def test_tau_of_each_column_equals_scipy() -> None:
    first, second = rng_of(2).integers(1, 5, (2, 5, 200))
    expected = [stats.kendalltau(a, b).statistic for a, b in zip(first.T, second.T, strict=True)]
    np.testing.assert_allclose(significance._tau_b(first, second), expected, rtol=0, atol=1e-12)


def test_rank_stability_by_hand() -> None:
    # The last two systems change places under the other labels, on every query alike.
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
    # Two queries: in half of the resamples one of them is drawn twice, and one of these ties.
    original = np.array([[1.0, 0.0], [0.0, 0.0]])
    found = rank_stability(original, original, 4000, rng=rng_of(1))
    assert found.interval.skipped == pytest.approx(1000, abs=120)
    assert (found.interval.low, found.interval.high, found.interval.resamples) == (1.0, 1.0, 4000)
    assert found.tau == Estimate(1.0)


@pytest.mark.parametrize(
    ("original", "reason"),
    [([[1.0, 0.0]], NOT_TWO_SYSTEMS), ([[1.0, 0.0], [1.0, 0.0]], NO_VARIATION)],
)
def test_rank_stability_is_undefined_by_name(original: list[list[float]], reason: str) -> None:
    found = rank_stability(original, original, 100, rng=rng_of(0))
    assert found.tau == Estimate(None, reason)
    assert found.interval == Interval(None, None, 0.95, 100, 100, reason)
    assert found.ranks == tuple(SystemRank(1, 1, (1, 1), (1, 1)) for _ in original)


def test_rank_stability_refuses_what_does_not_fit() -> None:
    values = np.zeros((2, 4))
    with pytest.raises(ValueError, match="must score the same systems on the same queries"):
        rank_stability(values, values[:, :3], rng=rng_of(0))
    with pytest.raises(ValueError, match="no systems to rank"):
        rank_stability(values[:0], values[:0], rng=rng_of(0))


# --- Saturation -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("misses", "disagreement", "within_interval", "within_disagreement"),
    [
        (0, None, True, None),
        (2, None, True, None),  # half of the width is 2.8 misses of 1,000
        (8, None, False, None),  # and here 5.5
        (40, 0.05, False, True),
        (60, 0.05, False, False),
    ],
)
def test_saturation(
    misses: int,
    disagreement: float | None,
    within_interval: bool,
    within_disagreement: bool | None,
) -> None:
    values = np.repeat([0.0, 1.0], [misses, 1000 - misses])
    found = check_saturation(values, rng=rng_of(1), disagreement=disagreement)
    assert (found.mean, found.gap) == pytest.approx((1 - misses / 1000, misses / 1000), abs=1e-12)
    assert found.interval == mean_interval(values, rng=rng_of(1))
    assert found.within_interval is within_interval
    assert found.within_disagreement is within_disagreement
    assert found.is_saturated is (within_interval or within_disagreement is True)


def test_saturation_by_one_query_that_fails_and_trifles() -> None:
    # Hardly a resample misses all four, so that the interval ends below 1; but nearly all of the
    # gap hangs on a single query.
    values = np.array([1.0] * 56 + [0.1, 0.95, 0.98, 0.98])
    found = check_saturation(values, rng=rng_of(1))
    assert found.interval.high is not None
    assert found.interval.high < 1
    assert found.within_interval is True


@pytest.mark.parametrize(("values", "share"), [([1, 12.0], None), ([0.5, 1], 1.5)])
def test_saturation_refuses_what_is_no_share(values: list[float], share: float | None) -> None:
    with pytest.raises(ValueError, match="values and disagreement must lie between 0 and 1"):
        check_saturation(values, rng=rng_of(0), disagreement=share)
