"""Shares of captions or pairs that are corrected for wrong labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.label_rates import ErrorRates, RatesEstimate
from evaluation.core.relevance import label_noise
from evaluation.core.relevance.corrected_scores import Groups, JudgedLists


@dataclass(frozen=True, slots=True)
class CorrectedShare:
    """A corrected share with its interval, both from 0 to 1.

    interval: it covers the choice of the captions, the errors of the labels and the uncertainty of
    the error rates, as the interval for other captions in `label_noise`. None if there are fewer
    than two clusters.
    """

    value: float
    interval: label_noise.Pair | None


def correct_share(
    values_at: Callable[[ErrorRates], FloatArray],
    sizes: FloatArray,
    estimate: RatesEstimate,
    resamples: label_noise.Resamples,
    *,
    confidence: float = 0.95,
) -> CorrectedShare:
    """Return the sum of values divided by the sum of sizes, with its interval.

    values_at: a function that computes the unbiased values of all queries from error rates, float64
    [n_queries]. sizes: float64 [n_queries], at least one of them above 0. estimate: error rates,
    with one draw for each resample. Raises ValueError if the rates are undefined.
    """
    points = label_noise.rate_points(estimate)
    values = [values_at(rates) for rates in points.rates]
    at_points = [float(each.sum() / sizes.sum()) for each in values]
    sums = resamples.sums(resamples.by_cluster(np.stack([values[0], sizes])))
    drawn = sums[:, 0] / np.maximum(sums[:, 1], 1e-12) + points.moved(at_points, estimate.draws)
    share = min(1.0, max(0.0, at_points[0]))
    intervals = label_noise.ResampledIntervals(resamples.n_clusters, confidence)
    return CorrectedShare(share, intervals.share(np.clip(drawn, 0, 1), share))


def without_relevant(codes: IntArray, n_queries: int, n_videos: int, t: FloatArray) -> FloatArray:
    """Return an unbiased estimate of whether a query has no relevant pair, float64 [n_queries].

    codes: int64 [J], ascending, the judged pairs. t: float64 [J], unbiased estimates of their
    relevance (`noise_relevance.unbiased_relevance`). The estimate is the product of 1 - t over the
    pairs of the query, and 1 for a query without judged pairs.
    """
    lists = JudgedLists(codes, np.empty((0, n_queries), np.int64), n_videos)
    return np.asarray(Groups.of(lists, t).product(0.0).real, np.float64)
