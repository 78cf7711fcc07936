"""Confidence sequences, compared with a plain loop, and their error rate by simulation.

`ALPHA` is the stated error rate. The bounds are conservative, so simulated rates are below `ALPHA`.
"""

from __future__ import annotations

from math import log, log1p

import numpy as np
import numpy.typing as npt
import pytest

from evaluation.core.statistics.sequential import (
    HIGHEST_BET,
    confidence_sequence,
    difference_sequence,
    first_stop,
)

Floats = npt.NDArray[np.float64]
ALPHA, SAMPLES = 0.1, 1000


def shuffled(population: npt.ArrayLike, rng: np.random.Generator) -> Floats:
    """Return the population in SAMPLES random orders, [SAMPLES, N]."""
    values = np.asarray(population, np.float64)
    return rng.permuted(np.tile(values, (SAMPLES, 1)), axis=1)


def by_hand(
    sums: list[float], sizes: list[int], alpha: float, aim: float
) -> list[tuple[float, float]]:
    """Return the bounds, computed unit by unit as in the docstring of `sequential`."""
    n, m, largest = len(sizes), sum(sizes), max(sizes)
    low, high, bounds = 0.0, 1.0, []
    signal = weight = penalty = seen = size_seen = 0.0
    variances = [0.25]
    for i, (s, size) in enumerate(zip(sums, sizes, strict=True)):
        p = min(1.0, (0.5 * m / n + seen) / (m / n + size_seen))
        z = (s + p * (largest - size)) / largest
        spread = sum(variances) / len(variances)
        bet = min(HIGHEST_BET, aim * m / n / largest * n / (n - i) / spread)
        # Given the earlier units, the mean of z is a + b * T.
        a = (-seen / (n - i) + p * (largest - (m - size_seen) / (n - i))) / largest
        b = 1 / (n - i) / largest
        signal, weight = signal + bet * (z - a), weight + bet * b
        penalty += (z - p) ** 2 * (-log1p(-bet) - bet)
        variances.append((z - p) ** 2)
        seen, size_seen = seen + s, size_seen + size
        radius = (log(2 / alpha) + penalty) / weight
        low = max(low, (signal / weight - radius) / m, seen / m)
        high = min(high, (signal / weight + radius) / m, (seen + m - size_seen) / m)
        bounds.append((low, max(low, high)))
    return bounds


def test_bounds_equal_a_plain_loop() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 9, 60)
    sums = sizes * rng.beta(1, 2, 60)
    found = confidence_sequence(sums, sizes, alpha=ALPHA, aim=0.1)
    expected = by_hand(sums.tolist(), sizes.tolist(), ALPHA, 0.1)
    np.testing.assert_allclose(np.stack([found.low, found.high], 1), expected, atol=1e-12)
    np.testing.assert_allclose(found.estimate, np.cumsum(sums) / np.cumsum(sizes))


def test_unjudged_units_are_not_read() -> None:
    sums = np.random.default_rng(2).random(50)
    whole = confidence_sequence(sums, np.ones(50))
    part = confidence_sequence(np.append(sums[:20], np.full(30, np.nan)), np.ones(50), seen=20)
    assert part.low.tolist() == whole.low[:20].tolist()
    assert part.high.tolist() == whole.high[:20].tolist()


def test_after_all_units_the_interval_is_a_point() -> None:
    sums, sizes = np.array([1.0, 0.0, 3.0]), np.array([2, 1, 3])
    found = confidence_sequence(sums, sizes)
    assert (found.low[-1], found.high[-1]) == (pytest.approx(4 / 6), pytest.approx(4 / 6))
    other = difference_sequence(sums, [0.0, 1.0, 1.0], sizes)
    assert (other.low[-1], other.high[-1]) == (pytest.approx(2 / 6), pytest.approx(2 / 6))


def test_moved_bounds() -> None:
    found = confidence_sequence([1.0, 0.0], [1, 1]).moved(0.5, 0.25)
    assert (found.low[-1], found.high[-1], found.estimate[0]) == (0.625, 0.625, 0.75)


def test_first_stop() -> None:
    assert first_stop(np.array([False, True, False, True])) == 2
    assert first_stop(np.array([False])) is None


def misses(low: Floats, high: Floats, truth: float) -> float:
    """Return the share of campaigns in which at least one interval excludes the true mean."""
    return float(((low > truth + 1e-9) | (high < truth - 1e-9)).any(axis=1).mean())


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.95])
def test_all_intervals_of_a_score_are_valid_together(share: float) -> None:
    population = np.arange(400) < share * 400
    orders = shuffled(population, np.random.default_rng(3))
    found = confidence_sequence(orders, np.ones(400), alpha=ALPHA, aim=0.05)
    assert misses(found.low, found.high, population.mean()) <= ALPHA


def repeated_z_tests(differences: Floats, first: int = 30) -> npt.NDArray[np.bool_]:
    """Return whether an ordinary test at ALPHA, repeated after each caption, ever rejects."""
    number = np.arange(1, differences.shape[1] + 1)
    mean = np.cumsum(differences, axis=1) / number
    variance = np.cumsum(differences**2, axis=1) / number - mean**2
    z = np.abs(mean) / np.sqrt(np.maximum(variance, 1e-12) / number)
    return np.asarray((z[:, first:] > 1.6449).any(axis=1))  # 5 % on each side


def test_false_stops_stay_below_alpha_while_repeated_tests_exceed_it() -> None:
    """The two systems have equal final scores, so any stop for a difference is false."""
    rng = np.random.default_rng(4)
    population = np.repeat([-1.0, 0.0, 1.0], [150, 700, 150])
    differences = shuffled(population, rng)
    sums, others = np.maximum(differences, 0), np.maximum(-differences, 0)
    found = difference_sequence(sums, others, np.ones(1000), alpha=ALPHA, aim=0.05)
    false_stops = found.excludes(0)[:, :-1].any(axis=1).mean()
    assert false_stops <= ALPHA
    assert repeated_z_tests(differences[:, :900]).mean() > 2.5 * ALPHA


def test_videos_must_be_the_units_if_videos_are_in_random_order() -> None:
    """Captions of a video are similar. Videos are in random order, with all their captions."""
    rng = np.random.default_rng(5)
    n_videos, captions = 60, 20
    rates = rng.integers(0, 2, n_videos) * captions
    by_video = shuffled(rates, rng)
    truth = rates.sum() / (n_videos * captions)
    sizes = np.full(n_videos, captions)
    right = confidence_sequence(by_video, sizes, alpha=ALPHA, aim=0.1)
    assert misses(right.low, right.high, truth) <= ALPHA
    as_captions = np.repeat(by_video / captions, captions, axis=1)
    wrong = confidence_sequence(as_captions, np.ones(as_captions.shape[1]), alpha=ALPHA, aim=0.1)
    assert misses(wrong.low, wrong.high, truth) > 0.5
    # If captions are in random order, intervals with captions as units are valid.
    mixed = rng.permuted(as_captions, axis=1)
    found = confidence_sequence(mixed, np.ones(mixed.shape[1]), alpha=ALPHA, aim=0.05)
    assert misses(found.low, found.high, truth) <= ALPHA


def test_videos_of_different_sizes() -> None:
    rng = np.random.default_rng(6)
    sizes = rng.integers(1, 40, 150)
    sums = np.floor(sizes * rng.beta(2, 2, 150))
    truth = sums.sum() / sizes.sum()
    missed, widths = 0, []
    for _ in range(SAMPLES // 2):
        order = rng.permutation(150)
        found = confidence_sequence(sums[order], sizes[order], alpha=ALPHA, aim=0.1)
        missed += bool(misses(found.low[None], found.high[None], truth))
        widths.append(found.half_width[74])
    assert missed <= ALPHA * SAMPLES // 2
    assert np.median(widths) < 0.15


def test_intervals_are_not_valid_in_an_order_by_value() -> None:
    values = np.sort(shuffled(np.arange(400) < 200, np.random.default_rng(7)), axis=1)
    found = confidence_sequence(values, np.ones(400), alpha=ALPHA, aim=0.05)
    assert misses(found.low, found.high, 0.5) == 1


def test_the_stop_is_near_the_best_possible_size() -> None:
    """The best size is 2 ln(2 / alpha) variance / w^2, and lower in a small population."""
    n_all, aim, alpha = 20_000, 0.03, 0.05
    orders = shuffled(np.arange(n_all) < 0.3 * n_all, np.random.default_rng(8))[:40]
    found = confidence_sequence(orders, np.ones(n_all), alpha=alpha, aim=aim)
    stops = [first_stop(width <= aim) for width in found.half_width]
    wanted = 2 * log(2 / alpha) * 0.21 / aim**2
    best = wanted / (1 + wanted / n_all)
    assert np.median(np.array(stops, float)) == pytest.approx(best, rel=0.1)


@pytest.mark.parametrize(
    ("sums", "sizes", "settings", "reason"),
    [
        ([1.0], [1], {"alpha": 0.0}, "alpha and aim"),
        ([1.0], [1], {"aim": 2.0}, "alpha and aim"),
        ([1.0], [1], {"seen": 2}, "seen"),
        ([1.0], [1, 1], {}, "a sum and a size"),
        ([0.0], [0], {}, "a sum and a size"),
        ([2.0], [1], {}, "above the size"),
        ([-1.0], [1], {}, "below 0"),
    ],
)
def test_bad_parameters_are_rejected(
    sums: list[float], sizes: list[int], settings: dict[str, float], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        confidence_sequence(sums, sizes, **settings)  # type: ignore[arg-type]
