"""Pairs with several labels, counted by pattern, and the fit of error rates to such counts by EM.

See `label_rates` for the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray

# EM ends if no rate moves by more.
_TOLERANCE: Final = 1e-7
# No rate is exactly 0 or 1, so that every pattern of labels stays possible.
_SMALLEST: Final = 1e-6
# This number of wrong labels at the mean rate is added to the data of each of two rates.
_PRIOR_ALARMS: Final = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class LabelTable:
    """Pairs with at least two labels, counted by their number of labels and of relevant labels.

    given, relevant: int64 [P], the patterns. counts: float64 [G, S * P], pairs of each cluster by
    stratum and pattern. is_alone: bool [S], the strata of pairs whose caption has no other pair
    labelled relevant; None if strata are not separated by it.
    """

    given: IntArray
    relevant: IntArray
    counts: FloatArray
    n_strata: int
    is_alone: BoolArray | None = None

    @property
    def total(self) -> FloatArray:
        """Counts [S, P] over all clusters."""
        return np.asarray(self.counts.sum(axis=0).reshape(self.n_strata, -1))


def tabulate_labels(
    given: IntArray,
    relevant: IntArray,
    strata: IntArray,
    clusters: IntArray,
    n_clusters: int,
    is_alone: BoolArray | None = None,
) -> LabelTable:
    """Count the pairs with several labels.

    All are int64 [n_pairs]: labels of the pair, its relevant labels, its stratum and its cluster,
    both numbered from 0. is_alone: flags [n_pairs] that separate strata.
    """
    kept = given >= 2
    n_strata = int(strata[kept].max(initial=0)) + 1
    of_strata = None
    if is_alone is not None:
        strata = strata + n_strata * is_alone
        of_strata = np.arange(2 * n_strata) >= n_strata
        n_strata *= 2
    given, relevant, strata, clusters = (one[kept] for one in (given, relevant, strata, clusters))
    width = int(given.max(initial=0)) + 1
    patterns, of_pair = np.unique(given * width + relevant, return_inverse=True)
    n_patterns = len(patterns)
    cell = (clusters * n_strata + strata) * n_patterns + of_pair.reshape(-1)
    counts = np.bincount(cell, minlength=n_clusters * n_strata * n_patterns)
    return LabelTable(
        given=patterns // width,
        relevant=patterns % width,
        counts=counts.reshape(n_clusters, n_strata * n_patterns).astype(np.float64),
        n_strata=n_strata,
        is_alone=of_strata,
    )


def fit_rates(
    counts: FloatArray, table: LabelTable, start: FloatArray, rounds: int
) -> tuple[FloatArray, FloatArray]:
    """Fit many tables at once by EM: `ErrorRates.values` [B, 2 or 4] and prevalence [B, S].

    counts: [B, S, P]. start: [B, 2 or 4]. Ends after `rounds`, or when no rate moves by 1e-7.
    """
    given, relevant = table.given.astype(np.float64), table.relevant.astype(np.float64)
    of_stratum = np.maximum(counts.sum(axis=2), 1e-12)
    rates = np.clip(start, _SMALLEST, 1 - _SMALLEST)
    prevalence = np.clip((counts @ (relevant / given)) / of_stratum, 0.01, 0.99)
    for _ in range(rounds):
        false_alarms = _of_strata(rates, table)
        chance = _chances(false_alarms, rates[:, 1], prevalence, given, relevant)
        true = counts * chance
        other = counts - true
        prevalence = np.clip(true.sum(axis=2) / of_stratum, _SMALLEST, 1 - _SMALLEST)
        of_true = true.sum(axis=1)
        misses = (of_true @ (given - relevant)) / np.maximum(of_true @ given, 1e-12)
        alarms, labels = other @ relevant, other @ given  # [B, S]
        moved = _maximise(alarms, labels, misses, table).clip(_SMALLEST, 1 - _SMALLEST)
        done = moved.shape == rates.shape and np.abs(moved - rates).max(initial=0) < _TOLERANCE
        rates = moved
        if done:
            break
    return rates, prevalence


def _of_strata(rates: FloatArray, table: LabelTable) -> FloatArray:
    """Return the rate of false alarms in each stratum, [B, S] or [B, 1]."""
    if table.is_alone is None or rates.shape[1] == 2:
        return rates[:, :1]
    return np.where(table.is_alone, rates[:, 2:3], rates[:, 3:4])


def _maximise(
    alarms: FloatArray, labels: FloatArray, misses: FloatArray, table: LabelTable
) -> FloatArray:
    """Return `ErrorRates.values` [B, 2 or 4].

    They are computed from expected false alarms and labels of pairs that are not relevant, [B, S]
    each.
    """
    total, size = alarms.sum(axis=1), np.maximum(labels.sum(axis=1), 1e-12)
    mean = total / size
    columns = [mean, misses]
    if table.is_alone is not None:
        for kind in (table.is_alone, ~table.is_alone):
            seen = _PRIOR_ALARMS / np.maximum(mean, _SMALLEST)
            columns.append((alarms @ kind + _PRIOR_ALARMS) / (labels @ kind + seen))
    return np.stack(columns, axis=1)


def _chances(
    false_alarms: FloatArray,
    misses: FloatArray,
    prevalence: FloatArray,
    given: FloatArray,
    relevant: FloatArray,
) -> FloatArray:
    """Return the chance that a pair of each stratum and pattern is relevant, [B, S, P]."""
    f, m = false_alarms[:, :, None], misses[:, None, None]
    ratio = relevant * (np.log(f) - np.log1p(-m)) + (given - relevant) * (np.log1p(-f) - np.log(m))
    odds = np.log1p(-prevalence) - np.log(prevalence)
    return np.asarray(1 / (1 + np.exp(np.clip(ratio + odds[:, :, None], -700, 700))))
