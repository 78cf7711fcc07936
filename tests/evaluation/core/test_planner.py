from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evaluation.core.planner import (
    Design,
    Effort,
    Rates,
    captions_needed,
    difference_deviation,
    estimate_effort,
)

RATES = Rates(
    pairs_per_caption=22.0,
    double_share=0.1,
    disagreement=0.05,
    seconds_per_judgment=6.0,
    money_per_hour=20.0,
)


def test_captions_by_hand() -> None:
    # (1.959964 + 0.841621)^2 * 0.25 / 0.0001 = 19,622.2
    assert captions_needed(0.5, 0.01) == 19_623
    # (1.644854 + 1.281552)^2 * 0.25 / 0.0025 = 856.4
    assert captions_needed(0.5, 0.05, confidence=0.9, power=0.9) == 857
    assert captions_needed(0.5, 0.01, power=0.5) == math.ceil(stats.norm.ppf(0.975) ** 2 * 2500)
    assert captions_needed(0.001, 0.5) == 2


def test_deviation_of_both_designs() -> None:
    values, others = np.array([1.0, 0.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0, 1.0])
    # Differences 0 0 1 0: variance 0.25. Variances of the two: 0.25 and 1/3.
    assert difference_deviation(values, others, "paired") == pytest.approx(0.5, abs=1e-15)
    independent = difference_deviation(values, others, "independent")
    assert independent == pytest.approx(math.sqrt(0.25 + 1 / 3), abs=1e-15)
    other_captions = difference_deviation(values, others[:3], "independent")
    assert other_captions == pytest.approx(math.sqrt(0.25 + 1 / 3), abs=1e-15)
    with pytest.raises(ValueError, match="4 values cannot be paired with 3"):
        difference_deviation(values, others[:3], "paired")
    for design in ("paired", "independent"):
        assert difference_deviation([1.0], [0.0], design) is None
        assert difference_deviation([0.1, 0.1, 0.1], [0.0, 0.0, 0.0], design) == 0


@pytest.mark.parametrize("design", ["paired", "independent"])
def test_the_wanted_power_is_reached(design: Design) -> None:
    """Plan from a large pilot, then annotate so many captions 4,000 times and test each time."""
    rng = np.random.default_rng(1)
    pilot, other = draw_systems(rng, 200_000, design)
    deviation = difference_deviation(pilot, other, design)
    assert deviation is not None
    captions = captions_needed(deviation, 0.05)
    found = sum(is_found(*draw_systems(rng, captions, design), design) for _ in range(4000))
    # The standard error is 0.0063.
    assert found / 4000 == pytest.approx(0.8, abs=0.02)


def draw_systems(
    rng: np.random.Generator, captions: int, design: Design
) -> tuple[np.ndarray, np.ndarray]:
    """C@5 of two systems, 0.65 and 0.60; on the same captions they mostly agree."""
    if design == "independent":
        return (rng.random(captions) < 0.65) * 1.0, (rng.random(captions) < 0.6) * 1.0
    kind = rng.random(captions)
    # Both right 0.5, only the first 0.15, only the second 0.1, none 0.25.
    return (kind < 0.65) * 1.0, ((kind < 0.5) | (kind > 0.9)) * 1.0


def is_found(values: np.ndarray, others: np.ndarray, design: Design) -> bool:
    deviation = difference_deviation(values, others, design)
    assert deviation is not None
    error = deviation / math.sqrt(len(values))
    return bool(abs(values.mean() - others.mean()) >= 1.959964 * error)


def test_effort_by_hand() -> None:
    # 66,000 pairs; 0.1 * (1 + 0.05) further labels each; six seconds; 20 an hour.
    assert estimate_effort(3000, RATES) == Effort(
        3000, 66_000, 72_930, pytest.approx(121.55), pytest.approx(2431.0)
    )
    assert estimate_effort(0, RATES) == Effort(0, 0, 0, 0.0, 0.0)
    # 33 * 1.1 = 36.3 pairs and 40.1 judgments; no pair more for a last binary digit.
    odd = Rates(1.1, 0.1, 0.05, 3600.0, 1.0)
    assert (estimate_effort(33, odd).pairs, estimate_effort(33, odd).judgments) == (37, 41)
    assert estimate_effort(3000, odd).pairs == 3300


@pytest.mark.parametrize(
    ("difference", "confidence", "power", "message"),
    [
        (0.0, 0.95, 0.8, "the difference must be finite and above 0"),
        (math.inf, 0.95, 0.8, "the difference must be finite and above 0"),
        (0.1, 1.0, 0.8, "confidence must lie between 0 and 1"),
        (0.1, 0.95, 0.0, "power must lie between 0 and 1"),
        (0.1, 0.5, 0.1, "a power so low needs no captions"),
    ],
)
def test_plan_refuses_bad_wishes(
    difference: float, confidence: float, power: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        captions_needed(0.5, difference, confidence=confidence, power=power)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((22, 1.1, 0.05, 6, 20), "double_share and disagreement must lie between 0 and 1"),
        ((22, 0.1, -0.1, 6, 20), "double_share and disagreement must lie between 0 and 1"),
        ((-1, 0.1, 0.1, 6, 20), "must be finite and not negative"),
        ((22, 0.1, 0.1, math.nan, 20), "must be finite and not negative"),
    ],
)
def test_rates_refuse_what_cannot_be(numbers: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rates(*numbers)
