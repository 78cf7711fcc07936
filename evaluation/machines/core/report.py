"""Figures that compare a machine's probabilities with people's labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.people.agreement import Estimate, count_labels
from evaluation.core.people.alpha import krippendorff_alpha
from evaluation.core.statistics.resampling import mean_interval

THRESHOLD = 0.5
"""A machine that is used alone calls a pair relevant from this probability on."""

BINS = 10


@dataclass(frozen=True, slots=True)
class Share:
    """A mean over pairs with its interval, or None if there are no pairs or no interval."""

    value: float | None
    interval: tuple[float, float] | None
    pairs: int

    @property
    def ends(self) -> list[float] | None:
        return None if self.interval is None else list(self.interval)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How videos are resampled."""

    resamples: int
    confidence: float
    seed: int

    def mean(self, values: FloatArray | BoolArray, videos: IntArray) -> Share:
        """Return the mean of pairs. The pairs of one video are resampled together."""
        if not len(values):
            return Share(None, None, 0)
        numbers = np.asarray(values, np.float64)
        found = mean_interval(
            numbers,
            self.resamples,
            rng=np.random.default_rng(self.seed),
            confidence=self.confidence,
            clusters=videos,
        )
        ends = None if found.low is None or found.high is None else (found.low, found.high)
        return Share(float(numbers.mean()), ends, len(numbers))


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Pairs that a machine and people judged, [n] each.

    codes: ascending. p: the machine's probabilities. relevant: people's labels. videos: the videos
    of the pairs.
    """

    codes: IntArray
    p: FloatArray
    relevant: BoolArray
    videos: IntArray

    @property
    def called(self) -> BoolArray:
        """Which pairs the machine alone would call relevant."""
        return self.p >= THRESHOLD

    @property
    def brier(self) -> float:
        """The mean squared difference of probability and label."""
        return float(((self.p - self.relevant) ** 2).mean())

    def sensitivity(self, sampling: Sampling) -> Share:
        """Return the share of the relevant pairs that the machine calls relevant."""
        return sampling.mean(self.called[self.relevant], self.videos[self.relevant])

    def specificity(self, sampling: Sampling) -> Share:
        """Return the share of the other pairs that the machine calls not relevant."""
        return sampling.mean(~self.called[~self.relevant], self.videos[~self.relevant])

    def bias(self, pairs: BoolArray, sampling: Sampling) -> Share:
        """Return the mean of probability minus label over some pairs."""
        return sampling.mean((self.p - self.relevant)[pairs], self.videos[pairs])

    def bins(self) -> list[BoolArray]:
        """Return which pairs are in each of ten ranges of probability."""
        place = np.minimum((self.p * BINS).astype(np.int64), BINS - 1)
        return [place == number for number in range(BINS)]


def alpha_of_two(first: IntArray, second: IntArray) -> Estimate:
    """Return Krippendorff's alpha of two labels for each pair, int64 [n] each."""
    n = len(first)
    counts = count_labels(np.tile(np.arange(n), 2), np.concatenate([first, second]), n)
    return krippendorff_alpha(counts)
