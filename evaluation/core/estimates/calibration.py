"""Cross-fitted calibration of a machine's values: probabilities of relevance from known labels.

The labels come from other pools or campaigns. The pairs of a video are calibrated without the
labels of the videos in the same fold, so no pair is calibrated by its own label.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray

FOLDS = 5
# Without at least this number of labels of each kind outside a fold, values stay as they are.
FEWEST_LABELS = 20


class Calibration(StrEnum):
    ISOTONIC = "isotonic"
    LOGISTIC = "logistic"


@dataclass(frozen=True, slots=True)
class Points:
    """Labelled pairs by value: the values, ascending, the pairs and the relevant pairs of each."""

    values: FloatArray
    totals: FloatArray
    relevant: FloatArray

    @property
    def irrelevant(self) -> FloatArray:
        return self.totals - self.relevant


def isotonic(points: Points, at: FloatArray) -> FloatArray:
    """Return the non-decreasing regression of labels on values, at other values.

    It is linear between the values, and constant outside of them.
    """
    from scipy.optimize import isotonic_regression  # type: ignore[import-untyped]  # slow to import

    known = points.totals > 0
    totals = points.totals[known]
    fitted = isotonic_regression(points.relevant[known] / totals, weights=totals).x
    return np.asarray(np.interp(at, points.values[known], fitted))


def logistic(points: Points, at: FloatArray) -> FloatArray:
    """Return the logistic regression of labels on values, at other values (Platt 1999).

    The labels are smoothed as by Platt, so the fit is finite if the values separate them.
    """
    high = 1 - 1 / (points.relevant.sum() + 2)
    low = 1 / (points.irrelevant.sum() + 2)
    target = high * points.relevant + low * points.irrelevant
    columns = np.stack([np.ones_like(points.values), points.values])
    mean = target.sum() / points.totals.sum()
    weights = np.array([np.log(mean / (1 - mean)), 0.0])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-weights @ columns))
        spread = points.totals * chance * (1 - chance)
        curvature = (columns * spread) @ columns.T + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, columns @ (target - points.totals * chance))
        weights = weights + np.clip(step, -5, 5)
        if np.abs(step).max() < 1e-10:
            break
    return np.asarray(1 / (1 + np.exp(-(weights[0] + weights[1] * at))))


FITS = {Calibration.ISOTONIC: isotonic, Calibration.LOGISTIC: logistic}


def cross_fit(
    values: FloatArray,
    labels: FloatArray,
    videos: IntArray,
    at: FloatArray,
    at_videos: IntArray,
    *,
    by: Calibration = Calibration.ISOTONIC,
    seed: int = 0,
) -> FloatArray:
    """Return a probability for each value of `at`, float64 of its shape.

    values, labels, videos: [J], the labelled pairs, labels 0 or 1. at, at_videos: the pairs to
    calibrate, of any shape. Values of a fold with too few labels outside of it stay as they are.
    """
    n_videos = int(max(videos.max(initial=0), at_videos.max(initial=0))) + 1
    folds = np.random.default_rng(seed).permutation(n_videos) % FOLDS
    points, place = np.unique(values, return_inverse=True)
    cells = place * FOLDS + folds[videos]
    shape = (len(points), FOLDS)
    totals = np.bincount(cells, minlength=len(points) * FOLDS).reshape(shape).astype(np.float64)
    relevant = np.bincount(cells, labels, len(points) * FOLDS).reshape(shape)
    found, fold_of = np.array(at, np.float64), folds[at_videos]
    for fold in range(FOLDS):
        others = np.arange(FOLDS) != fold
        known = Points(points, totals[:, others].sum(axis=1), relevant[:, others].sum(axis=1))
        if min(known.relevant.sum(), known.irrelevant.sum()) < FEWEST_LABELS:
            continue
        inside = fold_of == fold
        found[inside] = FITS[by](known, found[inside])
    return found
