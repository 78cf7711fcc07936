"""How reliable each annotator is, and what is true, estimated from the labels alone.

A. P. Dawid and A. M. Skene, Maximum Likelihood Estimation of Observer Error-Rates Using the EM
Algorithm, Applied Statistics 28 (1979), 20-28: each item has one true class; an annotator, given
that class, labels by a row of a confusion matrix of their own and independently of the others.

What grows how: sorting L labels once takes O(L log L); from then on only patterns count, the
different sets of (annotator, label) that items have. One round of EM takes O(T n_labels), T being
the (annotator, label) entries of all patterns: at most L, and far fewer where most items have one
label, as there are no more than n_annotators * n_labels patterns of one. The confusion matrices
take O(n_annotators n_labels^2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray, whole_numbers
from evaluation.core.people.agreement import NO_LABELS, NOTHING_SHARED
from evaluation.core.people.alpha import NO_VARIATION

ONE_ANNOTATOR: Final = "a single annotator has nobody to be compared with"

SMOOTHING: Final = 0.01
TOLERANCE: Final = 1e-6
MAX_ITERATIONS: Final = 500


@dataclass(frozen=True, slots=True, eq=False)
class LabelModel:
    """What EM found; K is n_labels, and all probabilities lie above 0 but the posteriors.

    priors: [K], the share of each true class.
    confusion: [n_annotators, K, K], row: true class, column: the label given; rows sum to 1.
    accuracy: [n_annotators], the chance of a right label, which is the diagonal weighted by the
        priors.
    pattern_of: int64 [n_items], which of the P patterns an item has.
    pattern_posterior: [P, K], the chances of the true class of an item of each pattern.
    iterations: rounds of M and E step; converged: whether the last changed no posterior by
        `tolerance` or more.
    patterns: the patterns themselves, for `accuracy.accuracy_intervals`.
    """

    priors: FloatArray
    confusion: FloatArray
    accuracy: FloatArray
    pattern_of: IntArray
    pattern_posterior: FloatArray
    iterations: int
    converged: bool
    patterns: LabelPatterns

    def posterior(self) -> FloatArray:
        """The chances of each item's true class, [n_items, K]; rows sum to 1."""
        return np.asarray(self.pattern_posterior[self.pattern_of])


@dataclass(frozen=True, slots=True)
class LabelModelEstimate:
    """A model, or the reason by name why there is none (exactly one of both)."""

    model: LabelModel | None
    undefined: str | None = None


def dawid_skene(
    items: npt.ArrayLike,
    annotators: npt.ArrayLike,
    labels: npt.ArrayLike,
    n_labels: int,
    *,
    smoothing: float = SMOOTHING,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> LabelModelEstimate:
    """Fit class shares, confusion matrices and true classes by EM, from the vote shares on.

    All three are whole numbers [L] in any order: dense item numbers, dense annotator numbers, and
    labels 0..n_labels-1. Several labels by one annotator on one item count as they are, as in the
    paper. `smoothing`, above 0, is added to each expected count before it is divided by its sum,
    in the priors and in each cell of the confusion matrices (a Dirichlet prior of 1 + smoothing):
    no probability becomes 0, and a row without any evidence is uniform.

    Undefined without labels, with a single annotator, where all labels are alike, and where no
    item is shared by two annotators. Raises ValueError for numbers out of bounds.

    The more items have one label only, the less is known: such an item tells next to nothing of
    its annotator, and its posterior is what the annotator's errors on shared items make of it.
    """
    item = whole_numbers(items, "items", None)
    annotator = whole_numbers(annotators, "annotators", None)
    label = whole_numbers(labels, "labels", n_labels - 1)
    if not len(item) == len(annotator) == len(label):
        raise ValueError("items, annotators and labels must be of the same length")
    if not smoothing > 0 or not tolerance >= 0 or max_iterations < 1:
        raise ValueError(
            "smoothing must be above 0, tolerance not below, max_iterations at least 1"
        )
    undefined = _why_undefined(item, annotator, label)
    if undefined is not None:
        return LabelModelEstimate(None, undefined)
    _check_dense(item, "items")
    _check_dense(annotator, "annotators")
    patterns = collapse_labels(item, annotator, label, n_labels)
    # Inside, classes come first, [K, P]: whole rows are what numpy is quick at.
    posterior, converged, rounds = patterns.vote_shares(), False, 0
    while not converged and rounds < max_iterations:
        priors, confusion = _maximise(patterns, posterior, smoothing)
        before, posterior = posterior, _expect(patterns, priors, confusion)
        converged = bool(np.abs(posterior - before).max() < tolerance)
        rounds += 1
    accuracy = np.einsum("k,akk->a", priors, confusion)
    return LabelModelEstimate(
        LabelModel(
            priors=priors,
            confusion=confusion,
            accuracy=accuracy,
            pattern_of=patterns.of_item,
            pattern_posterior=np.ascontiguousarray(posterior.T),
            iterations=rounds,
            converged=converged,
            patterns=patterns,
        )
    )


def _why_undefined(item: IntArray, annotator: IntArray, label: IntArray) -> str | None:
    if len(item) == 0:
        return NO_LABELS
    if (annotator == annotator[0]).all():
        return ONE_ANNOTATOR
    if (label == label[0]).all():
        return NO_VARIATION
    first = np.empty(int(item.max()) + 1, dtype=np.int64)
    first[item] = annotator  # one of those who labelled the item
    return None if (first[item] != annotator).any() else NOTHING_SHARED


def _check_dense(numbers: IntArray, what: str) -> None:
    missing = np.flatnonzero(np.bincount(numbers) == 0)
    if missing.size:
        raise ValueError(f"{what}: number {missing[0]} has no label")


@dataclass(frozen=True, slots=True, eq=False)
class LabelPatterns:
    """The different multisets of codes (annotator * n_labels + label) that items have.

    codes: int64 [T], those of the first pattern, then of the next; starts: int64 [P], where each
    begins; owner: int64 [T], the pattern of each code; weights: int64 [P], how many items have
    it; of_item: int64 [n_items].
    """

    codes: IntArray
    starts: IntArray
    owner: IntArray
    weights: IntArray
    of_item: IntArray
    n_annotators: int
    n_labels: int

    def vote_shares(self) -> FloatArray:
        """The share of each label among the item's labels, [K, P] (equation 3.1)."""
        cell = self.codes % self.n_labels * len(self.starts) + self.owner
        votes = np.bincount(cell, minlength=self.n_labels * len(self.starts))
        votes = votes.reshape(self.n_labels, -1)
        return np.asarray(votes / votes.sum(axis=0))


def collapse_labels(
    item: IntArray, annotator: IntArray, label: IntArray, n_labels: int
) -> LabelPatterns:
    """The patterns of the items, shorter ones first."""
    n_annotators = int(annotator.max()) + 1
    n_codes = n_annotators * n_labels
    sizes = np.bincount(item)
    # Sorted by item and, within it, by code, so that equal sets are equal rows.
    code = np.sort(item * n_codes + annotator * n_labels + label) % n_codes
    firsts = np.cumsum(sizes) - sizes
    of_item = np.empty(len(sizes), dtype=np.int64)
    tables: list[IntArray] = []
    n_patterns = 0
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        rows = np.flatnonzero(sizes == size)
        table = code[firsts[rows][:, None] + np.arange(size)]
        number, examples = _distinct_rows(table, n_codes)
        of_item[rows] = n_patterns + number
        tables.append(table[examples])
        n_patterns += len(examples)
    lengths = np.concatenate([np.full(len(table), table.shape[1]) for table in tables])
    return LabelPatterns(
        codes=np.concatenate([table.ravel() for table in tables]),
        starts=np.cumsum(lengths) - lengths,
        owner=np.repeat(np.arange(n_patterns), lengths),
        weights=np.bincount(of_item, minlength=n_patterns),
        of_item=of_item,
        n_annotators=n_annotators,
        n_labels=n_labels,
    )


def _distinct_rows(table: IntArray, n_codes: int) -> tuple[IntArray, IntArray]:
    """Which distinct row each row of codes is, and where an example of each distinct one is."""
    number = np.zeros(len(table), dtype=np.int64)
    for column in table.T:  # numbered anew each time, they stay far below 2^63
        number = _renumbered(number * n_codes + column)
    examples = np.empty(int(number.max()) + 1, dtype=np.int64)
    examples[number] = np.arange(len(number))
    return number, examples


def _renumbered(values: IntArray) -> IntArray:
    """The values as 0, 1, 2 … in their order; without sorting where they are close together."""
    highest = int(values.max())
    if highest > 4 * len(values):
        return np.unique(values, return_inverse=True)[1].astype(np.int64, copy=False)
    occurs = np.bincount(values, minlength=highest + 1) > 0
    return np.asarray((np.cumsum(occurs) - 1)[values])


def _maximise(
    patterns: LabelPatterns, posterior: FloatArray, smoothing: float
) -> tuple[FloatArray, FloatArray]:
    """Priors [K] and confusion matrices [n_annotators, K, K] (equations 2.3 and 2.4, smoothed)."""
    n_annotators, n_labels = patterns.n_annotators, patterns.n_labels
    weighted = posterior * patterns.weights
    priors = weighted.sum(axis=1) + smoothing
    counts = np.stack(
        [
            np.bincount(patterns.codes, weights=row, minlength=n_annotators * n_labels)
            for row in weighted.take(patterns.owner, axis=1)
        ]
    )
    confusion = counts.reshape(n_labels, n_annotators, n_labels).swapaxes(0, 1) + smoothing
    return priors / priors.sum(), confusion / confusion.sum(axis=2, keepdims=True)


def _expect(patterns: LabelPatterns, priors: FloatArray, confusion: FloatArray) -> FloatArray:
    """The chances of the true class under each pattern, [K, P] (equation 2.5, by logarithms)."""
    of_code = np.log(confusion).swapaxes(0, 1).reshape(patterns.n_labels, -1)
    logs = np.stack([np.add.reduceat(row[patterns.codes], patterns.starts) for row in of_code])
    logs += np.log(priors)[:, None]
    chances = np.exp(logs - logs.max(axis=0))
    return np.asarray(chances / chances.sum(axis=0))
