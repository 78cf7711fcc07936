"""Krippendorff's alpha and its bootstrap interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import krippendorff
import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.agreement import (
    NOT_TWO_LABELS,
    NOT_TWO_PAIRS,
    Estimate,
    ValueCounts,
    is_unanimous,
)

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]

NO_VARIATION: Final = "no variation"
ALL_AGREE: Final = "all labels of each pair are equal, so resampling shows no spread"
ONE_PATTERN: Final = "all pairs have the same labels, so resampling shows no spread"

# Limits the memory of a bootstrap to a few tens of megabytes.
_CHUNK_CELLS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, or the reason why it is undefined.

    resamples: number of resamples, 0 if none were drawn. skipped: number of resamples in which the
    figure is undefined, for example because all labels are equal; the interval ignores them.
    method: how the interval was computed.
    """

    low: float | None
    high: float | None
    confidence: float
    resamples: int
    skipped: int = 0
    undefined: str | None = None
    method: str = "percentile"

    @property
    def ends(self) -> list[float] | None:
        """The lower and the upper end, as JSON; None if the interval is undefined."""
        return None if self.low is None or self.high is None else [self.low, self.high]


def krippendorff_alpha(counts: ValueCounts, level: Level = "nominal") -> Estimate:
    """Return Krippendorff's alpha of the multiply labelled pairs, from the `krippendorff` package.

    Pairs with a single label are ignored. Alpha is undefined if no pair has two labels, or if all
    labels of multiply labelled pairs are equal. Raises ValueError if a ratio scale has a negative
    value.
    """
    several = counts.multiply_labelled()
    undefined = _undefined_reason(several, level)
    if undefined is not None:
        return Estimate(None, undefined)
    value = krippendorff.alpha(
        value_counts=_merge_unanimous(several),
        value_domain=several.values.astype(np.float64),
        level_of_measurement=level,
    )
    return Estimate(float(value))


def _merge_unanimous(several: ValueCounts) -> IntArray:
    """Return fewer rows of label counts with the same alpha as the pairs, int64 [rows, V].

    In most pairs, all labels are equal. Such a pair adds the number of its labels to the
    coincidences of their value. One row with the labels of all such pairs of a value adds the same,
    so it replaces them. Each other pair keeps its row.
    """
    unanimous = is_unanimous(several)
    labels = several.weights[unanimous] @ several.patterns[unanimous]
    others = np.repeat(several.patterns[~unanimous], several.weights[~unanimous], axis=0)
    return np.concatenate([np.diag(labels), others])


def alpha_interval(
    counts: ValueCounts,
    resamples: int = 1000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    level: Level = "nominal",
) -> Interval:
    """Return the percentile bootstrap interval of alpha, with multiply labelled pairs resampled.

    A resample draws the same number of pairs with replacement (Efron and Tibshirani 1993, chapter
    13, with the pair as the unit). Labels of a pair stay together. Alpha depends only on the number
    of pairs with each pattern. These numbers have a multinomial distribution with the observed
    shares, so one number for each pattern is drawn per resample instead of all pairs. The interval
    covers the choice of the pairs, but not the choice of the annotators. It is undefined if every
    resample would have the same alpha, because an interval of width 0 would look exact.

    confidence: between 0 and 1. Raises ValueError if a parameter is out of bounds, or if a ratio
    scale has a negative value.
    """
    check_resampling(resamples, confidence)
    several = counts.multiply_labelled()
    undefined = _undefined_reason(several, level) or no_spread_reason(several)
    if undefined is not None:
        return Interval(None, None, confidence, 0, 0, undefined)
    return percentiles(
        _resampled_alphas(several, resamples, rng, level), resamples, confidence, NO_VARIATION
    )


def check_resampling(resamples: int, confidence: float) -> None:
    """Raise ValueError if there is no resample, or the confidence is not between 0 and 1."""
    if resamples < 1 or not 0 < confidence < 1:
        raise ValueError("resamples must be at least 1 and confidence between 0 and 1")


def no_spread_reason(several: ValueCounts) -> str | None:
    """Return the reason why all resamples would have the same agreement, or None.

    several: multiply labelled pairs.
    """
    if several.n_pairs == 1:
        return NOT_TWO_PAIRS
    if len(several.weights) == 1:
        return ONE_PATTERN
    return ALL_AGREE if bool(((several.patterns > 0).sum(axis=1) == 1).all()) else None


def percentiles(
    values: FloatArray, resamples: int, confidence: float, undefined: str | None = None
) -> Interval:
    """Return the interval between two percentiles of resampled values.

    values: float64, of the resamples in which the figure is defined, at most `resamples`.
    undefined: the reason to return if there are no values.
    """
    if len(values) == 0:
        return Interval(None, None, confidence, resamples, resamples, undefined)
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail]).tolist()
    return Interval(low, high, confidence, resamples, resamples - len(values))


def _undefined_reason(several: ValueCounts, level: Level) -> str | None:
    """Return the reason why alpha of these multiply labelled pairs is undefined, or None."""
    if level == "ratio" and np.any(several.values < 0):
        raise ValueError("a ratio scale has no negative values")
    if several.n_pairs == 0:
        return NOT_TWO_LABELS
    return NO_VARIATION if several.patterns.any(axis=0).sum() < 2 else None


def _resampled_alphas(
    several: ValueCounts, resamples: int, rng: np.random.Generator, level: Level
) -> FloatArray:
    """Return alpha of each resample in which it is defined, float64, at most [resamples]."""
    n_pairs, (n_patterns, n_values) = several.n_pairs, several.patterns.shape
    chunk = max(1, _CHUNK_CELLS // max(n_patterns, n_values**2))
    alphas = []
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        weights = rng.multinomial(n_pairs, several.weights / n_pairs, size=size)
        alphas.append(_alphas_of_weights(several, weights, level))
    return np.concatenate(alphas)


def _alphas_of_weights(several: ValueCounts, weights: IntArray, level: Level) -> FloatArray:
    """Return alpha for each row of pattern weights [B, K] in which it is defined.

    Alpha is 1 - observed / expected disagreement, from coincidence matrices (Krippendorff, Content
    Analysis, chapter on reliability). A pair has n labels, of which n_c have the value c. For two
    different values c and d, the observed coincidence o_cd is the sum of n_c n_d / (n - 1) over the
    pairs. The expected coincidence e_cd is n_c n_d / (n - 1) with the numbers of labels of all
    pairs together. A disagreement is the sum of coincidence * squared distance (`distances`) over
    all c and d. For c = d the distance is 0, so the diagonals do not matter. The result equals that
    of the `krippendorff` package.
    """
    pattern = several.patterns.astype(np.float64)
    n_values = pattern.shape[1]
    ordered_pairs = pattern[:, :, None] * pattern[:, None, :]
    per_item = ordered_pairs / (pattern.sum(axis=1) - 1)[:, None, None]
    observed = (weights @ per_item.reshape(len(pattern), -1)).reshape(-1, n_values, n_values)
    n_value = weights @ pattern
    varied = (n_value > 0).sum(axis=1) >= 2
    observed, n_value = observed[varied], n_value[varied]
    distance = distances(several.values, n_value, level)
    expected = np.einsum("bc,bcd,bd->b", n_value, distance, n_value)
    disagreement = np.einsum("bcd,bcd->b", observed, distance)
    return np.asarray(1 - (n_value.sum(axis=1) - 1) * disagreement / expected)


def distances(values: IntArray, n_value: FloatArray, level: Level) -> FloatArray:
    """Return the squared distance between every two values in each resample, float64 [B, V, V].

    values: int64 [V]. n_value: [B, V], the number of labels of each value. The distance between two
    different values c and d is 1 (nominal), c - d (interval), (c - d) / (c + d) (ratio), or the
    difference between their mean ranks (ordinal). Only the ordinal distance depends on `n_value`.
    """
    if level == "ordinal":
        position = np.cumsum(n_value, axis=1) - n_value / 2
        return np.square(position[:, :, None] - position[:, None, :])
    value = values.astype(np.float64)
    difference = value[:, None] - value[None, :]
    if level == "nominal":
        difference = (difference != 0).astype(np.float64)
    elif level == "ratio":
        total = value[:, None] + value[None, :]
        difference = np.divide(difference, total, out=np.zeros_like(total), where=total != 0)
    return np.broadcast_to(np.square(difference), (len(n_value), *difference.shape))
