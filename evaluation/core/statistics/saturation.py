"""Saturation: whether the gap between a score and 1 is no larger than the noise of the score.

The gap is compared with two kinds of noise, both in the unit of the measure. One is half of the
width of the score's interval, which is the uncertainty about other captions. The other is the
change of the score that wrong labels cause (`label_noise.score_change_by_noise`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.core.people.alpha import Interval
from evaluation.core.statistics.resampling import check_resamplable, check_values, mean_interval

INTERVAL, NOISE = "interval", "noise"


@dataclass(frozen=True, slots=True)
class Saturation:
    """A comparison of the possible gain, 1 - mean, with the noise of the mean.

    gap: 1 - mean. within_interval: whether the gap is at most half of the width of the mean's
    interval. within_noise: whether the gap is at most the change of the mean that wrong labels
    cause; None if this change is unknown.
    """

    mean: float
    gap: float
    interval: Interval
    within_interval: bool
    within_noise: bool | None

    @property
    def by(self) -> str | None:
        """The noise that is at least as large as the gap: `INTERVAL`, else `NOISE`, else None."""
        if self.within_interval:
            return INTERVAL
        return NOISE if self.within_noise else None


def check_saturation(
    values: npt.ArrayLike,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    noise: float | None = None,
    clusters: npt.ArrayLike | None = None,
) -> Saturation:
    """Check whether the mean of a system's values is too close to 1 to show an improvement.

    values: [n_queries], from 0 to 1. resamples: number of bootstrap resamples. noise: the change of
    the mean that wrong labels cause. clusters: integers [n_queries]; queries with the same integer
    are drawn together.

    Raises ValueError if values or noise are outside of 0 to 1, or for the reasons of
    `significance.measure_difference`.
    """
    known = check_values(values, 1)
    check_resamplable(known.size, clusters)
    if known.min() < 0 or known.max() > 1 or not 0 <= (noise or 0) <= 1:
        raise ValueError("values and noise must lie between 0 and 1")
    interval = mean_interval(known, resamples, rng=rng, confidence=confidence, clusters=clusters)
    return judge_saturation(float(known.mean()), interval, noise)


def judge_saturation(mean: float, interval: Interval, noise: float | None = None) -> Saturation:
    """Check the saturation of a mean with a known interval.

    If the interval is undefined, `within_interval` is false.
    """
    # The gap is compared with the width of the interval, not with its upper end: if more than a few
    # queries are below 1, percentiles do not reach 1.
    half = ((interval.high or 0.0) - (interval.low or 0.0)) / 2
    return Saturation(
        mean=mean,
        gap=1 - mean,
        interval=interval,
        within_interval=interval.low is not None and 1 - mean <= half,
        within_noise=None if noise is None else 1 - mean <= noise,
    )
