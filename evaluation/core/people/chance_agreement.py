"""Gwet's AC1 and AC2: agreement beyond chance that stays stable if one label is rare.

Alpha is low if nearly all labels are equal, even if annotators agree well. It takes the share of
rare labels itself for chance agreement (the "kappa paradox"). AC1 assumes that only labels given at
random agree by chance. Sources: Gwet (2008), British Journal of Mathematical and
Statistical Psychology 61:29-48, for AC1; Gwet (2014), Handbook of Inter-Rater Reliability, 4th
edition, for weights (AC2) and pairs with different numbers of labels.
"""

from __future__ import annotations

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.agreement import NOT_TWO_LABELS, Estimate, ValueCounts
from evaluation.core.people.alpha import (
    NO_VARIATION,
    Interval,
    check_resampling,
    percentiles,
    why_no_spread,
)


def gwet_ac(counts: ValueCounts, n_categories: int, *, ordinal: bool = False) -> Estimate:
    """Return AC1, or with ordinal weights AC2.

    n_categories: labels of the scale, at least 2; they include all values that occur. Observed
    agreement is the weighted share of agreeing label pairs, as a mean over multiply labelled pairs.
    Chance agreement is T / (q (q - 1)) * sum of p (1 - p) over the q categories. p is the mean
    share of a category over all labelled pairs, also those with one label. T is the sum of all
    weights (q for AC1). Undefined without a pair that has two labels, and if all labels are equal.
    """
    if undefined := _why_undefined(counts):
        return Estimate(None, undefined)
    weights = _weights(counts.values, n_categories, ordinal=ordinal)
    found = _coefficients(counts, counts.weights[None, :], weights, n_categories)
    return Estimate(float(found[0]))


def gwet_interval(
    counts: ValueCounts,
    n_categories: int,
    resamples: int = 1000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    ordinal: bool = False,
) -> Interval:
    """Return the percentile bootstrap interval of `gwet_ac`, with pairs resampled.

    Pairs with one label and pairs with several are drawn separately, in their present numbers: the
    number of pairs that are labelled twice is planned, not random.
    """
    check_resampling(resamples, confidence)
    undefined = _why_undefined(counts) or why_no_spread(counts.multiply_labelled())
    if undefined:
        return Interval(None, None, confidence, 0, 0, undefined)
    drawn = np.zeros((resamples, len(counts.weights)), np.int64)
    several = counts.patterns.sum(axis=1) >= 2
    for stratum in (several, ~several):
        observed = counts.weights[stratum]
        if observed.sum():
            total = int(observed.sum())
            drawn[:, stratum] = rng.multinomial(total, observed / total, size=resamples)
    weights = _weights(counts.values, n_categories, ordinal=ordinal)
    found = _coefficients(counts, drawn, weights, n_categories)
    return percentiles(found, resamples, confidence, NO_VARIATION)


def _why_undefined(counts: ValueCounts) -> str | None:
    if counts.n_multiply_labelled == 0:
        return NOT_TWO_LABELS
    return NO_VARIATION if counts.patterns.any(axis=0).sum() < 2 else None


def _coefficients(
    counts: ValueCounts, drawn: IntArray, weights: FloatArray, n_categories: int
) -> FloatArray:
    """Return the coefficient for each row of pattern weights [B, K] in which labels vary.

    weights: [q, q], of agreement between two categories; values of the counts index it.
    """
    pattern = counts.patterns.astype(np.float64)
    given = pattern.sum(axis=1)
    several = given >= 2
    among = weights[np.ix_(counts.values, counts.values)]
    # Weighted number of labels of each pair that agree with another label of the pair.
    equal = np.einsum("kc,cd,kd->k", pattern, among, pattern) - given
    share = equal[several] / (given * (given - 1))[several]
    observed = (drawn[:, several] @ share) / drawn[:, several].sum(axis=1)
    shares = (drawn @ (pattern / given[:, None])) / drawn.sum(axis=1)[:, None]
    by_chance = (shares * (1 - shares)).sum(axis=1) * weights.sum()
    by_chance /= n_categories * (n_categories - 1)
    varied = (shares > 0).sum(axis=1) >= 2
    return np.asarray((observed - by_chance)[varied] / (1 - by_chance)[varied])


def _weights(values: IntArray, n_categories: int, *, ordinal: bool) -> FloatArray:
    """Return the weights of agreement between two categories.

    They are 1 for the same category and 0 for others. On an ordinal scale they are 1 - C(d + 1, 2)
    / C(q, 2) for categories d steps apart (Gwet 2014, chapter 3).
    """
    if n_categories < 2 or values.min() < 0 or values.max() >= n_categories:
        raise ValueError("values must be numbers from 0 to the number of categories, at least 2")
    if not ordinal:
        return np.eye(n_categories)
    steps = np.abs(np.subtract.outer(np.arange(n_categories), np.arange(n_categories)))
    apart = (steps + 1) * steps / 2
    return np.asarray(1 - apart / (n_categories * (n_categories - 1) / 2))
