"""The measure of docs/adding.md."""

from __future__ import annotations

from evaluation.core.arrays import FloatArray
from evaluation.core.relevance.measure import Declared, Kind, Measure
from evaluation.core.relevance.scoring import ListStatistics


class RankBiasedPrecision(Kind):
    """(1 - p) times the sum of p^(rank - 1) over the positives (Moffat and Zobel, TOIS 2008)."""

    parameters = {"p": Declared()}

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        persistence = float(measure.parameter("p") or 0.8)
        weight = (1 - persistence) * persistence ** (lists.hits.rank - 1)
        return lists.sum_over_hits(weight, measure.cutoff)
