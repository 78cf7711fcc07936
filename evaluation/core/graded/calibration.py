"""A proxy compared with people's labels of the same pairs.

A proxy calls a pair relevant if its value is at least a threshold T. People judged the same pair
relevant or not.

=========  ====================================================================================
precision  share of the pairs called relevant that people also judged relevant
recall     share of the pairs judged relevant that the proxy also calls relevant
F1         2 * (pairs called relevant by both) / (called relevant + judged relevant)
alpha      Krippendorff's alpha of two annotators, of which one is the proxy. For n pairs it is
           1 - d (2 n - 1) / (N1 N0). d is the number of pairs on which the two differ. N1 and N0
           are the numbers of relevant and irrelevant outcomes among the 2 n outcomes of both.
           It is about 0 for a proxy that guesses.
AUC        share of all (relevant, irrelevant) combinations in which the relevant pair has the
           higher value. Equal values count as one half (Mann and Whitney 1947).
AP         mean of the precisions of all relevant pairs. The precision of a pair is the precision at
           a threshold equal to the value of the pair. Pairs with equal values are called relevant
           together, as in scikit-learn, so their order does not matter.
=========  ====================================================================================

F1, alpha, AUC and AP are computed from the numbers of relevant and irrelevant pairs with each
distinct value, so that a resample needs one sparse product instead of a sort.

The best threshold is the one with the highest alpha. F1 is not suitable: if proxy and people agree
only by chance, calling every pair relevant has the highest F1. On the pairs on which a threshold
was chosen, its alpha is too high. `cross_fit` therefore chooses the threshold for each tenth of the
clusters on the other nine tenths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, IntArray, dense_groups
from evaluation.core.people.alpha import Interval
from evaluation.core.statistics.proportions import effective_size, wilson_interval
from evaluation.core.statistics.resampling import WILSON, normal_quantile, undefined_reason
from hearth.shared.arrays import numbered

FOLDS: Final = 10

NO_RELEVANT: Final = "no pair was judged relevant"
NO_IRRELEVANT: Final = "no pair was judged irrelevant"


@dataclass(frozen=True, eq=False)
class Labelled:
    """Pairs that people judged.

    relevant: bool [n], what people answered. clusters: int64 [n], the cluster of each pair, such as
    the video of its caption, numbered from 0 without gaps. others: int64 [n], a second cluster of
    each pair, such as the video that was ranked; None if only `clusters` are resampled.
    """

    relevant: BoolArray
    clusters: IntArray
    others: IntArray | None = None

    @classmethod
    def of(
        cls, relevant: npt.ArrayLike, clusters: npt.ArrayLike, others: npt.ArrayLike | None = None
    ) -> Labelled:
        """Return the pairs. Raises ValueError if the lengths differ."""
        found = np.asarray(relevant, np.bool_)
        second = None if others is None else dense_groups(others, len(found))
        return cls(found, dense_groups(clusters, len(found)), second)

    def __len__(self) -> int:
        return len(self.relevant)

    @property
    def n_relevant(self) -> int:
        return int(np.count_nonzero(self.relevant))

    @property
    def n_clusters(self) -> int:
        return int(self.clusters.max(initial=-1)) + 1

    @property
    def sides(self) -> tuple[IntArray, ...]:
        """The clusterings that are resampled, one or two, int64 [n] each."""
        return (self.clusters,) if self.others is None else (self.clusters, self.others)

    @cached_property
    def cells(self) -> tuple[IntArray, tuple[IntArray, ...]]:
        """The cell of each pair, int64 [n], and the cluster of each cell, int64 [C], by side.

        Pairs with the same cluster on each side are in the same cell. The cells are numbered from 0
        without gaps.
        """
        if self.others is None:
            return self.clusters, (np.arange(self.n_clusters),)
        width = int(self.others.max(initial=-1)) + 1
        codes, cell = numbered(self.clusters * width + self.others)
        return cell, tuple(np.divmod(codes, max(1, width)))

    @property
    def undefined_reason(self) -> str | None:
        """The reason why a proxy cannot be compared with these pairs, or None."""
        if self.n_relevant in (0, len(self)):
            return NO_IRRELEVANT if self.n_relevant else NO_RELEVANT
        return None

    def part(self, pairs: BoolArray) -> Labelled:
        """Return some of the pairs. pairs: bool [n]."""
        return Labelled.of(self.relevant[pairs], *(side[pairs] for side in self.sides))


@dataclass(frozen=True, slots=True, eq=False)
class ByValue:
    """The numbers of relevant and irrelevant pairs by their value, in B samples.

    values: [V], distinct and ascending. relevant, irrelevant: float64 [V, B].
    """

    values: npt.NDArray[Any]
    relevant: FloatArray
    irrelevant: FloatArray

    def auc(self) -> FloatArray:
        """Return the AUC of each sample, [B]; NaN without relevant or irrelevant pairs."""
        below = np.cumsum(self.irrelevant, axis=0) - self.irrelevant / 2
        combinations = self.relevant.sum(axis=0) * self.irrelevant.sum(axis=0)
        return _ratio((self.relevant * below).sum(axis=0), combinations)

    def average_precision(self) -> FloatArray:
        """Return the AP of each sample, [B]; NaN without relevant pairs."""
        found = _at_least(self.relevant)
        precision = found / np.maximum(found + _at_least(self.irrelevant), 1)
        return _ratio((self.relevant * precision).sum(axis=0), self.relevant.sum(axis=0))

    def at(self, thresholds: Sequence[float]) -> AtThresholds:
        """Return the numbers of pairs with value >= T."""
        # Thresholds are rounded to the type of the values. Otherwise a value that was stored as 0.8
        # in half precision would be below the threshold 0.8.
        limits = np.asarray(thresholds).astype(self.values.dtype)
        place = np.searchsorted(self.values, limits)
        none = np.zeros((1, self.relevant.shape[1]))
        correct = np.vstack([_at_least(self.relevant), none])[place]
        wrong = np.vstack([_at_least(self.irrelevant), none])[place]
        relevant = self.relevant.sum(axis=0)
        n_pairs = relevant + self.irrelevant.sum(axis=0)
        return AtThresholds(correct, correct + wrong, relevant, n_pairs)


@dataclass(frozen=True, slots=True, eq=False)
class AtThresholds:
    """The numbers of pairs that are called relevant at T thresholds, in B samples.

    called: number of pairs that are called relevant, float64 [T, B]. correct: number of these that
    people judged relevant, float64 [T, B]. relevant, n_pairs: number of pairs that people judged
    relevant, and of all pairs, float64 [B].
    """

    correct: FloatArray
    called: FloatArray
    relevant: FloatArray
    n_pairs: FloatArray

    @classmethod
    def of_one_sample(
        cls, correct: IntArray, called: IntArray, relevant: int, n_pairs: int
    ) -> AtThresholds:
        """Return the numbers of one sample. correct, called: int64 [T]."""
        columns = (correct[:, None].astype(np.float64), called[:, None].astype(np.float64))
        return cls(*columns, np.array([relevant], np.float64), np.array([n_pairs], np.float64))

    def f1(self) -> FloatArray:
        """Return F1 [T, B], which is 0 if no pair is called or judged relevant."""
        return 2 * self.correct / np.maximum(self.called + self.relevant, 1)

    def alpha(self) -> FloatArray:
        """Return alpha [T, B]."""
        return alpha_of(self.correct, self.called, self.relevant, self.n_pairs)

    def best(self) -> IntArray:
        """Return the index of the threshold with the highest alpha of each sample, [B].

        Thresholds have the same alpha if no value lies between them. If several neighbouring
        thresholds have the highest alpha, the result is the middle one.
        """
        alpha = self.alpha()
        first = alpha.argmax(axis=0)
        from_first = np.arange(len(alpha))[:, None] >= first
        is_lower = from_first & (alpha < alpha.max(axis=0))
        length = np.count_nonzero(from_first & (np.cumsum(is_lower, axis=0) == 0), axis=0)
        return np.asarray(first + (length - 1) // 2)


@dataclass(frozen=True, slots=True, eq=False)
class CrossFitted:
    """The pairs that a proxy calls relevant, with a threshold chosen on other clusters.

    called: bool [n]. thresholds: the index of the threshold of each fold.
    """

    called: BoolArray
    thresholds: IntArray


@dataclass(frozen=True, slots=True)
class Ends:
    """A figure and its interval."""

    value: float | None
    interval: Interval


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The figures at one threshold.

    called: number of pairs that the proxy calls relevant. correct: number of these that people also
    judged relevant.
    """

    threshold: float
    called: int
    correct: int
    precision: Ends
    recall: Ends
    f1: float
    alpha: float


def count_by_value(values: npt.NDArray[Any], labelled: Labelled) -> ByValue:
    """Return the numbers of pairs by their value. values: [n]."""
    return Cells.of(values, labelled).as_they_are


def draw_folds(n_clusters: int, rng: np.random.Generator, folds: int = FOLDS) -> IntArray:
    """Return the fold of each cluster, int64 [n_clusters]. Folds differ in size by at most one.

    Raises ValueError if there are fewer than two clusters.
    """
    if n_clusters < 2:
        raise ValueError("there are fewer than two clusters")
    return rng.permutation(n_clusters) % min(folds, n_clusters)


def cross_fit(
    values: npt.NDArray[Any], labelled: Labelled, thresholds: Sequence[float], fold: IntArray
) -> CrossFitted:
    """Choose the threshold of each fold of the clusters on all other folds.

    values: [n]. fold: int64 [n_clusters], from 0 without gaps.
    """
    fold_of_cells = fold[labelled.cells[1][0]]
    others = 1.0 - (fold_of_cells[:, None] == np.arange(fold.max() + 1))
    best = Cells.of(values, labelled).in_samples(others).at(thresholds).best()
    limits = np.asarray(thresholds).astype(values.dtype)[best]
    return CrossFitted(values >= limits[fold[labelled.clusters]], best)


def curve_of(
    values: npt.NDArray[Any],
    labelled: Labelled,
    thresholds: Sequence[float],
    confidence: float = 0.95,
) -> tuple[CurvePoint, ...]:
    """Return the figures at each threshold. values: [n]."""
    at = count_by_value(values, labelled).at(thresholds)
    f1, alpha = at.f1()[:, 0].tolist(), at.alpha()[:, 0].tolist()
    limits = np.asarray(thresholds).astype(values.dtype)
    points = []
    for place, (threshold, limit) in enumerate(zip(thresholds, limits, strict=True)):
        called = values >= limit
        points.append(
            CurvePoint(
                threshold=threshold,
                called=int(np.count_nonzero(called)),
                correct=int(np.count_nonzero(called & labelled.relevant)),
                precision=share_of(labelled.relevant, called, labelled.sides, confidence),
                recall=share_of(called, labelled.relevant, labelled.sides, confidence),
                f1=f1[place],
                alpha=alpha[place],
            )
        )
    return tuple(points)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The number of pairs by value and cell: a sparse matrix [2 * V, C].

    V is the number of distinct values, and C the number of cells (`Labelled.cells`). The first V
    rows count relevant pairs, the others irrelevant ones.
    """

    values: npt.NDArray[Any]
    counts: Any

    @classmethod
    def of(cls, values: npt.NDArray[Any], labelled: Labelled) -> Cells:
        from scipy import sparse  # type: ignore[import-untyped]  # slow to import

        if values.shape != labelled.relevant.shape:
            raise ValueError(f"{len(values)} values for {len(labelled)} pairs")
        distinct, place = np.unique(values, return_inverse=True)
        row = place.reshape(-1) + np.where(labelled.relevant, 0, len(distinct))
        cell, (first, *_) = labelled.cells
        shape = (2 * len(distinct), len(first))
        return cls(distinct, sparse.csr_array((np.ones(len(values)), (row, cell)), shape=shape))

    @property
    def as_they_are(self) -> ByValue:
        """The counts of all pairs, each once."""
        return self.in_samples(np.ones((self.counts.shape[1], 1)))

    def in_samples(self, weights: FloatArray) -> ByValue:
        """Return the counts in B samples.

        weights: float64 [C, B], how often each sample contains each cell.
        """
        found = np.asarray(self.counts @ weights)
        return ByValue(self.values, found[: len(self.values)], found[len(self.values) :])


def share_of(part: BoolArray, of: BoolArray, sides: Sequence[IntArray], confidence: float) -> Ends:
    """Return the share of the pairs in `of` that are also in `part`.

    part, of: bool [n]. sides: one or two clusterings, int64 [n] each. For two, the variance of the
    share is that of the first plus that of the second minus that of independent pairs (Cameron,
    Gelbach and Miller 2011).
    """
    values = part[of].astype(np.float64)
    share = float(values.mean()) if len(values) else None
    groups = [side[of] for side in sides]
    reasons = [undefined_reason(len(values), group) for group in groups]
    if reason := next(filter(None, reasons), None):
        return Ends(share, Interval(None, None, confidence, 0, 0, reason))
    z = normal_quantile(confidence)
    sizes = [effective_size(values, dense_groups(one, len(one)), confidence, z) for one in groups]
    size = min(sizes)
    if len(sizes) > 1:
        size = min(size, 1 / max(1e-9, sum(1 / one for one in sizes) - 1 / len(values)))
    low, high = wilson_interval(share or 0.0, size, z)
    return Ends(share, Interval(low, high, confidence, 0, method=WILSON))


def alpha_of(
    correct: FloatArray, called: FloatArray, relevant: FloatArray, n_pairs: FloatArray
) -> FloatArray:
    """Return alpha of a proxy and people, by the formula of the module.

    correct: number of pairs that both call relevant. called: number of pairs that the proxy calls
    relevant. relevant: number of pairs that people judged relevant. n_pairs: number of all pairs.
    The shapes broadcast against each other. Alpha is 0 if both call all
    pairs relevant, or both call none relevant.
    """
    n_relevant = called + relevant
    product = n_relevant * (2 * n_pairs - n_relevant)
    differ = n_relevant - 2 * correct
    expected = np.where(product > 0, product, 1)
    return np.where(product > 0, 1 - differ * (2 * n_pairs - 1) / expected, 0)


def _at_least(counts: FloatArray) -> FloatArray:
    """Return, for each value, the number of pairs with this value or a higher one, [V, B]."""
    return np.asarray(np.cumsum(counts[::-1], axis=0)[::-1])


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)
