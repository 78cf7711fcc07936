"""Scores corrected for wrong labels, with two intervals: for other captions, and for these.

A raw score treats every label as correct. C@k is a maximum over k labels, so false alarms raise it:
with 1.8 % false alarms and 5 % misses, raw C@10 is several points too high. A corrected score is
the same measure (`corrected_scores`), computed from unbiased estimates of relevance
(`noise_relevance`).

The interval for other captions resamples clusters of captions with all their labels. It therefore
covers the choice of the captions and the errors of their labels. The error rates are fitted again
in each resample. To save time, scores are computed only at the estimated rates, and with each rate
moved up once and down once, by at most one standard deviation. A parabola for each rate
interpolates between these scores.

The interval for these captions is about the true score of the benchmark as it is. It is the
corrected score ± z sqrt(V_noise + V_rates). V_noise is the sum of the variances of the captions'
values over their labels (`corrected_squares`), divided by the squared number of captions. V_rates
is the variance of the score over the drawn error rates. Captions that share labels err together.
The variance of each is multiplied by their number, which is exact if their lists are equal, and too
much otherwise.

Both intervals assume that all labels with the same rate are wrong equally often, and independently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.label_rates import ErrorRates, RatesEstimate
from evaluation.core.relevance.corrected_scores import locate, score_relevance
from evaluation.core.relevance.corrected_squares import noise_variances
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.proportions import t_quantile
from evaluation.core.statistics.resampling import FEW_CLUSTERS, mean_interval, normal_quantile
from evaluation.core.statistics.ties import ROUNDING
from pooling.core.ranked_lists import RankedLists

_CHUNK_DRAWS: Final = 1 << 22

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class NoisyScore:
    """A raw score, and the score corrected for wrong labels.

    raw: score from the labels, treated as correct. raw_interval: its interval, which covers only
    sampling. corrected: estimated score without label errors. interval: its interval for other
    captions, which covers labelling and sampling. fixed_interval: its interval for these captions,
    which covers labelling only. change: raw minus corrected, the effect of label noise. All other
    intervals are None if there are fewer than two clusters.
    """

    run: str
    measure: Measure
    raw: float
    raw_interval: Pair | None
    corrected: float
    interval: Pair | None
    fixed_interval: Pair
    change: float
    change_interval: Pair | None


@dataclass(frozen=True, slots=True, eq=False)
class Resamples:
    """Settings for resampling clusters with replacement.

    clusters: int64 [n_queries], the cluster of each query, from 0 without gaps. number: number of
    resamples. seed: the seed of the random draws.
    """

    clusters: IntArray
    number: int
    seed: int

    @property
    def n_clusters(self) -> int:
        return int(self.clusters.max(initial=-1)) + 1

    def sums(self, of_clusters: FloatArray) -> FloatArray:
        """Return the sum of the drawn rows in each resample, float64 [number, m].

        of_clusters: float64 [G, m], a row for each cluster. Each call draws the same clusters.
        """
        rng, n = np.random.default_rng(self.seed), self.n_clusters
        sums = np.empty((self.number, of_clusters.shape[1]))
        chunk = max(1, _CHUNK_DRAWS // max(1, n))
        for start in range(0, self.number, chunk):
            rows = min(chunk, self.number - start)
            picks = rng.integers(0, max(1, n), (rows, n)) + np.arange(rows)[:, None] * n
            times = np.bincount(picks.reshape(-1), minlength=rows * n).reshape(rows, n)
            sums[start : start + rows] = times.astype(np.float64) @ of_clusters
        return sums

    def interval(self, values: FloatArray, confidence: float) -> Pair | None:
        """Return the interval of the mean of values [n_queries], by `resampling.mean_interval`.

        The result is None if the interval is undefined.
        """
        rng = np.random.default_rng(self.seed)
        clusters = self.clusters if self.n_clusters < len(values) else None
        interval = mean_interval(
            values, self.number, rng=rng, confidence=confidence, clusters=clusters
        )
        return (
            None if interval.low is None or interval.high is None else (interval.low, interval.high)
        )

    def by_cluster(self, values: FloatArray) -> FloatArray:
        """Return the sums of values [m, n_queries] over the queries of each cluster: [G, m]."""
        n = self.n_clusters
        return np.stack([np.bincount(self.clusters, row, n) for row in values], axis=1)


def correct_scores(
    runs: Mapping[str, RankedLists],
    judged: Judged,
    codes: IntArray,
    relevance_at: Callable[[ErrorRates], FloatArray],
    measures: Sequence[Measure],
    estimate: RatesEstimate,
    resamples: Resamples,
    *,
    confidence: float = 0.95,
    sharing: IntArray | None = None,
) -> list[NoisyScore]:
    """Return raw and corrected scores of each run and measure.

    runs: ranked lists by name. judged: the labels for raw scores. codes: int64
    [J], ascending, the pair codes of all pairs with a label and of original positives.
    relevance_at: a function that computes an unbiased estimate for each of these pairs, float64
    [J], from error rates, as `noise_relevance.unbiased_relevance` does. estimate: error rates, with
    one draw for each resample. sharing: int64 [n_queries], the number of queries that share the
    labels of each query, itself included; None if all labels are separate. Raises ValueError if the
    rates are undefined, or if a measure cannot be corrected.
    """
    points = rate_points(estimate)
    relevance = [relevance_at(rates) for rates in points.rates]
    values = {}
    for name, ranked in runs.items():
        lists = locate(ranked, codes)
        scored = score_run(ranked, judged, measures)
        values[name] = (
            {measure: scored.per_query(measure) for measure in measures},
            [score_relevance(lists, numbers, measures) for numbers in relevance],
            noise_variances(lists, relevance[0], measures),
        )
    pairs = [(name, measure) for name in values for measure in measures]
    table = [values[name][0][measure] for name, measure in pairs]
    table += [values[name][1][0][measure] for name, measure in pairs]
    table.append(np.ones(judged.n_queries))
    sums = resamples.sums(resamples.by_cluster(np.stack(table)))
    means = sums[:, :-1] / sums[:, -1:]
    rows = []
    for place, (name, measure) in enumerate(pairs):
        at_points = [float(point[measure].mean()) for point in values[name][1]]
        raw_values = values[name][0][measure]
        raw, raw_interval = float(raw_values.mean()), resamples.interval(raw_values, confidence)
        by_rates = points.moved(at_points, estimate.draws)
        draws = np.clip(means[:, len(pairs) + place] + by_rates, 0, 1)
        noise = variance_of_score(values[name][2][measure], by_rates, sharing)
        corrected = min(1.0, max(0.0, at_points[0]))
        intervals = ResampledIntervals(resamples.n_clusters, confidence)
        # If a run is correct on all captions, all resamples are equal. The score of other captions
        # could still differ, so the raw interval is used.
        varies = float(np.ptp(draws)) > ROUNDING
        rows.append(
            NoisyScore(
                run=name,
                measure=measure,
                raw=raw,
                raw_interval=raw_interval,
                corrected=corrected,
                interval=intervals.share(draws, corrected) if varies else raw_interval,
                fixed_interval=fixed_interval(at_points[0], noise, confidence),
                change=raw - corrected,
                change_interval=intervals.of(means[:, place] - draws, raw - corrected),
            )
        )
    return rows


def variance_of_mean(variances: FloatArray, sharing: IntArray | None = None) -> float:
    """Return the variance of the mean of independent values, at least 0.

    variances: float64 [n_queries], the variance of each value, which may be negative if it is
    estimated. sharing: as for `correct_scores`.
    """
    total = float((variances if sharing is None else variances * sharing).sum())
    return max(0.0, total) / max(1, len(variances)) ** 2


def variance_of_score(
    variances: FloatArray, by_rates: FloatArray, sharing: IntArray | None = None
) -> float:
    """Return the variance of a corrected score over the labels and over the error rates.

    variances, sharing: as for `variance_of_mean`. by_rates: float64 [resamples], the score at each
    draw of the rates minus the score; empty if the rates are certain.
    """
    return variance_of_mean(variances, sharing) + float(np.var(by_rates) if len(by_rates) else 0)


def fixed_interval(
    estimate: float, variance: float, confidence: float, sampling: Pair = (0.0, 0.0)
) -> Pair:
    """Return the interval of a corrected score for the captions of the benchmark, within 0 to 1.

    variance: that of the labels and of the error rates. sampling: the distances from the estimate
    to the lower and the upper end of an interval that covers a sample of the captions. They are 0
    if all captions are scored. The ends are estimate - sqrt(below^2 + z^2 variance) and estimate +
    sqrt(above^2 + z^2 variance), the squares added as in Newcombe's method 10.
    """
    spread = normal_quantile(confidence) ** 2 * variance
    below, above = sampling
    low, high = estimate - (below**2 + spread) ** 0.5, estimate + (above**2 + spread) ** 0.5
    return min(1.0, max(0.0, low)), max(0.0, min(1.0, high))


def score_change_by_noise(
    ranked: RankedLists,
    judged: Judged,
    codes: IntArray,
    relevance: FloatArray,
    measures: Sequence[Measure],
) -> dict[Measure, float]:
    """Return the effect of label noise on each score: raw minus corrected, without intervals.

    judged: the labels for raw scores. codes: int64
    [J], as in `correct_scores`. relevance: float64 [J], unbiased estimates at the estimated
    error rates. Raises ValueError if a measure cannot be corrected.
    """
    raw = score_run(ranked, judged, measures)
    corrected = score_relevance(locate(ranked, codes), relevance, measures)
    return {
        measure: float(raw.per_query(measure).mean())
        - min(1.0, max(0.0, float(corrected[measure].mean())))
        for measure in measures
    }


@dataclass(frozen=True, slots=True, eq=False)
class RatePoints:
    """Error rates at which scores are computed.

    rates: the estimate, then for each of the R rates that vary, the rates a step above and a step
    below the estimate. columns: [R], the column of the draws for each of these rates. steps: [R],
    the size of the step.
    """

    rates: tuple[ErrorRates, ...]
    columns: tuple[int, ...]
    steps: tuple[float, ...]

    def moved(self, scores: Sequence[float], draws: FloatArray) -> FloatArray:
        """Return the score at the rates of each draw, minus `scores[0]`, [resamples].

        scores: the score at each of `rates`. A parabola for each rate interpolates between them.
        """
        difference = np.zeros(len(draws))
        for place, (column, step) in enumerate(zip(self.columns, self.steps, strict=True)):
            above, below = scores[1 + 2 * place], scores[2 + 2 * place]
            distance = draws[:, column] - self.rates[0].values[column]
            slope = (above - below) / (2 * step)
            curvature = (above + below - 2 * scores[0]) / (2 * step * step)
            difference += slope * distance + curvature * distance * distance
        return difference


def rate_points(estimate: RatesEstimate) -> RatePoints:
    """Return the rates at which to compute scores. Raises ValueError if the rates are undefined.

    A step is the standard deviation of the draws. It is limited so that no rate falls below 0, and
    so that labels stay better than chance.
    """
    rates, draws = estimate.rates, estimate.draws
    if rates is None:
        raise ValueError("error rates are needed")
    values = rates.values
    # If there are four rates, the first is the mean of the last two and does not vary itself.
    columns = range(len(values)) if len(values) == 2 else range(1, len(values))
    room = (1 - max(values[0], *values[2:], 0.0) - values[1]) / 4
    points, varying, steps = [rates], [], []
    for column in columns:
        step = min(float(draws[:, column].std()), values[column] / 2, room) if len(draws) else 0.0
        if step > 0:
            varying.append(column)
            steps.append(step)
            for side in (step, -step):
                moved = list(values)
                moved[column] += side
                points.append(ErrorRates(*moved))
    return RatePoints(tuple(points), tuple(varying), tuple(steps))


@dataclass(frozen=True, slots=True)
class ResampledIntervals:
    """Settings for intervals from resampled figures."""

    n_clusters: int
    confidence: float

    def of(self, draws: FloatArray, estimate: float) -> Pair | None:
        """Return percentiles of the draws, or with few clusters Student's t around the estimate."""
        if self.n_clusters < 2:
            return None
        if self.n_clusters < FEW_CLUSTERS:
            # The variance of resamples of G clusters is too small by the factor (G - 1) / G.
            spread = float(draws.std()) * (self.n_clusters / (self.n_clusters - 1)) ** 0.5
            half = t_quantile(self.confidence, self.n_clusters - 1) * spread
            return estimate - half, estimate + half
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(draws, [tail, 1 - tail]).tolist()
        return low, high

    def share(self, draws: FloatArray, estimate: float) -> Pair | None:
        """Return the interval of a share, within 0 to 1."""
        ends = self.of(draws, estimate)
        return None if ends is None else (min(1.0, max(0.0, ends[0])), max(0.0, min(1.0, ends[1])))
