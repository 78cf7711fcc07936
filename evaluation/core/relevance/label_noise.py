"""Scores corrected for wrong labels, with intervals for labelling and sampling together.

A raw score takes every label for the truth. C@k is a maximum over k labels, so false alarms raise
it: with 1.8 % of them and 5 % misses, raw C@10 is several points too high. A corrected score uses
numbers that are right on average (`noise_relevance`) in the measure (`corrected_scores`).

The interval resamples clusters of captions with all their labels, which covers the choice of
captions and the errors of their labels. It fits the error rates again in each resample. A score is
computed at the estimated rates and one standard deviation to each side of each rate. A parabola for
each rate interpolates between these scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit  # type: ignore[import-untyped]

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.label_rates import ErrorRates, RatesEstimate
from evaluation.core.relevance.corrected_scores import locate, score_relevance
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.resampling import FEW_CLUSTERS, mean_interval
from evaluation.core.statistics.ties import ROUNDING

_CHUNK_DRAWS: Final = 1 << 22

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class NoisyScore:
    """A score by the labels as they are, and corrected for their errors.

    raw, raw_interval: of the labels as they are; the interval is for sampling alone. corrected,
    interval: without the errors of the labels; the interval is for labelling and sampling. change,
    change_interval: raw minus corrected, the effect of label noise. Intervals are None if there are
    fewer than two clusters.
    """

    run: str
    measure: Measure
    raw: float
    raw_interval: Pair | None
    corrected: float
    interval: Pair | None
    change: float
    change_interval: Pair | None


@dataclass(frozen=True, slots=True, eq=False)
class Resamples:
    """Clusters drawn with replacement: the clusters, the seed and the number of resamples.

    clusters: int64 [n_queries], numbered 0, 1, 2 … without gaps.
    """

    clusters: IntArray
    number: int
    seed: int

    @property
    def n_clusters(self) -> int:
        return int(self.clusters.max(initial=-1)) + 1

    def sums(self, of_clusters: FloatArray) -> FloatArray:
        """Return sums of the rows of `of_clusters` [G, m] in each resample: [number, m].

        Each call draws the same clusters.
        """
        rng, n = np.random.default_rng(self.seed), self.n_clusters
        found = np.empty((self.number, of_clusters.shape[1]))
        chunk = max(1, _CHUNK_DRAWS // max(1, n))
        for start in range(0, self.number, chunk):
            rows = min(chunk, self.number - start)
            picks = rng.integers(0, max(1, n), (rows, n)) + np.arange(rows)[:, None] * n
            times = np.bincount(picks.reshape(-1), minlength=rows * n).reshape(rows, n)
            found[start : start + rows] = times.astype(np.float64) @ of_clusters
        return found

    def interval(self, values: FloatArray, confidence: float) -> Pair | None:
        """Return the interval of the mean of values [n_queries], as all analyses give it."""
        rng = np.random.default_rng(self.seed)
        clusters = self.clusters if self.n_clusters < len(values) else None
        found = mean_interval(
            values, self.number, rng=rng, confidence=confidence, clusters=clusters
        )
        return None if found.low is None or found.high is None else (found.low, found.high)

    def by_cluster(self, values: FloatArray) -> FloatArray:
        """Return sums of values [m, n_queries] over the queries of each cluster: [G, m]."""
        n = self.n_clusters
        return np.stack([np.bincount(self.clusters, row, n) for row in values], axis=1)


def correct_scores(
    runs: Mapping[str, npt.NDArray[Any]],
    judged: Judged,
    codes: IntArray,
    relevance_at: Callable[[ErrorRates], FloatArray],
    measures: Sequence[Measure],
    estimate: RatesEstimate,
    resamples: Resamples,
    *,
    confidence: float = 0.95,
) -> list[NoisyScore]:
    """Return raw and corrected scores of each run and measure.

    runs: ranked lists by name. judged: what raw scores use. codes: int64 [J], ascending, all pairs
    with a label or known truth. relevance_at: error rates to a number for each of them [J], as
    `noise_relevance.unbiased_relevance` gives it. estimate: with as many draws as there are
    resamples. Raises ValueError without rates, and for measures that cannot be corrected.
    """
    if estimate.rates is None:
        raise ValueError("error rates are needed")
    points = _points(estimate.rates, estimate.draws)
    relevance = [relevance_at(rates) for rates in points.rates]
    values = {}
    for name, ranked in runs.items():
        lists = locate(ranked, codes, judged.n_videos)
        scored = score_run(ranked, judged, measures)
        values[name] = (
            {one: scored.per_query(one) for one in measures},
            [score_relevance(lists, numbers, measures) for numbers in relevance],
        )
    pairs = [(name, measure) for name in values for measure in measures]
    table = [values[name][0][measure] for name, measure in pairs]
    table += [values[name][1][0][measure] for name, measure in pairs]
    table.append(np.ones(judged.n_queries))
    sums = resamples.sums(resamples.by_cluster(np.stack(table)))
    means = sums[:, :-1] / sums[:, -1:]
    found = []
    for place, (name, measure) in enumerate(pairs):
        at_points = [float(one[measure].mean()) for one in values[name][1]]
        raw_values = values[name][0][measure]
        raw, raw_interval = float(raw_values.mean()), resamples.interval(raw_values, confidence)
        moved = means[:, len(pairs) + place] + points.moved(at_points, estimate.draws)
        draws = np.clip(moved, 0, 1)
        corrected = min(1.0, max(0.0, at_points[0]))
        span = _Span(resamples.n_clusters, confidence)
        # Resamples of captions that are all right do not vary, but other captions would.
        varies = float(np.ptp(draws)) > ROUNDING
        found.append(
            NoisyScore(
                run=name,
                measure=measure,
                raw=raw,
                raw_interval=raw_interval,
                corrected=corrected,
                interval=span.share(draws, corrected) if varies else raw_interval,
                change=raw - corrected,
                change_interval=span.of(means[:, place] - draws, raw - corrected),
            )
        )
    return found


def score_change_by_noise(
    ranked: npt.NDArray[Any],
    judged: Judged,
    codes: IntArray,
    relevance: FloatArray,
    measures: Sequence[Measure],
) -> dict[Measure, float]:
    """Return the change in each score that label noise causes: raw minus corrected, no intervals.

    ranked: lists of one run. judged: what raw scores use. codes, relevance: [J], as in
    `correct_scores`, at one pair of error rates. Raises ValueError for measures that cannot be
    corrected.
    """
    raw = score_run(ranked, judged, measures)
    corrected = score_relevance(locate(ranked, codes, judged.n_videos), relevance, measures)
    return {
        one: float(raw.per_query(one).mean()) - min(1.0, max(0.0, float(corrected[one].mean())))
        for one in measures
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """Error rates at which scores are computed: the estimate, and to both sides of each rate.

    columns, steps: [R], the rates that vary, as columns of draws, and how far to each side.
    """

    rates: tuple[ErrorRates, ...]
    columns: tuple[int, ...]
    steps: tuple[float, ...]

    def moved(self, scores: Sequence[float], draws: FloatArray) -> FloatArray:
        """Return the difference of a score from `scores[0]` at the rates of each draw, [resamples].

        scores: at each of the rates.
        """
        found = np.zeros(len(draws))
        for place, (column, step) in enumerate(zip(self.columns, self.steps, strict=True)):
            above, below = scores[1 + 2 * place], scores[2 + 2 * place]
            away = draws[:, column] - self.rates[0].values[column]
            slope = (above - below) / (2 * step)
            bend = (above + below - 2 * scores[0]) / (2 * step * step)
            found += slope * away + bend * away * away
        return found


def _points(rates: ErrorRates, draws: FloatArray) -> _Points:
    values = rates.values
    # If there are four rates, the first is the mean of the last two.
    columns = range(len(values)) if len(values) == 2 else range(1, len(values))
    room = (1 - max(values[0], *values[2:], 0.0) - values[1]) / 4
    found, kept, steps = [rates], [], []
    for column in columns:
        step = min(float(draws[:, column].std()), values[column] / 2, room) if len(draws) else 0.0
        if step > 0:
            kept.append(column)
            steps.append(step)
            for side in (step, -step):
                moved = list(values)
                moved[column] += side
                found.append(ErrorRates(*moved))
    return _Points(tuple(found), tuple(kept), tuple(steps))


@dataclass(frozen=True, slots=True)
class _Span:
    """Intervals from resampled figures."""

    n_clusters: int
    confidence: float

    def of(self, draws: FloatArray, estimate: float) -> Pair | None:
        """Return percentiles; with few clusters Student's t around the estimate."""
        if self.n_clusters < 2:
            return None
        tail = (1 - self.confidence) / 2
        if self.n_clusters < FEW_CLUSTERS:
            # Resamples of G clusters vary by (G - 1) / G of the variance.
            spread = float(draws.std()) * (self.n_clusters / (self.n_clusters - 1)) ** 0.5
            half = float(stdtrit(self.n_clusters - 1, 1 - tail)) * spread
            return estimate - half, estimate + half
        low, high = np.quantile(draws, [tail, 1 - tail]).tolist()
        return low, high

    def share(self, draws: FloatArray, estimate: float) -> Pair | None:
        """Return the interval of a share, within 0 to 1."""
        found = self.of(draws, estimate)
        return (
            None if found is None else (min(1.0, max(0.0, found[0])), max(0.0, min(1.0, found[1])))
        )
