"""Gwet's AC1 and AC2, coefficients of agreement beyond chance that also suit rare labels.

Alpha is low if nearly all labels are equal, even if annotators agree well (the "kappa paradox").
Alpha computes chance agreement as if all labels were assigned at random. AC1 assumes that only some
labels are chosen at random, and that only these agree by chance. AC1 is from Gwet (2008), British
Journal of Mathematical and Statistical Psychology 61:29-48. Weights (AC2) and pairs with different
numbers of labels are from Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition.
"""

from __future__ import annotations

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people import alpha
from evaluation.core.people.agreement import NOT_TWO_LABELS, Estimate, ValueCounts


def gwet_ac(counts: ValueCounts, n_categories: int, *, ordinal: bool = False) -> Estimate:
    """Return AC1, or AC2 with ordinal weights.

    n_categories: number q of steps of the scale, at least 2. Label values lie from 0 to q - 1.

    The coefficient is (observed - chance) / (1 - chance). For one pair, observed agreement is the
    mean weight of every two of its labels. A weight is 1 for equal labels (`_weights`). The mean
    over multiply labelled pairs is used. Chance agreement is T / (q (q - 1)) * sum of p (1 - p)
    over the categories. p is the mean share of a category over all labelled pairs, including those
    with one label. T is the sum of all weights (q for AC1).

    The coefficient is undefined if no pair has two labels, or if all labels are equal. Raises
    ValueError if there are fewer than two categories, or a value is out of bounds.
    """
    if undefined := _undefined_reason(counts):
        return Estimate(None, undefined)
    weights = _weights(counts.values, n_categories, ordinal=ordinal)
    values = _coefficients(counts, counts.weights[None, :], weights, n_categories)
    return Estimate(float(values[0]))


def gwet_interval(
    counts: ValueCounts,
    n_categories: int,
    resamples: int = 1000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    ordinal: bool = False,
) -> alpha.Interval:
    """Return the percentile bootstrap interval of `gwet_ac`, with pairs resampled.

    Pairs with one label and pairs with several labels are drawn separately, because the number of
    pairs with several labels is planned and not random. Raises ValueError for the reasons of
    `gwet_ac`, or if the number of resamples or the confidence is out of bounds.
    """
    alpha.check_resampling(resamples, confidence)
    undefined = _undefined_reason(counts) or alpha.no_spread_reason(counts.multiply_labelled())
    if undefined:
        return alpha.Interval(None, None, confidence, 0, 0, undefined)
    drawn = np.zeros((resamples, len(counts.weights)), np.int64)
    several = counts.patterns.sum(axis=1) >= 2
    for stratum in (several, ~several):
        observed = counts.weights[stratum]
        if observed.sum():
            total = int(observed.sum())
            drawn[:, stratum] = rng.multinomial(total, observed / total, size=resamples)
    weights = _weights(counts.values, n_categories, ordinal=ordinal)
    values = _coefficients(counts, drawn, weights, n_categories)
    return alpha.percentiles(values, resamples, confidence, alpha.NO_VARIATION)


def _undefined_reason(counts: ValueCounts) -> str | None:
    if counts.n_multiply_labelled == 0:
        return NOT_TWO_LABELS
    return alpha.NO_VARIATION if counts.patterns.any(axis=0).sum() < 2 else None


def _coefficients(
    counts: ValueCounts, drawn: IntArray, weights: FloatArray, n_categories: int
) -> FloatArray:
    """Return the coefficient for each row of `drawn` in which labels vary.

    drawn: int64 [B, K], the number of pairs with each pattern. weights: float64 [q, q], the
    agreement of two categories, indexed by label values.
    """
    pattern = counts.patterns.astype(np.float64)
    n_labels = pattern.sum(axis=1)
    several = n_labels >= 2
    of_values = weights[np.ix_(counts.values, counts.values)]
    # Weighted number of ordered pairs of labels of a pattern that agree. No label is paired with
    # itself.
    equal = np.einsum("kc,cd,kd->k", pattern, of_values, pattern) - n_labels
    share = equal[several] / (n_labels * (n_labels - 1))[several]
    observed = (drawn[:, several] @ share) / drawn[:, several].sum(axis=1)
    shares = (drawn @ (pattern / n_labels[:, None])) / drawn.sum(axis=1)[:, None]
    by_chance = (shares * (1 - shares)).sum(axis=1) * weights.sum()
    by_chance /= n_categories * (n_categories - 1)
    varied = (shares > 0).sum(axis=1) >= 2
    return np.asarray((observed - by_chance)[varied] / (1 - by_chance)[varied])


def _weights(values: IntArray, n_categories: int, *, ordinal: bool) -> FloatArray:
    """Return the weight of agreement of every two categories, float64 [q, q].

    The weight is 1 for equal categories and 0 for different ones. On an ordinal scale it is
    1 - C(d + 1, 2) / C(q, 2), where d is the number of steps between the two categories (Gwet 2014,
    chapter 3).
    """
    if n_categories < 2 or values.min() < 0 or values.max() >= n_categories:
        raise ValueError(
            "values must be numbers from 0 to one below the number of categories, which must be at "
            "least 2"
        )
    if not ordinal:
        return np.eye(n_categories)
    steps = np.abs(np.subtract.outer(np.arange(n_categories), np.arange(n_categories)))
    distance = (steps + 1) * steps / 2
    return np.asarray(1 - distance / (n_categories * (n_categories - 1) / 2))
