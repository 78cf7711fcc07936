"""Counts of pairs with several labels, and the fit of error rates to these counts by EM.

The model is described in `label_rates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray

# EM ends when no rate changes by this much.
_TOLERANCE: Final = 1e-7
# Rates stay between this number and 1 minus it, so that every pattern of labels remains possible.
_SMALLEST: Final = 1e-6
# This number of false alarms is added to each of the two kinds of pairs, isolated and not isolated,
# with as many labels as the mean rate implies.
_PRIOR_ALARMS: Final = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class LabelTable:
    """Pairs with at least two labels, counted by their number of labels and of relevant labels.

    n_labels, relevant: int64 [P], the patterns: the number of labels, and the number of relevant
    ones. counts: float64 [G, S * P], the number of pairs of each of G clusters by stratum (S) and
    pattern (P).
    is_isolated: bool [S], whether a stratum contains isolated pairs (no other pair of the caption
    is labelled relevant); None if strata do not distinguish them.
    """

    n_labels: IntArray
    relevant: IntArray
    counts: FloatArray
    n_strata: int
    is_isolated: BoolArray | None = None

    @property
    def total(self) -> FloatArray:
        """Counts over all clusters, float64 [S, P]."""
        return np.asarray(self.counts.sum(axis=0).reshape(self.n_strata, -1))


def tabulate_labels(
    n_labels: IntArray,
    relevant: IntArray,
    strata: IntArray,
    clusters: IntArray,
    n_clusters: int,
    is_isolated: BoolArray | None = None,
) -> LabelTable:
    """Count the pairs with several labels.

    n_labels, relevant: int64 [n_pairs], the number of labels of each pair, and the number of its
    relevant labels. strata, clusters: int64 [n_pairs], numbered from 0. is_isolated: bool
    [n_pairs]; if it is not None, each stratum is split by it.
    """
    several = n_labels >= 2
    n_strata = int(strata[several].max(initial=0)) + 1
    of_strata = None
    if is_isolated is not None:
        strata = strata + n_strata * is_isolated
        of_strata = np.arange(2 * n_strata) >= n_strata
        n_strata *= 2
    n_labels, relevant, strata, clusters = (
        array[several] for array in (n_labels, relevant, strata, clusters)
    )
    width = int(n_labels.max(initial=0)) + 1
    patterns, of_pair = np.unique(n_labels * width + relevant, return_inverse=True)
    n_patterns = len(patterns)
    cell = (clusters * n_strata + strata) * n_patterns + of_pair.reshape(-1)
    counts = np.bincount(cell, minlength=n_clusters * n_strata * n_patterns)
    return LabelTable(
        n_labels=patterns // width,
        relevant=patterns % width,
        counts=counts.reshape(n_clusters, n_strata * n_patterns).astype(np.float64),
        n_strata=n_strata,
        is_isolated=of_strata,
    )


def fit_rates(
    counts: FloatArray, table: LabelTable, start: FloatArray, rounds: int
) -> tuple[FloatArray, FloatArray]:
    """Fit B tables by EM. Return `ErrorRates.values` [B, 2 or 4] and the prevalence [B, S].

    counts: float64 [B, S, P], with the patterns and strata of `table`. start: float64 [B, 2 or 4],
    the first rates. rounds: maximum number of rounds; EM ends earlier if no rate changes by 1e-7.
    """
    n_labels, relevant = table.n_labels.astype(np.float64), table.relevant.astype(np.float64)
    of_stratum = np.maximum(counts.sum(axis=2), 1e-12)
    rates = np.clip(start, _SMALLEST, 1 - _SMALLEST)
    prevalence = np.clip((counts @ (relevant / n_labels)) / of_stratum, 0.01, 0.99)
    for _ in range(rounds):
        false_alarms = _of_strata(rates, table)
        chance = _chances(false_alarms, rates[:, 1], prevalence, n_labels, relevant)
        true = counts * chance
        other = counts - true
        prevalence = np.clip(true.sum(axis=2) / of_stratum, _SMALLEST, 1 - _SMALLEST)
        of_true = true.sum(axis=1)
        misses = (of_true @ (n_labels - relevant)) / np.maximum(of_true @ n_labels, 1e-12)
        alarms, labels = other @ relevant, other @ n_labels  # [B, S]
        updated = _maximise(alarms, labels, misses, table).clip(_SMALLEST, 1 - _SMALLEST)
        is_done = (
            updated.shape == rates.shape and np.abs(updated - rates).max(initial=0) < _TOLERANCE
        )
        rates = updated
        if is_done:
            break
    return rates, prevalence


def _of_strata(rates: FloatArray, table: LabelTable) -> FloatArray:
    """Return the false alarm rate of each stratum, [B, S], or [B, 1] if there is only one rate."""
    if table.is_isolated is None or rates.shape[1] == 2:
        return rates[:, :1]
    return np.where(table.is_isolated, rates[:, 2:3], rates[:, 3:4])


def _maximise(
    alarms: FloatArray, labels: FloatArray, misses: FloatArray, table: LabelTable
) -> FloatArray:
    """Return `ErrorRates.values` [B, 2 or 4] (M step).

    alarms, labels: [B, S], the expected numbers of false alarms and of all labels of pairs that are
    not relevant. misses: [B], the miss rate.
    """
    total, size = alarms.sum(axis=1), np.maximum(labels.sum(axis=1), 1e-12)
    mean = total / size
    columns = [mean, misses]
    if table.is_isolated is not None:
        for strata in (table.is_isolated, ~table.is_isolated):
            prior_labels = _PRIOR_ALARMS / np.maximum(mean, _SMALLEST)
            columns.append((alarms @ strata + _PRIOR_ALARMS) / (labels @ strata + prior_labels))
    return np.stack(columns, axis=1)


def _chances(
    false_alarms: FloatArray,
    misses: FloatArray,
    prevalence: FloatArray,
    n_labels: FloatArray,
    relevant: FloatArray,
) -> FloatArray:
    """Return the probability that a pair of each stratum and pattern is relevant, [B, S, P].

    With the symbols of `label_rates`, this is 1 / (1 + x), where x is the odds of not relevant:
    x = (1 - pi) / pi * (f / (1 - m))^r * ((1 - f) / m)^(n - r).
    """
    f, m = false_alarms[:, :, None], misses[:, None, None]
    for_relevant, for_others = np.log(f) - np.log1p(-m), np.log1p(-f) - np.log(m)
    ratio = relevant * for_relevant + (n_labels - relevant) * for_others
    odds = np.log1p(-prevalence) - np.log(prevalence)
    return np.asarray(1 / (1 + np.exp(np.clip(ratio + odds[:, :, None], -700, 700))))
