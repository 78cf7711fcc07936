"""Unbiased estimates of squared measures, and of how much wrong labels move a corrected score.

A corrected score v(t) is computed from independent numbers t, whose means are the relevance T of
the pairs (`corrected_scores`). Its variance over the labels is E[v(t)^2] - v(T)^2. The square of a
measure is a function of zeros and ones, too, and therefore a polynomial w in which each pair occurs
at most once in each term. So w(t) has the mean v(T)^2, and v(t)^2 - w(t) is an unbiased estimate of
the variance. It needs no assumption about how often pairs are relevant. C is 0 or 1, so its w is C
itself.

AP, R and nDCG are a sum S over the relevant pairs of the top k, times h(N), where N is the number
of relevant pairs. As in `corrected_scores`, h(N)^2 is the sum of w z^(N - 1) over roots of unity z,
for N >= 1. The mean of z^(N - 1) S^2 is F / z times the mean of S^2 for pairs that are relevant
with the weight s z. A pass over the ranks computes this mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.core.arrays import FloatArray
from evaluation.core.relevance.corrected_scores import (
    TINY,
    ComplexArray,
    DividedSum,
    Groups,
    JudgedLists,
    relevance_of_ranks,
    roots_of_unity,
    score_relevance,
)
from evaluation.core.relevance.measures import Measure


def noise_variances(
    lists: JudgedLists, relevance: FloatArray, measures: Sequence[Measure]
) -> dict[Measure, FloatArray]:
    """Return the variance of each corrected value over the labels, float64 [n_queries].

    lists, relevance: as for `score_relevance`, with numbers of `noise_relevance.unbiased_relevance`
    for pairs whose labels are independent. The estimate of a single query can be negative. Raises
    ValueError if a measure cannot be corrected.
    """
    values = score_relevance(lists, relevance, measures)
    squares = square_relevance(lists, relevance, measures)
    return {measure: values[measure] ** 2 - squares[measure] for measure in measures}


def square_relevance(
    lists: JudgedLists, relevance: FloatArray, measures: Sequence[Measure]
) -> dict[Measure, FloatArray]:
    """Return an unbiased estimate of the square of each measure for each query, [n_queries].

    lists, relevance: as for `score_relevance`, whose results have the mean of the measure itself.
    """
    t = relevance_of_ranks(lists, relevance)
    squares = {}
    for measure in measures:
        if measure.kind.can("square"):
            squares[measure] = measure.kind.square(t[: measure.cutoff], measure)
        else:
            squares[measure] = _squared_sum(DividedSum.of(measure, len(t)), t, lists, relevance)
    return squares


def _squared_sum(
    term: DividedSum, t: FloatArray, lists: JudgedLists, relevance: FloatArray
) -> FloatArray:
    """Return the estimate for one measure that is a sum times h(N), [n_queries]."""
    total = np.zeros(t.shape[1])
    if not len(t) or not t.shape[1]:
        return total
    groups = Groups.of(lists, relevance)
    most = max(int(groups.sizes.max(initial=0)), len(t))
    nodes, weights = roots_of_unity([lambda n: term.factors(n) ** 2], most)
    k = len(term.weights)
    for z, weight in zip(nodes.tolist(), weights[0].tolist(), strict=True):
        factor = 1 + t * (z - 1)
        factor[factor == 0] = TINY
        everything = groups.product(z) if term.kind.divides_by_all else factor[:k].prod(axis=0)
        total += (weight * everything / z * _mean_square(term, z * t[:k] / factor[:k])).real
    return total


def _mean_square(term: DividedSum, chance: ComplexArray) -> ComplexArray:
    """Return the mean of S^2 for independent pairs, [n_queries].

    chance: [k, n_queries], the weight with which the pair at each rank is relevant. S is the sum of
    w_r T_r, or of w_r T_r (A + 1) if the measure counts the A relevant pairs above each rank.
    """
    above = squared_above = s = s_above = squared = np.zeros(chance.shape[1], chance.dtype)
    for weight, p in zip(term.weights.tolist(), chance, strict=True):
        if not term.kind.with_above:
            squared = squared + p * (2 * weight * s + weight**2)
            s = s + p * weight
            continue
        # A' = A + T, and S' = S + w T (A + 1). T is 0 or 1, so it is equal to its square.
        gained = squared_above + 2 * above + 1  # the mean of (A + 1)^2
        squared = squared + p * (2 * weight * (s_above + s) + weight**2 * gained)
        s_above = s_above + p * (s + weight * gained)
        s = s + p * weight * (above + 1)
        squared_above = squared_above + p * (2 * above + 1)
        above = above + p
    return squared
