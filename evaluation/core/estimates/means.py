"""The difference estimator of a mean, such as AP, and its jackknife for future videos.

A machine predicts the measure of all N captions, f. n captions are drawn without replacement, and
people find their measure, m. The mean of f over all is corrected by the drawn differences:

    theta = lam mean_N(f) + mean_S(m - lam f),    lam = cov_S(m, f) / var_S(f), within 0 to 1
    SE^2  = (1 - n / N) s^2 / n,    s^2 the variance of m - lam f with n - 2 degrees of freedom

The interval uses t with n - 2 degrees of freedom. A useless machine gets a lam near 0, so it costs
nothing. Without a machine, f is the value by the known labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.estimates.shares import Interval
from evaluation.core.statistics.proportions import t_quantile

CONFIDENCE = 0.95
FEWEST_CARRIERS = 6
"""The least number of captions that must carry the variance for an interval by t."""

MOST_SKEWED = 0.27
"""The largest skewness of the sample mean for an interval by t."""


def weight_of_machine(m: FloatArray, f: FloatArray) -> FloatArray:
    """Return lam for draws of n captions each: m, f are float64 [..., n]."""
    centred = f - f.mean(axis=-1, keepdims=True)
    spread = (centred**2).sum(axis=-1)
    together = ((m - m.mean(axis=-1, keepdims=True)) * centred).sum(axis=-1)
    return np.asarray(np.clip(together / np.where(spread > 0, spread, 1), 0, 1))


def difference_estimate(
    m: FloatArray,
    f: FloatArray,
    mean_f: float,
    population: int,
    bound: float | None = None,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the mean of all captions, with the interval by t.

    m, f: float64 [..., n], measure and prediction of the drawn captions, n at least 3. mean_f: the
    mean prediction of the whole population. bound: the largest possible difference. One difference
    of +bound and one of -bound are added if fewer than 6 captions carry the variance, or if the
    skewness of the mean is above 0.27, because t is then too narrow: a sample without one of the
    few large differences has a small mean and a small variance. None: never.
    """
    lam = weight_of_machine(m, f)
    rest = m - lam[..., None] * f
    n = m.shape[-1]
    is_narrow = (carriers(rest) < FEWEST_CARRIERS) | (skewness_of_mean(rest) > MOST_SKEWED)
    extra = np.where(is_narrow, 2 if bound else 0, 0)
    mean = rest.sum(axis=-1) / (n + extra)
    squares = (rest**2).sum(axis=-1) + extra * (bound or 0) ** 2 - (n + extra) * mean**2
    freedom = n + extra - 2
    quantile = np.where(extra > 0, t_quantile(confidence, n), t_quantile(confidence, n - 2))
    variance = np.maximum(squares, 0) / freedom * (1 - n / population) / (n + extra)
    half = quantile * np.sqrt(variance)
    value = lam * mean_f + mean
    return Interval(value, value - half, value + half)


def carriers(differences: FloatArray) -> FloatArray:
    """Return how many of the captions carry the variance, float64 [...].

    It is (sum of squares)^2 / sum of fourth powers, which is n if all differ from the mean by the
    same amount, and 1 if only one does. 0 if nothing varies.
    """
    squares = (differences - differences.mean(axis=-1, keepdims=True)) ** 2
    total = squares.sum(axis=-1)
    fourth = np.where(total > 0, (squares**2).sum(axis=-1), 1)
    return np.asarray(total**2 / np.where(fourth > 0, fourth, 1))


def skewness_of_mean(differences: FloatArray) -> FloatArray:
    """Return the absolute skewness of the differences / sqrt(n), float64 [...]; 0 if none vary."""
    n = differences.shape[-1]
    centred = differences - differences.mean(axis=-1, keepdims=True)
    spread = (centred**2).mean(axis=-1)
    third = np.abs((centred**3).mean(axis=-1))
    return np.asarray(third / np.where(spread > 0, spread, 1) ** 1.5 / np.sqrt(n))


def jackknife(
    m: FloatArray,
    f: FloatArray,
    videos: IntArray,
    sums: npt.ArrayLike,
    sizes: npt.ArrayLike,
) -> Interval:
    """Return the mean with an interval for future captions and videos.

    m, f: float64 [n], of the drawn captions. videos: int64 [n], their videos. sums, sizes: float64
    [G], the sum of f over all captions of each video, and their number. Each video is left out
    once, with lam as it is. SE^2 = (G - 1) / G * sum of (theta without a video - their mean)^2. t
    has the number of drawn videos - 1 as degrees of freedom.
    """
    all_f, size = np.asarray(sums, np.float64), np.asarray(sizes, np.float64)
    n_videos = len(size)
    lam = float(weight_of_machine(m, f))
    rest = np.bincount(videos, m - lam * f, n_videos)
    drawn = np.bincount(videos, minlength=n_videos)
    value = lam * all_f.sum() / size.sum() + rest.sum() / drawn.sum()
    without = lam * (all_f.sum() - all_f) / (size.sum() - size)
    without += (rest.sum() - rest) / (drawn.sum() - drawn)
    error = np.sqrt((n_videos - 1) / n_videos * ((without - without.mean()) ** 2).sum())
    half = t_quantile(CONFIDENCE, int(np.count_nonzero(drawn)) - 1) * error
    return Interval(np.asarray(value), np.asarray(value - half), np.asarray(value + half))


@dataclass(frozen=True, slots=True, eq=False)
class SumsByVideo:
    """Sums over the captions of each video, float64 [G] each.

    captions, undecided: numbers of captions. decided: the sum of the values of decided captions.
    predicted: the sum of the predictions of undecided ones.
    """

    captions: FloatArray
    undecided: FloatArray
    decided: FloatArray
    predicted: FloatArray


def jackknife_of_undecided(
    m: FloatArray, f: FloatArray, videos: IntArray, sums: SumsByVideo, z: float | None = None
) -> Interval:
    """Return the mean of all captions with an interval for future captions and videos.

    Only undecided captions were drawn. m, f: float64 [n]. videos: int64 [n], their videos, which
    number the sums. Each video with a caption is left out once, with all that is known of it. With
    no decided captions, this is `jackknife`. z: the normal quantile of the level; None: 95 %.
    """
    has_caption = sums.captions > 0
    lam = float(weight_of_machine(m, f))
    n_videos = len(sums.captions)
    rest = np.bincount(videos, m - lam * f, n_videos)
    drawn = np.bincount(videos, minlength=n_videos)

    def theta(decided: Any, predicted: Any, n_open: Any, mean: Any, captions: Any) -> Any:
        return (decided + lam * predicted + n_open * mean) / captions

    total = [column.sum() for column in (sums.decided, sums.predicted, sums.undecided)]
    n_all = sums.captions.sum()
    value = float(theta(total[0], total[1], total[2], rest.sum() / drawn.sum(), n_all))
    mean = (rest.sum() - rest) / np.maximum(drawn.sum() - drawn, 1)
    without = theta(
        total[0] - sums.decided,
        total[1] - sums.predicted,
        total[2] - sums.undecided,
        mean,
        np.maximum(n_all - sums.captions, 1),
    )[has_caption]
    n = len(without)
    error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    confidence = CONFIDENCE if z is None else confidence_of(z)
    half = t_quantile(confidence, max(1, int(np.count_nonzero(drawn)) - 1)) * error
    return Interval(np.asarray(value), np.asarray(value - half), np.asarray(value + half))


def confidence_of(z: float) -> float:
    """Return the confidence of an interval by a normal quantile."""
    from scipy.special import ndtr  # type: ignore[import-untyped]  # slow to import

    return float(2 * ndtr(z) - 1)
