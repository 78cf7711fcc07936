"""Differences between systems: figures, tests and Holm's correction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.agreement import Estimate
from evaluation.core.people.alpha import NO_VARIATION
from evaluation.core.relevance.measure import NO_QUERIES
from evaluation.core.statistics.randomisation import PValue
from evaluation.core.statistics.resampling import ONE_CLUSTER, ONE_QUERY, mean_interval
from evaluation.core.statistics.significance import (
    adjust_together,
    cohens_d,
    compare_systems,
    holm,
    measure_difference,
)


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- All figures of a difference ------------------------------------------------------------------


def test_difference_by_hand() -> None:
    found = measure_difference([1.0, 0.0, 1.0, -1.0, 0.5], 4000, rng=rng_of(1))
    assert (found.n, found.wins, found.ties, found.losses) == (5, 3, 1, 1)
    assert found.mean == pytest.approx(0.3, abs=1e-15)
    # The squared deviations from 0.3 are 0.49 + 0.09 + 0.49 + 1.69 + 0.04 = 2.8.
    assert found.effect == Estimate(pytest.approx(0.3 / math.sqrt(2.8 / 4), abs=1e-12))
    # The observed sum is 1.5. 10 of the 16 sign assignments of 1, 1, 1, 0.5 are as far from 0.
    assert found.randomisation == PValue(10 / 16, 0)
    assert found.bootstrap.draws == 4000
    assert (found.interval.method, found.interval.resamples) == ("t", 0)


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


def test_interval_and_tests_use_the_clusters() -> None:
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
    assert found.ties == 10
    # Bonett and Price count 1 of 12 as won and 1 of 12 as lost: z sqrt(2 / 12 / 12).
    half = 1.959964 * math.sqrt(1 / 72)
    assert (found.interval.low, found.interval.high) == pytest.approx((-half, half), abs=1e-6)


def test_effect_of_differences_that_are_equal_except_for_rounding_is_undefined() -> None:
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
def test_difference_rejects_too_few_queries_and_infinite_values(
    differences: list[float], clusters: list[int] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        measure_difference(differences, rng=rng_of(0), clusters=clusters)


def test_rounding_noise_is_a_tie() -> None:
    noise = 1e-12 * np.array([1.0, -1.0, 1.0, 1.0, 1.0])
    found = measure_difference(noise, 100, rng=rng_of(0))
    assert (found.wins, found.ties, found.losses) == (0, 5, 0)
    assert found.randomisation == PValue(1.0, 0)
    found = measure_difference([0.5 + 1e-12, 0.5, 1e-12, -0.25], 100, rng=rng_of(0))
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)


# --- Equal systems, by video ----------------------------------------------------------------------


def draw_null(rng: np.random.Generator, n_clusters: int, kind: str) -> tuple[FloatArray, IntArray]:
    """Return differences of two equal systems, and the videos of the captions.

    The better system depends on the video, as on MSVD. Videos have about 14 captions.
    """
    clusters = np.repeat(np.arange(n_clusters), 1 + rng.poisson(13, n_clusters))
    lead = rng.normal(0, 1, n_clusters)
    if kind == "AP":
        return 0.2 * lead[clusters] + 0.2 * rng.normal(0, 1, len(clusters)), clusters
    drawn = lead[clusters] + rng.normal(0, 1, len(clusters))
    return np.sign(drawn) * (np.abs(drawn) > 1.0), clusters


@pytest.mark.parametrize("kind", ["AP", "C@5"])
@pytest.mark.parametrize("n_clusters", [8, 12, 19, 100])
def test_by_video_a_true_null_is_rejected_at_the_stated_rate(n_clusters: int, kind: str) -> None:
    rng = rng_of(n_clusters)
    trials = 800
    found = [
        measure_difference(values, 400, rng=rng, clusters=clusters)
        for values, clusters in (draw_null(rng, n_clusters, kind) for _ in range(trials))
    ]
    randomised = sum(comparison.randomisation.p <= 0.05 for comparison in found) / trials
    bootstrapped = sum(comparison.bootstrap.p <= 0.05 for comparison in found) / trials
    ends = [(comparison.interval.low, comparison.interval.high) for comparison in found]
    left_out = sum(not low <= 0 <= high for low, high in ends) / trials  # type: ignore[operator]
    assert 0.03 <= randomised <= 0.07
    assert 0.03 <= bootstrapped <= 0.07
    # If systems differ on few videos, the closed-form interval of C@5 is wider than needed.
    assert 0.02 <= left_out <= 0.07


@pytest.mark.parametrize("kind", ["AP", "C@5"])
def test_by_caption_a_true_null_is_rejected_far_too_often(kind: str) -> None:
    rng = rng_of(1)
    found = [
        measure_difference(draw_null(rng, 100, kind)[0], 400, rng=rng).randomisation.p
        for _ in range(300)
    ]
    assert np.mean(np.array(found) <= 0.05) > 0.4


# --- All pairs of systems -------------------------------------------------------------------------


def test_holm_by_hand() -> None:
    # The adjusted values are 0.01 * 4, 0.02 * 3, 0.03 * 2 (at least 0.06) and 0.9 * 1.
    assert holm([0.03, 0.9, 0.01, 0.02]) == pytest.approx([0.06, 0.9, 0.04, 0.06], abs=1e-15)
    assert holm([0.5, 0.6]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_as_the_procedure_does(p_values: list[float]) -> None:
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


def test_a_table_of_several_measures_is_corrected_as_a_whole() -> None:
    rng = rng_of(9)
    tables = [
        compare_systems((rng.random((3, 400)) < 0.5).astype(float), 500, rng=rng) for _ in range(2)
    ]
    rows = adjust_together([row for table in tables for row in table])
    expected = holm([row.difference.randomisation.p for row in rows])
    assert [row.adjusted for row in rows] == expected.tolist()
    assert [row.difference for row in rows[:3]] == [row.difference for row in tables[0]]
    smallest = min(row.difference.randomisation.p for row in rows)
    assert min(row.adjusted for row in rows) == pytest.approx(min(1, 6 * smallest), abs=1e-15)
