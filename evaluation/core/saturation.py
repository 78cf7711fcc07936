"""Whether a measure nears its end: what is left to gain can no longer be told from noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.core.alpha import Interval
from evaluation.core.resampling import check_resamplable, check_values, mean_interval

INTERVAL, DISAGREEMENT = "interval", "disagreement"


@dataclass(frozen=True, slots=True)
class Saturation:
    """Whether what is left to gain, 1 - mean, can still be told from noise.

    within_interval: the gap is at most half of the width of the mean's interval.
    within_disagreement: it is at most the share on which annotators disagree; None if not given.
    """

    mean: float
    gap: float
    interval: Interval
    within_interval: bool
    within_disagreement: bool | None

    @property
    def by(self) -> str | None:
        """What the gap lies within first: `INTERVAL`, `DISAGREEMENT`, or nothing (None)."""
        if self.within_interval:
            return INTERVAL
        return DISAGREEMENT if self.within_disagreement else None


def check_saturation(
    values: npt.ArrayLike,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    disagreement: float | None = None,
    clusters: npt.ArrayLike | None = None,
) -> Saturation:
    """Whether a system's values [n_queries] of a measure from 0 to 1 are too near to 1 to rise.

    disagreement: the share of pairs on which annotators disagree; a gap below it may be made of
    labels that others would have given otherwise. Raises ValueError for values and shares outside
    of 0 to 1, and as `significance.measure_difference` does.
    """
    known = check_values(values, 1)
    check_resamplable(known.size, clusters)
    if known.min() < 0 or known.max() > 1 or not 0 <= (disagreement or 0) <= 1:
        raise ValueError("values and disagreement must lie between 0 and 1")
    interval = mean_interval(known, resamples, rng=rng, confidence=confidence, clusters=clusters)
    return judge_saturation(float(known.mean()), interval, disagreement)


def judge_saturation(
    mean: float, interval: Interval, disagreement: float | None = None
) -> Saturation:
    """The same of a mean whose interval is known; one that is undefined holds no gap."""
    # The percentiles themselves never reach 1 while any query is below.
    half = ((interval.high or 0.0) - (interval.low or 0.0)) / 2
    return Saturation(
        mean=mean,
        gap=1 - mean,
        interval=interval,
        within_interval=interval.low is not None and 1 - mean <= half,
        within_disagreement=None if disagreement is None else 1 - mean <= disagreement,
    )
