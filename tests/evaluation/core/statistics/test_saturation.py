"""Scores whose gap to 1 is no larger than their noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation.core.statistics.resampling import mean_interval
from evaluation.core.statistics.saturation import (
    INTERVAL,
    NOISE,
    check_saturation,
    judge_saturation,
)


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("misses", "noise", "within_interval", "within_noise", "by"),
    [
        (0, None, True, None, INTERVAL),
        (2, None, True, None, INTERVAL),  # half of the width equals 3.2 misses of 1,000
        (2, 0.05, True, True, INTERVAL),
        (8, None, False, None, None),  # half of the width equals 5.7 misses
        (40, 0.05, False, True, NOISE),
        (60, 0.05, False, False, None),
    ],
)
def test_saturation(
    misses: int,
    noise: float | None,
    within_interval: bool,
    within_noise: bool | None,
    by: str | None,
) -> None:
    values = np.repeat([0.0, 1.0], [misses, 1000 - misses])
    result = check_saturation(values, rng=rng_of(1), noise=noise)
    assert (result.mean, result.gap) == pytest.approx((1 - misses / 1000, misses / 1000), abs=1e-12)
    assert result.interval == mean_interval(values, rng=rng_of(1))
    assert result.within_interval is within_interval
    assert result.within_noise is within_noise
    assert result.by == by
    assert judge_saturation(result.mean, result.interval, noise) == result
    undefined = replace(result.interval, low=None, high=None)
    assert judge_saturation(1.0, undefined).by is None


def test_saturation_with_one_low_query() -> None:
    # Nearly every resample contains one of the four low values, so the interval ends below 1. But
    # one query causes nearly all of the gap.
    values = np.array([1.0] * 56 + [0.1, 0.95, 0.98, 0.98])
    result = check_saturation(values, rng=rng_of(1))
    assert result.interval.high is not None
    assert result.interval.high < 1
    assert result.within_interval is True


@pytest.mark.parametrize(("values", "share"), [([1, 12.0], None), ([0.5, 1], 1.5)])
def test_saturation_refuses_values_outside_of_0_to_1(
    values: list[float], share: float | None
) -> None:
    with pytest.raises(ValueError, match="values and noise must lie between 0 and 1"):
        check_saturation(values, rng=rng_of(0), noise=share)
