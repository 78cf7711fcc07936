"""Saturation: the rest of a measure's scale is within the noise.

Two kinds of noise are compared with the gap to 1, both in the measure's own unit: half of the width
of the score's interval (other captions), and the change of the score that wrong labels cause
(`label_noise.score_change_by_noise`).
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
    """Whether what is left to gain, 1 - mean, can still be told from noise.

    within_interval: the gap is at most half of the width of the mean's interval.
    within_noise: it is at most the change of the mean that wrong labels cause; None if not given.
    """

    mean: float
    gap: float
    interval: Interval
    within_interval: bool
    within_noise: bool | None

    @property
    def by(self) -> str | None:
        """What the gap is within: `INTERVAL`, else `NOISE`, else None."""
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
    """Whether a system's values [n_queries] of a measure from 0 to 1 are too near to 1 to rise.

    noise: the change of the mean that wrong labels cause. Raises ValueError for values and noise
    outside of 0 to 1, and as `significance.measure_difference` does.
    """
    known = check_values(values, 1)
    check_resamplable(known.size, clusters)
    if known.min() < 0 or known.max() > 1 or not 0 <= (noise or 0) <= 1:
        raise ValueError("values and noise must lie between 0 and 1")
    interval = mean_interval(known, resamples, rng=rng, confidence=confidence, clusters=clusters)
    return judge_saturation(float(known.mean()), interval, noise)


def judge_saturation(mean: float, interval: Interval, noise: float | None = None) -> Saturation:
    """Return the same for a mean whose interval is known; an undefined interval contains no gap."""
    # Percentiles never reach 1 while any query is below.
    half = ((interval.high or 0.0) - (interval.low or 0.0)) / 2
    return Saturation(
        mean=mean,
        gap=1 - mean,
        interval=interval,
        within_interval=interval.low is not None and 1 - mean <= half,
        within_noise=None if noise is None else 1 - mean <= noise,
    )
