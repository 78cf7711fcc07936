"""Intervals of the figures of `calibration`, and the comparison of several proxies.

Pairs of one cluster, usually a video with all its captions, are dependent. A resample therefore
draws clusters. Let x be a figure, sd the standard deviation of its values in the resamples, and t
the quantile of Student's t distribution. The intervals are:

shares      for precision, recall and agreement: Wilson's, with an effective number of pairs
            (`statistics.proportions`), because percentiles fail near 0 and 1
AUC, AP     on the scale of log odds: logit(x) ± t * sd / (x (1 - x))
alpha       on Fisher's scale: atanh(x) ± t * sd / (1 - x^2)
difference  x ± t * sd
threshold   between percentiles of the resamples

With two sides (`Labelled.others`), clusters of both sides are drawn, so that the intervals also
hold for other videos to rank.

All except those of shares are widened if there are few clusters. They use the effective number of
clusters (`statistics.resampling`) of the relevant or of the irrelevant pairs, whichever is lower.

In simulations (8 to 150 videos with 12 pairs each, 5 to 30 % of them relevant, AUC from .5 to .99),
the coverage at 95 % is .91 to .99 for AUC, AP and shares, and .96 or more for thresholds. For AUC
near 1, the coverage of percentiles is only .83. The interval of the cross-fitted alpha contains the
highest alpha of the population in .89 to .97 of the samples, because a threshold that is chosen on
a sample is slightly worse than the best one.

Proxies are compared by their highest alpha, and each resample chooses the threshold again. In
simulations with four equal proxies, one is called clearly worse than the best in .02 to .04 of the
samples. A comparison by the cross-fitted alpha, whose thresholds are fixed in the resamples, would
do so in .08 to .10 of the samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.graded.calibration import (
    Cells,
    CurvePoint,
    Ends,
    Labelled,
    alpha_of,
    cross_fit,
    curve_of,
    draw_folds,
    share_of,
)
from evaluation.core.people.alpha import Interval, check_resampling
from evaluation.core.statistics import resampling
from evaluation.core.statistics.proportions import t_quantile
from hearth.shared.progress import Progress, no_progress

FEWEST_CLUSTERS: Final = 6
"""With fewer clusters, the percentiles of resamples cannot reach a coverage of 95 %."""

TOO_FEW: Final = (
    f"fewer than {FEWEST_CLUSTERS} clusters have relevant pairs, "
    f"or fewer than {FEWEST_CLUSTERS} have irrelevant pairs"
)
NOTHING_VARIES: Final = "the figure is equal in all resamples"

# Numbers in the largest array of a chunk of resamples: 32 MiB of float64.
_CHUNK: Final = 4 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """One proxy compared with people.

    curve: a point for each threshold. best: index of the threshold with the highest alpha.
    threshold_interval: the interval of this threshold. fitted_alpha, fitted_agreement: alpha and
    agreement with thresholds that were chosen on other clusters. Agreement is the share of the
    pairs with the same outcome. difference: the highest alpha of this proxy minus the highest alpha
    of the best proxy.
    """

    auc: Ends
    average_precision: Ends
    curve: tuple[CurvePoint, ...]
    best: int
    threshold_interval: Interval
    fitted_alpha: Ends
    fitted_agreement: Ends
    difference: Ends


def calibrate(
    proxies: Sequence[npt.NDArray[Any]],
    labelled: Labelled,
    thresholds: Sequence[float],
    resamples: int = 1000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    progress: Progress = no_progress,
) -> tuple[Calibration, ...]:
    """Compare proxies with the labels of the same pairs.

    proxies: the values of each proxy, [n]. thresholds: ascending. All proxies are compared in the
    same resamples, so that differences stay paired. The intervals of the differences from the
    best proxy are valid at the same time for all combinations of two proxies (Bonferroni). Raises
    ValueError if a parameter is out of bounds, if a proxy does not have one value for each pair, if
    people judged all pairs relevant or all irrelevant, or if there are fewer than two clusters.
    """
    check_resampling(resamples, confidence)
    if labelled.undefined_reason:
        raise ValueError(labelled.undefined_reason)
    fold = draw_folds(labelled.n_clusters, rng)
    fitted = [cross_fit(values, labelled, thresholds, fold).called for values in proxies]
    cells = [Cells.of(values, labelled) for values in proxies]
    outcomes = [_Outcomes.of(called, labelled) for called in fitted]
    draws = _resample(cells, outcomes, labelled, thresholds, resamples, rng, progress)
    curves = [curve_of(values, labelled, thresholds, confidence) for values in proxies]
    highest = [max(point.alpha for point in curve) for curve in curves]
    best = int(np.argmax(highest))
    # The best proxy is chosen by the data, so the intervals allow for all combinations of two.
    n_differences = max(1, math.comb(len(proxies), 2))
    single = _Settings(confidence, _resampling_number(labelled))
    together = _Settings(1 - (1 - confidence) / n_differences, single.number)
    return tuple(
        Calibration(
            **_of_ranking(cells[place], draws[place], thresholds, single),
            **_of_outcome(outcomes[place], draws[place], labelled, single),
            curve=curves[place],
            difference=_difference_ends(
                highest[place] - highest[best],
                draws[place].best_alpha - draws[best].best_alpha,
                together,
            ),
        )
        for place in range(len(proxies))
    )


@dataclass(frozen=True, slots=True)
class _Settings:
    """number: the effective number of clusters, or None if there are too few for an interval."""

    confidence: float
    number: float | None


def _of_ranking(
    cells: Cells,
    drawn: _Draws,
    thresholds: Sequence[float],
    settings: _Settings,
) -> dict[str, Any]:
    """Return AUC and AP, and the best threshold with its interval, as fields of `Calibration`."""
    counts = cells.as_they_are
    auc, ap = float(counts.auc()[0]), float(counts.average_precision()[0])
    return {
        "auc": _log_odds_ends(auc, drawn.auc, settings),
        "average_precision": _log_odds_ends(ap, drawn.ap, settings),
        "best": int(counts.at(thresholds).best()[0]),
        "threshold_interval": _threshold_interval(drawn.best, thresholds, settings),
    }


def _of_outcome(
    outcome: _Outcomes, drawn: _Draws, labelled: Labelled, settings: _Settings
) -> dict[str, Any]:
    """Return the fields of `Calibration` that use cross-fitted thresholds."""
    is_equal, every = outcome.called == labelled.relevant, np.ones(len(labelled), np.bool_)
    return {
        "fitted_alpha": _fisher_ends(outcome.alpha(), drawn.fitted_alpha, settings),
        "fitted_agreement": share_of(is_equal, every, labelled.sides, settings.confidence),
    }


# --- Resampling ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Outcomes:
    """The pairs that the proxy calls relevant, and counts of pairs by cell.

    called: bool [n]. by_cell: float64 [4, C]. Its rows count the pairs that both call relevant,
    those that the proxy calls relevant, those that people judged relevant, and all pairs.
    """

    called: BoolArray
    by_cell: FloatArray

    @classmethod
    def of(cls, called: BoolArray, labelled: Labelled) -> _Outcomes:
        every = np.ones(len(labelled), np.bool_)
        flags = (called & labelled.relevant, called, labelled.relevant, every)
        cell, (first, *_) = labelled.cells
        sums = [np.bincount(cell[flag], minlength=len(first)) for flag in flags]
        return cls(called, np.array(sums, np.float64))

    def alpha(self) -> float:
        return float(self.alpha_in_samples(np.ones((self.by_cell.shape[1], 1)))[0])

    def alpha_in_samples(self, weights: FloatArray) -> FloatArray:
        both, called, relevant, every = self.by_cell @ weights
        return alpha_of(both, called, relevant, every)


@dataclass(frozen=True, slots=True, eq=False)
class _Draws:
    """The figures of a proxy in all resamples, [R] each.

    best, best_alpha: index of the best threshold of the resample, and its alpha.
    """

    auc: FloatArray
    ap: FloatArray
    best: IntArray
    best_alpha: FloatArray
    fitted_alpha: FloatArray


def _resample(
    cells: Sequence[Cells],
    outcomes: Sequence[_Outcomes],
    labelled: Labelled,
    thresholds: Sequence[float],
    resamples: int,
    rng: np.random.Generator,
    progress: Progress,
) -> list[_Draws]:
    """Return the figures of each proxy in the same resamples."""
    parts: list[list[_Draws]] = [[] for _ in cells]
    rows = max(max(cell.counts.shape) for cell in cells)
    for done, weights in _weights(labelled, resamples, rows, rng):
        progress(done, resamples, "resampling")
        for cell, outcome, part in zip(cells, outcomes, parts, strict=True):
            counts = cell.in_samples(weights)
            at = counts.at(thresholds)
            part.append(
                _Draws(
                    counts.auc(),
                    counts.average_precision(),
                    at.best(),
                    at.alpha().max(axis=0),
                    outcome.alpha_in_samples(weights),
                )
            )
    return [
        _Draws(
            np.concatenate([one.auc for one in part]),
            np.concatenate([one.ap for one in part]),
            np.concatenate([one.best for one in part]),
            np.concatenate([one.best_alpha for one in part]),
            np.concatenate([one.fitted_alpha for one in part]),
        )
        for part in parts
    ]


def _weights(
    labelled: Labelled, resamples: int, rows: int, rng: np.random.Generator
) -> Iterator[tuple[int, FloatArray]]:
    """Yield, for each chunk, the number of earlier resamples and the weights, [C, B].

    A weight is how often a resample draws the cluster of a cell; with two sides, the product of
    both numbers (Owen 2007, "The pigeonhole bootstrap"). rows: number of rows of the largest array,
    whose columns are the resamples.
    """
    chunk = max(1, min(resamples, _CHUNK // rows))
    _, sides = labelled.cells
    numbers = [int(side.max()) + 1 for side in sides]
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        weights = np.ones((len(sides[0]), size))
        for side, number in zip(sides, numbers, strict=True):
            drawn = rng.multinomial(number, np.full(number, 1 / number), size=size).T
            weights *= drawn[side]
        yield start, weights


def _resampling_number(labelled: Labelled) -> float | None:
    """Return the effective number of clusters, or None if there are too few.

    Figures depend on the relevant and on the irrelevant pairs. The number is computed for each of
    the two and for each side, and the lowest one is returned.
    """
    sizes = [
        np.bincount(side[flag]).astype(np.float64)
        for side in labelled.sides
        for flag in (labelled.relevant, ~labelled.relevant)
    ]
    if min(np.count_nonzero(size) for size in sizes) < FEWEST_CLUSTERS:
        return None
    return min(map(resampling.effective_clusters, sizes))


def _log_odds_ends(value: float, drawn: FloatArray, settings: _Settings) -> Ends:
    """Return a figure from 0 to 1. Its interval is computed on the log odds scale. drawn: [R]."""
    # logit(x) = 2 atanh(2 x - 1), so Fisher's scale of 2 x - 1 gives the same interval.
    found = _fisher_ends(2 * value - 1, 2 * drawn - 1, settings)
    interval = found.interval
    if interval.low is None or interval.high is None:
        return Ends(value, interval)
    return Ends(value, replace(interval, low=(1 + interval.low) / 2, high=(1 + interval.high) / 2))


def _fisher_ends(value: float, drawn: FloatArray, settings: _Settings) -> Ends:
    """Return a figure from -1 to 1. Its interval is computed on Fisher's scale. drawn: [R]."""
    number, confidence = settings.number, settings.confidence
    defined, reason = _defined(drawn, number)
    if number is None or reason is not None or not -1 < value < 1:
        return _without_interval(value, drawn, confidence, reason or NOTHING_VARIES)
    deviation = float(defined.std(ddof=1)) * math.sqrt(number / (number - 1))
    half = t_quantile(confidence, number - 1) * deviation / (1 - value**2)
    low, high = (math.tanh(math.atanh(value) + side * half) for side in (-1, 1))
    skipped = len(drawn) - len(defined)
    return Ends(value, Interval(low, high, confidence, len(drawn), skipped, method=resampling.T))


def _difference_ends(value: float, drawn: FloatArray, settings: _Settings) -> Ends:
    """Return a difference with its interval. drawn: [R]."""
    number, confidence = settings.number, settings.confidence
    defined, reason = _defined(drawn, number)
    if number is None or reason is not None:
        return _without_interval(value, drawn, confidence, reason)
    deviation = float(defined.std(ddof=1)) * math.sqrt(number / (number - 1))
    half = t_quantile(confidence, number - 1) * deviation
    return Ends(
        value, Interval(value - half, value + half, confidence, len(drawn), method=resampling.T)
    )


def _defined(drawn: FloatArray, number: float | None) -> tuple[FloatArray, str | None]:
    """Return the defined values, and the reason why they give no interval, or None.

    The reason is `TOO_FEW` if `number` is None, and also if fewer than two values are defined.
    """
    defined = drawn[np.isfinite(drawn)]
    if number is None or len(defined) < 2:
        return defined, TOO_FEW
    return defined, NOTHING_VARIES if np.ptp(defined) == 0 else None


def _without_interval(
    value: float, drawn: FloatArray, confidence: float, reason: str | None
) -> Ends:
    return Ends(value, Interval(None, None, confidence, len(drawn), 0, reason))


def _threshold_interval(
    best: IntArray, thresholds: Sequence[float], settings: _Settings
) -> Interval:
    number, confidence = settings.number, settings.confidence
    if number is None:
        return Interval(None, None, confidence, len(best), 0, TOO_FEW)
    chosen = np.asarray(thresholds, np.float64)[best]
    low, high = resampling.widened_percentiles(chosen, number, confidence, "closest_observation")
    return Interval(low, high, confidence, len(best), method=resampling.PERCENTILE)
