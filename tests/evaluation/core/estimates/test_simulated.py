"""Coverage of the intervals in 1,000 draws of made benchmarks, with a fixed seed.

A test fails if the exact 99.9 % interval of the coverage misses .93 to .97.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from tests.evaluation.core.estimates.worlds import (
    N,
    covers,
    draw,
    estimate_mean,
    estimate_share,
    means_world,
    sequence_covers,
    shares_world,
)

DRAWS = 1000
SIZES = (30, 50, 100, 300)
RATES = (0.5, 0.8, 0.95, 0.99)


def check(coverage: float, lowest: float = 0.93, highest: float = 0.97) -> None:
    """Fail if the exact interval of a coverage misses what is allowed."""
    hits = round(coverage * DRAWS)
    low = beta.ppf(0.0005, hits, DRAWS - hits + 1) if hits else 0.0
    high = beta.ppf(0.9995, hits + 1, DRAWS - hits) if hits < DRAWS else 1.0
    assert high >= lowest, coverage
    assert low <= highest, coverage


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("rate", RATES)
def test_wilson_covers_a_share(rate: float, n: int) -> None:
    rng = np.random.default_rng(1)
    world = shares_world(rate, rng)
    coverage = covers(estimate_share(world, draw(n, DRAWS, rng)), rate)
    # With one or two of n captions wrong, the coverage of any interval jumps with n.
    check(coverage, highest=1.0 if n * (1 - rate) < 5 else 0.97)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("rate", "skill"), [(0.3, 0.0), (0.5, 0.6), (0.5, 0.9), (0.8, 1.0)])
def test_difference_estimator_covers_a_mean(rate: float, skill: float, n: int) -> None:
    rng = np.random.default_rng(2)
    world = means_world(rate, skill, rng)
    coverage = covers(estimate_mean(world, draw(n, DRAWS, rng)), float(world.m.mean()))
    # Where few captions differ from the machine, two differences are added, so it covers more.
    check(coverage, highest=1.0 if skill == 0.9 else 0.97)


@pytest.mark.parametrize("n", SIZES)
def test_rare_values_are_covered(n: int) -> None:
    rng = np.random.default_rng(3)
    world = means_world(0.98, 0.97, rng)
    truth = float(world.m.mean())
    check(covers(estimate_mean(world, draw(n, DRAWS, rng)), truth), highest=1.0)


def test_a_useless_machine_costs_little_width() -> None:
    rng = np.random.default_rng(4)
    world = means_world(0.5, 0.0, rng)
    drawn = draw(100, DRAWS, rng)
    with_machine, alone = (estimate_mean(world, drawn, machine=use) for use in (True, False))
    ratio = (with_machine.high - with_machine.low).mean() / (alone.high - alone.low).mean()
    assert ratio < 1.03


@pytest.mark.parametrize("rate", [0.02, 0.35, 0.98])
def test_the_sequence_holds_at_all_times_together(rate: float) -> None:
    rng = np.random.default_rng(5)
    world = shares_world(rate, rng)
    assert world.m.sum() == round(N * rate)
    check(sequence_covers(world, draw(300, DRAWS, rng), 0.05), lowest=0.95, highest=1.0)
