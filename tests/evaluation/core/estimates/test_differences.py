"""Differences of two systems, and intervals for other videos."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, skew

from evaluation.core.estimates import means, systems
from evaluation.core.estimates.differences import (
    PairPopulation,
    Side,
    difference_of,
    p_of,
    strata_of,
)
from evaluation.core.estimates.drawn import Population, progress_of
from evaluation.core.estimates.frames import TopPairs
from evaluation.core.estimates.shares import Interval
from evaluation.core.estimates.values import Z_AT_END, Method, Refusal
from evaluation.core.relevance.measures import parse_measure
from tests.evaluation.core.estimates.test_simulated import check

C1 = parse_measure("C@1")


def side(labels: list[int]) -> Side:
    """One unjudged pair for each caption, with its label now."""
    codes = np.arange(len(labels))[:, None]
    unknown = np.full(codes.shape, -1, np.int8)
    pairs = TopPairs(codes, unknown, codes >= 0, np.zeros(len(labels), np.int64))
    return Side(pairs, np.array(labels, np.int8)[:, None])


def two(a: list[int], b: list[int], strata: list[int]) -> tuple[Side, Side]:
    """Pairs of two systems. In the strata of one system, the other's pair is known."""
    sides = []
    for labels, known in ((a, 1), (b, 0)):
        made = side(labels)
        gains = np.where(np.array(strata) == known, made.current[:, 0], -1)
        pairs = TopPairs(
            made.pairs.codes, gains[:, None].astype(np.int8), made.pairs.is_item, made.pairs.outside
        )
        sides.append(Side(pairs, made.current))
    return sides[0], sides[1]


# The worked example: n 20 x 9, n 16 x 7, and the cells 8 6 3 13.
STRATA = [0] * 20 + [1] * 16 + [2] * 30
A = [1] * 9 + [0] * 11 + [1] * 16 + [1] * 14 + [0] * 16
B = [0] * 20 + [1] * 7 + [0] * 9 + [1] * 8 + [0] * 6 + [1] * 3 + [0] * 13
POPULATION = PairPopulation(C1, 1000, (150, 120, 200), 20, (90, 50), 0.0)


def test_the_difference_of_two_systems_is_that_of_the_strata() -> None:
    order = np.random.default_rng(1).permutation(66)
    a, b, strata = (np.array(values)[order].tolist() for values in (A, B, STRATA))
    found = difference_of(POPULATION, np.array(strata), two(a, b, strata), np.zeros(66))
    expected = systems.compare_strata(
        20,
        1000,
        systems.Stratum(150, 20, 9, 90),
        systems.Stratum(120, 16, 7, 50),
        systems.BothStratum(200, 30, [8, 6, 3, 13]),
        Z_AT_END,
    )
    estimate = found.progress.estimate
    assert (estimate.method, estimate.n) == (Method.TWO_STRATA, 66)
    values = [estimate.value, estimate.low, estimate.high]
    assert values == pytest.approx([float(end) for end in expected])
    at_p = systems.compare_strata(
        20,
        1000,
        systems.Stratum(150, 20, 9, 90),
        systems.Stratum(120, 16, 7, 50),
        systems.BothStratum(200, 30, [8, 6, 3, 13]),
        float(norm.isf(found.p / 2)),
    )
    assert float(at_p.low) == pytest.approx(0, abs=1e-9)
    waiting = [-1, *a[1:]]
    if strata[0] == 1:
        waiting = a
        b = [-1, *b[1:]]
    now = difference_of(POPULATION, np.array(strata), two(waiting, b, strata), np.zeros(66))
    assert now.progress.estimate.refusal is Refusal.UNJUDGED


def test_a_conflict_widens_the_difference() -> None:
    a = [-2 if place == 20 + 16 else label for place, label in enumerate(A)]
    found = difference_of(POPULATION, np.array(STRATA), two(a, B, STRATA), np.zeros(66))
    settled = difference_of(POPULATION, np.array(STRATA), two(A, B, STRATA), np.zeros(66))
    assert (found.progress.conflicts, found.p) == (1, None)
    assert found.progress.estimate.low < settled.progress.estimate.low
    assert not found.progress.is_final


def test_p_is_the_level_at_which_the_interval_excludes_zero() -> None:
    found = p_of(lambda z: Interval(*(np.array(v) for v in (2.0, 2 - z, 2 + z))))
    assert found == pytest.approx(0.0455, abs=1e-4)
    assert p_of(lambda z: Interval(*(np.array(v) for v in (0.0, -z, z)))) == 1


def test_strata_say_for_which_system_a_caption_is_undecided() -> None:
    first, second = np.array([1, 0, 1, 0], bool), np.array([0, 1, 1, 0], bool)
    assert strata_of(first, second).tolist() == [0, 1, 2, -1]


M = np.array([0.5, 1, 0.25, 1, 0, 0, 0.5, 1])
F = np.array([0.1, 0.9, 0.8, 0.7, 0.5, 0.2, 0.1, 0.6])
OWN = np.array([0, 0, 1, 2, 2, 3, 3, 4])
SIZES, SUMS = np.array([3.0, 2, 4, 3, 2]), np.array([1.6, 1.1, 2.2, 0.7, 1.1])


def test_without_decided_captions_the_jackknife_is_that_of_the_worked_example() -> None:
    sums = means.SumsByVideo(SIZES, SIZES, np.zeros(5), SUMS)
    found = means.jackknife_of_undecided(M, F, OWN, sums)
    assert [float(end) for end in found] == pytest.approx([0.525857, 0.186387, 0.865326], abs=1e-6)


def test_the_jackknife_covers_the_score_on_other_videos() -> None:
    """Videos are drawn from a population; half of the captions are decided by known labels."""
    rng, hits, draws = np.random.default_rng(7), 0, 1000
    for _ in range(draws):
        rate = rng.beta(4, 3, 80)  # of 80 videos with 10 captions each; the population mean is 4/7
        m = (rng.random((80, 10)) < rate[:, None]).astype(float).ravel()
        video = np.repeat(np.arange(80), 10)
        is_open = rng.random(800) < 0.5
        f = np.clip(0.6 * m + 0.2, 0, 1)
        drawn = rng.choice(np.flatnonzero(is_open), 100, replace=False)

        def sums(values, video=video):
            return np.bincount(video, values, 80)

        by_video = means.SumsByVideo(
            sums(np.ones(800)), sums(is_open), sums(m * ~is_open), sums(f * is_open)
        )
        noisy = np.where(rng.random(100) < 0.2, rng.random(100), f[drawn])
        found = means.jackknife_of_undecided(m[drawn], noisy, video[drawn], by_video)
        hits += bool(found.low <= 4 / 7 <= found.high)
    check(hits / draws)


def test_skewed_differences_widen_the_interval() -> None:
    m = np.array([0.0] * 92 + [1.0] * 8)
    assert float(means.carriers(m)) > means.FEWEST_CARRIERS
    assert float(means.skewness_of_mean(m)) == pytest.approx(skew(m) / 10)
    assert skew(m) / 10 > means.MOST_SKEWED
    plain, wide = (
        means.difference_estimate(m, np.zeros(100), 0.0, 10_000, bound) for bound in (None, 1.0)
    )
    assert float(wide.high - wide.low) > 1.08 * float(plain.high - plain.low)


def test_a_machine_estimates_a_share_only_with_enough_surprises() -> None:
    rng = np.random.default_rng(2)
    labels = (rng.random(100) < 0.5).astype(int)
    pairs = side(labels.tolist())
    for wrong, method in ((30, Method.DIFFERENCE), (5, Method.WILSON)):
        predicted = np.where(np.arange(100) < wrong, 1 - labels, labels) * 0.9 + 0.05
        population = Population(C1, 1000, 400, 500, 0.5)
        found = progress_of(population, pairs.pairs, predicted, pairs.current, by_machine=True)
        assert found.estimate.method is method, wrong
