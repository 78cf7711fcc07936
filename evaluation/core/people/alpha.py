"""Krippendorff's alpha and its bootstrap interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import krippendorff
import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.agreement import NOT_TWO_LABELS, NOT_TWO_PAIRS, Estimate, ValueCounts

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]

NO_VARIATION: Final = "no variation"
ALL_AGREE: Final = "all labels of each pair are equal, so resampling shows no spread"
ONE_PATTERN: Final = "all pairs have the same labels, so resampling shows no spread"

# Bounds the memory of a bootstrap to some tens of megabytes.
_CHUNK_CELLS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval, or the name of the reason why it is undefined.

    resamples: how many were drawn; skipped: those among them in which the figure is undefined
    (all labels alike) and which the percentiles leave out. method: how it was computed; a closed
    form draws no resamples.
    """

    low: float | None
    high: float | None
    confidence: float
    resamples: int
    skipped: int = 0
    undefined: str | None = None
    method: str = "percentile"


def krippendorff_alpha(counts: ValueCounts, level: Level = "nominal") -> Estimate:
    """Krippendorff's alpha of the multiply labelled pairs, by the `krippendorff` package.

    Pairs with a single label have nothing to be compared with and do not enter. Undefined where
    no pair has two labels and where all comparable labels are alike. Raises ValueError for a
    ratio scale with negative values.
    """
    several = counts.multiply_labelled()
    undefined = _why_undefined(several, level)
    if undefined is not None:
        return Estimate(None, undefined)
    value = krippendorff.alpha(
        value_counts=np.repeat(several.patterns, several.weights, axis=0),
        value_domain=several.values.astype(np.float64),
        level_of_measurement=level,
    )
    return Estimate(float(value))


def alpha_interval(
    counts: ValueCounts,
    resamples: int = 1000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    level: Level = "nominal",
) -> Interval:
    """Percentile bootstrap interval of alpha over the multiply labelled pairs.

    A resample draws as many pairs with replacement. Only the number of pairs of each pattern
    matters, and these numbers follow exactly a multinomial distribution with the observed shares,
    so that they are drawn directly: K numbers a resample in place of all pairs. Labels of the
    same pair stay together (Efron and Tibshirani 1993, chapter 13, with the pair as the unit).
    The interval covers the choice of the pairs, not that of the annotators. It is undefined if
    every resample would have the same alpha: an interval of no width would hide this.
    """
    check_resampling(resamples, confidence)
    several = counts.multiply_labelled()
    undefined = _why_undefined(several, level) or why_no_spread(several)
    if undefined is not None:
        return Interval(None, None, confidence, 0, 0, undefined)
    return percentiles(
        _resampled_alphas(several, resamples, rng, level), resamples, confidence, NO_VARIATION
    )


def check_resampling(resamples: int, confidence: float) -> None:
    """Raise ValueError for an impossible number of resamples or confidence."""
    if resamples < 1 or not 0 < confidence < 1:
        raise ValueError("resamples must be at least 1 and confidence between 0 and 1")


def why_no_spread(several: ValueCounts) -> str | None:
    """Return the reason why all resamples would agree equally well, or None."""
    if several.n_pairs == 1:
        return NOT_TWO_PAIRS
    if len(several.weights) == 1:
        return ONE_PATTERN
    return ALL_AGREE if bool(((several.patterns > 0).sum(axis=1) == 1).all()) else None


def percentiles(
    values: FloatArray, resamples: int, confidence: float, undefined: str | None = None
) -> Interval:
    """Return the percentile interval of the defined values, or the reason why there are none.

    values: [at most `resamples`].
    """
    if len(values) == 0:
        return Interval(None, None, confidence, resamples, resamples, undefined)
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail]).tolist()
    return Interval(low, high, confidence, resamples, resamples - len(values))


def _why_undefined(several: ValueCounts, level: Level) -> str | None:
    """Reason why alpha of multiply labelled pairs does not exist, or None."""
    if level == "ratio" and np.any(several.values < 0):
        raise ValueError("a ratio scale has no negative values")
    if several.n_pairs == 0:
        return NOT_TWO_LABELS
    return NO_VARIATION if several.patterns.any(axis=0).sum() < 2 else None


def _resampled_alphas(
    several: ValueCounts, resamples: int, rng: np.random.Generator, level: Level
) -> FloatArray:
    """Alpha of each resample in which it is defined, at most [resamples]."""
    n_pairs, (n_patterns, n_values) = several.n_pairs, several.patterns.shape
    chunk = max(1, _CHUNK_CELLS // max(n_patterns, n_values**2))
    alphas = []
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        weights = rng.multinomial(n_pairs, several.weights / n_pairs, size=size)
        alphas.append(_alphas_of_weights(several, weights, level))
    return np.concatenate(alphas)


def _alphas_of_weights(several: ValueCounts, weights: IntArray, level: Level) -> FloatArray:
    """Alpha for each row of pattern weights [B, K] in which it is defined.

    1 - observed / expected disagreement from the coincidence matrices (Krippendorff, Content
    Analysis, on reliability). For two different values c and d: o_cd is the sum of
    n_c n_d / (n - 1) over the items, e_cd the same of the sums over all items. Where c = d the
    distance is 0, so that their diagonals need not be right. Equal to the package's value.
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
    found = np.einsum("bcd,bcd->b", observed, distance)
    return np.asarray(1 - (n_value.sum(axis=1) - 1) * found / expected)


def distances(values: IntArray, n_value: FloatArray, level: Level) -> FloatArray:
    """Squared distance of every two values in each resample, [B, V, V].

    n_value: [B, V], comparable labels of each value, on which only the ordinal distance depends:
    there it is the difference of the mean ranks.
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
