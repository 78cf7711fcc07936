"""Worked examples with the digits that another program computed."""

from __future__ import annotations

import numpy as np
import pytest
import truescore

from evaluation.core.estimates import corrected, means, sequences, shares, systems
from evaluation.core.estimates.shares import Interval
from evaluation.core.statistics.proportions import t_quantile

N = 1000


def close(found: Interval | tuple[float, ...], *expected: float, digits: int = 6) -> None:
    assert np.round(np.asarray(found, float), digits).tolist() == pytest.approx(
        list(expected), abs=1.01 * 10.0**-digits
    )


@pytest.mark.parametrize(
    ("counts", "share", "score"),
    [
        ((400, 50, 18, 600, 1000), (0.248026, 0.489611), (0.744, 0.699210, 0.795845)),
        ((400, 50, 18, 570, 1000), (0.248026, 0.489611), (0.714, 0.669210, 0.765845)),
        ((400, 50, 0, 600, 1000), (0, 0.062991), (0.6, 0.6, 0.625196)),
        ((120, 40, 40, 380, 500), (0.939828, 1), (1, 0.985559, 1)),
        ((400, 400, 130, 600, 1000), (0.325, 0.325), (0.73, 0.73, 0.73)),
        ((11231, 100, 33, 16532, 27763), (0.245969, 0.426501), (0.728964, 0.694971, 0.768002)),
    ],
)
def test_share_of_undecided_captions(
    counts: tuple[int, ...], share: tuple[float, ...], score: tuple[float, ...]
) -> None:
    undecided, n, x, correct, n_all = counts
    close(shares.wilson(x, n, undecided)[1:], *share)
    close(shares.share_of_all(undecided, n, x, correct, n_all), *score)
    assert shares.effective_size(50, 400) == pytest.approx(57.142857, abs=1e-6)


def test_share_in_strata_of_a_machine() -> None:
    strata = ([200, 120, 80], [20, 12, 8], [3, 5, 6], 600, N)
    close(shares.stratified(*strata), 0.742518, 0.691757, 0.793278)
    close(shares.stratified(*strata, finite=True), 0.742518, 0.694362, 0.790674)
    close(shares.stratified_by_squares(*strata), 0.74, 0.698729, 0.791782)


def test_allotments_reach_the_sum_within_the_bounds_of_each_stratum() -> None:
    assert shares.neyman([200, 120, 80], [0.3, 0.5, 0.4], 60).tolist() == [24, 24, 12]
    for seed in range(300):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 60, rng.integers(1, 5))
        n = int(rng.integers(0, sizes.sum() + 1))
        counts = shares.allot(sizes * rng.random(len(sizes)), sizes, n)
        assert counts.sum() == n
        assert (counts >= 0).all()
        assert (counts <= sizes).all()


M = np.array([0.5, 1, 0.25, 1, 0, 0, 0.5, 1])
F = np.array([0.1, 0.9, 0.8, 0.7, 0.5, 0.2, 0.1, 0.6])


def test_mean_for_future_videos_and_for_the_fixed_benchmark() -> None:
    videos = np.array([0, 0, 1, 2, 2, 3, 3, 4])
    sums, sizes = [1.6, 1.1, 2.2, 0.7, 1.1], [3, 2, 4, 3, 2]
    assert means.weight_of_machine(M, F) == pytest.approx(0.604056, abs=1e-6)
    close(means.jackknife(M, F, videos, sums, sizes), 0.525857, 0.186387, 0.865326)
    close(means.difference_estimate(M, F, 6.7 / 14, 14), 0.525857, 0.289379, 0.762335)


def test_two_added_differences_widen_an_interval_that_few_captions_carry() -> None:
    m = np.zeros((2, 40))
    m[0, :3] = 1
    m[1, ::2] = 0.5
    plain = means.difference_estimate(m, np.zeros((2, 40)), 0.0, N)
    careful = means.difference_estimate(m, np.zeros((2, 40)), 0.0, N, 1.0)
    assert means.carriers(m).round(2).tolist() == [3.5, 40.0]
    assert careful.high[0] - careful.low[0] > plain.high[0] - plain.low[0]
    assert careful.high[1] == plain.high[1]


A = systems.Stratum(150, 20, 9, 90)
B = systems.Stratum(120, 16, 7, 50)
AB = systems.BothStratum(200, 30, [8, 6, 3, 13])


def test_two_systems_by_strata() -> None:
    close(shares.wilson(9, 20, 150)[1:], 0.269063, 0.645207)
    close(shares.wilson(7, 16, 120)[1:], 0.242102, 0.654427)
    close(systems.paired(AB.cells, 30, 200), 0.1, 0.184376, 0.173614)
    close(systems.compare_strata(20, N, A, B, AB), 0.015, -0.037669, 0.066116)
    close(systems.compare_strata(20, N, A), -0.0025, -0.029640, 0.026781)
    one_sided = systems.BothStratum(200, 30, [10, 0, 0, 20])
    close(systems.compare_strata(0, N, both=one_sided), 0, -0.013179, 0.013179)
    opposed = systems.BothStratum(200, 30, [3, 9, 8, 10])
    close(systems.compare_strata(0, N, both=opposed), 0.006667, -0.041169, 0.053527)


@pytest.mark.parametrize(
    ("cells", "low", "high"), [([36, 12, 2, 0], 0.0569, 0.3404), ([20, 12, 2, 16], 0.0562, 0.3292)]
)
def test_newcombes_published_intervals(cells: list[int], low: float, high: float) -> None:
    found = systems.paired(cells, 50, np.inf)
    close((float(found.value - found.down), float(found.value + found.up)), low, high, digits=4)


@pytest.mark.parametrize(
    ("sizes", "n", "expected"),
    [
        ((150, 120, 200), 66, [19, 15, 32]),
        ((5, 400, 300), 60, [5, 29, 26]),
        ((0, 400, 0), 50, [0, 50, 0]),
    ],
)
def test_captions_of_two_systems_are_divided(
    sizes: tuple[int, ...], n: int, expected: list[int]
) -> None:
    assert systems.allocate(sizes, n).tolist() == expected


@pytest.mark.parametrize(
    ("n", "x", "alpha", "low", "high"),
    [
        (10, 4, 0.05, 17, 159),
        (10, 4, 0.02, 14, 166),
        (30, 11, 0.05, 32, 123),
        (30, 11, 0.02, 29, 128),
        (10, 0, 0.05, 0, 81),
        (30, 30, 0.05, 165, 200),
        (200, 70, 0.05, 70, 70),
    ],
)
def test_sequence_of_a_share(n: int, x: int, alpha: float, low: int, high: int) -> None:
    assert sequences.share_sequence(200, n, x, alpha) == (low, high)


def test_limit_of_the_sequence() -> None:
    chances = np.exp(sequences.log_chance([17, 16], 200, 10, 4))
    assert np.round(chances, 6).tolist() == [0.005090, 0.004024]
    assert sequences.is_kept([17, 16], 200, 10, 4).tolist() == [True, False]


def test_sequence_of_a_mean() -> None:
    z = sequences.z_of_sequence([10, 30, 50, 100, 300], N, 100)
    close(tuple(z), 3.754560, 3.161232, 3.063988, 3.037198, 3.146735)
    m = np.array([0, 1, 0.5, 1, 0.25, 0, 0.75, 1, 0, 0.5])
    f = np.array([0.1, 0.8, 0.9, 0.4, 0.3, 0.6, 0.5, 0.7, 0.1, 0.2])
    assert means.weight_of_machine(m, f) == pytest.approx(0.806452, abs=1e-6)
    close(sequences.mean_sequence(m, f, 0.42, N, 100), 0.446237, -0.132582, 1.025055)
    tripled = sequences.mean_sequence(np.tile(m, 3), np.tile(f, 3), 0.42, N, 100)
    close(tripled, 0.459677, 0.228807, 0.690548)


def test_correction_for_wrong_labels() -> None:
    one = corrected.Rates.one(0.018, 0.05, [[0.0004**2, -2e-7], [-2e-7, 0.0027**2]])
    captions = corrected.Captions.of([0, 1, 2, 3], [10, 9, 8, 7], [32, 12, 4, 2])
    values = corrected.corrected_values(captions, one.values)
    close(tuple(values), -0.210813, 1.063727, 0.996646, 1.000177)
    two = corrected.corrected_values(captions, np.array([0.0155, 0.0242, 0.05]))
    close(tuple(two), -0.178808, 1.067491, 0.996414, 1.000189)
    originals = corrected.Captions.of([1], [0], [600], certain=[1])
    found = corrected.corrected_share(originals, captions, one, 400, N)
    close(found, 0.696045, 0.637479, 0.763125)


def test_another_implementation_agrees_on_what_it_has() -> None:
    """truescore has Wilson's interval and PPI++ for samples from an infinite population."""
    theirs = truescore.wilson_interval(18, 50)
    close(shares.wilson(18, 50, np.inf)[1:], theirs.low, theirs.high)
    rng = np.random.default_rng(1)
    f, m = rng.random(200_000), rng.random(80)
    f[:80] = (m + f[:80]) / 2
    lam = float(means.weight_of_machine(m, f[:80]))
    ppi = truescore.ppi_estimate(f, m, np.arange(80), lambda_=lam)
    ours = means.difference_estimate(m, f[:80], float(f[80:].mean()), 10**9)
    assert float(ours.value) == pytest.approx(ppi.point, abs=1e-12)
    error = (ours.high - ours.value) / t_quantile(0.95, 78) * np.sqrt(78 / 79)
    assert float(error) == pytest.approx(ppi.standard_error, rel=1e-3)
