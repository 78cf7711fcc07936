"""The scores of a run of moments, with bounds and with intervals by video."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.moments.lists import MomentLists, MomentTruth, Saliency
from evaluation.core.relevance.measure import NO_QUERIES, Measure, Score
from pooling.core.ranked_lists import RankedLists

NO_TRUTH: Final = "the benchmark has nothing by which this measure is defined"
DRAWS: Final = 1000


@dataclass(frozen=True, slots=True, eq=False)
class MomentScores:
    """The values of each query, float64 [n_queries] by measure; nan: the query is left out.

    upper: the values if all unjudged moments hit, of the measures that have such a bound.
    """

    values: Mapping[Measure, FloatArray]
    upper: Mapping[Measure, FloatArray]

    def mean(self, measure: Measure) -> Score:
        return mean_of(self.values[measure])

    def bounds(self, measure: Measure) -> list[float | None] | None:
        if measure not in self.upper:
            return None
        return [self.mean(measure).value, mean_of(self.upper[measure]).value]


def mean_of(values: FloatArray) -> Score:
    counted = values[~np.isnan(values)]
    if not len(counted):
        return Score(None, 0, NO_TRUTH if len(values) else NO_QUERIES)
    return Score(float(counted.mean()), len(counted))


def score_moments(
    lists: RankedLists,
    truth: MomentTruth,
    measures: Iterable[Measure],
    *,
    saliency: Saliency | None = None,
    bounds: bool = False,
) -> MomentScores:
    """Score one run. lists: one list for each query; without starts and ends, only VR is computed.

    bounds: whether to compute the upper bounds as well.
    """
    if lists.queries is not None or len(lists) != truth.space.n_queries:
        raise ValueError(f"{len(lists)} lists for {truth.space.n_queries} queries")
    found = MomentLists(lists, truth, saliency)
    wanted = tuple(dict.fromkeys(measures))
    values = {measure: measure.kind.locate(found, measure) for measure in wanted}
    upper: dict[Measure, FloatArray] = {}
    if bounds:
        best = replace(found, upper=True)
        upper = {m: m.kind.locate(best, m) for m in wanted if m.kind.bounded}
    return MomentScores(values, upper)


def interval_by_video(values: FloatArray, videos: IntArray, *, seed: int = 0) -> list[float] | None:
    """Return the 95 % percentile interval of a mean when whole videos are drawn with replacement.

    values: float64 [n_queries], nan: left out. videos: the right video of each query, < 0: none.
    None with fewer than two videos.
    """
    kept = ~np.isnan(values) & (videos >= 0)
    _, group = np.unique(videos[kept], return_inverse=True)
    if not len(group) or group.max() < 1:
        return None
    sums, sizes = np.bincount(group, values[kept]), np.bincount(group)
    picks = np.random.default_rng(seed).multinomial(len(sums), [1 / len(sums)] * len(sums), DRAWS)
    low, high = np.quantile((picks @ sums) / (picks @ sizes), [0.025, 0.975]).tolist()
    return [low, high]
