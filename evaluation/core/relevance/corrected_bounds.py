"""Bounds of scores that hold although labels can be wrong.

`pools.bounds` has the lowest and the highest score that the unjudged pairs of a list allow if all
labels are right. Wrong labels move both. Here, the score is corrected for wrong labels twice: with
all unjudged pairs of the list as not relevant, and with all of them as relevant. The bounds are the
lower end of the first score's interval and the upper end of the second one's, for the captions of
the benchmark (`label_noise`). They exist for measures that a relevant pair cannot lower.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.label_rates import ErrorRates, RatesEstimate
from evaluation.core.relevance import label_noise
from evaluation.core.relevance.corrected_scores import locate, score_relevance
from evaluation.core.relevance.corrected_squares import noise_variances
from evaluation.core.relevance.measures import Measure
from pooling.core.pool import union_codes
from pooling.core.ranked_lists import RankedLists


def correct_bounds(
    ranked: RankedLists,
    codes: IntArray,
    relevance_at: Callable[[ErrorRates], FloatArray],
    measures: Sequence[Measure],
    estimate: RatesEstimate,
    *,
    confidence: float = 0.95,
    sharing: IntArray | None = None,
) -> dict[Measure, label_noise.Pair]:
    """Return the corrected bounds of one run for measures without `sides`, within 0 to 1.

    The arguments are those of `label_noise.correct_scores`. Raises ValueError if the rates are
    undefined.
    """
    bounded = [measure for measure in measures if measure.kind.can("correct")]
    points = label_noise.rate_points(estimate)
    numbers = [relevance_at(rates) for rates in points.rates]
    with_unjudged = union_codes([codes, ranked.codes[ranked.is_item]])
    place = np.searchsorted(with_unjudged, codes)
    ends: list[dict[Measure, label_noise.Pair]] = []
    for is_upper in (False, True):
        if is_upper:
            numbers = [_put(np.ones(len(with_unjudged)), place, each) for each in numbers]
        lists = locate(ranked, with_unjudged if is_upper else codes)
        scores = [score_relevance(lists, each, bounded) for each in numbers]
        noise = noise_variances(lists, numbers[0], bounded)
        ends.append({})
        for measure in bounded:
            at_points = [float(score[measure].mean()) for score in scores]
            by_rates = points.moved(at_points, estimate.draws)
            variance = label_noise.variance_of_score(noise[measure], by_rates, sharing)
            ends[-1][measure] = label_noise.fixed_interval(at_points[0], variance, confidence)
    return {measure: (ends[0][measure][0], ends[1][measure][1]) for measure in bounded}


def _put(target: FloatArray, places: IntArray, values: FloatArray) -> FloatArray:
    target[places] = values
    return target
