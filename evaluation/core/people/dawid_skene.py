"""Estimation of annotator accuracies and true labels without known correct answers.

Source: A. P. Dawid and A. M. Skene, Maximum Likelihood Estimation of Observer Error-Rates Using the
EM Algorithm, Applied Statistics 28 (1979), 20-28. Equation numbers refer to this paper. The model
assumes that each item has one true class, and that each annotator has a confusion matrix. The row
of the true class contains the probabilities of the annotator's labels. Given the true class,
annotators label independently of each other.

Running time: L labels are sorted once, in O(L log L). EM then works on patterns, the different sets
of (annotator, label) entries that items have. One round of EM takes O(T n_steps), where T is the
number of entries of all patterns. T is at most L. It is much smaller if most items have one label,
because there are at most n_annotators * n_steps patterns with one label. The confusion matrices
take O(n_annotators n_steps^2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray, renumber, whole_numbers
from evaluation.core.people.agreement import NO_LABELS, NOTHING_SHARED
from evaluation.core.people.alpha import NO_VARIATION

ONE_ANNOTATOR: Final = "there is only one annotator"

SMOOTHING: Final = 0.01
TOLERANCE: Final = 1e-6
MAX_ITERATIONS: Final = 500


@dataclass(frozen=True, slots=True, eq=False)
class LabelModel:
    """The fitted model, with K = n_steps classes. Arrays are float64 unless stated otherwise.

    priors: [K], the share of each true class, above 0.
    confusion: [n_annotators, K, K], the probability of each label (last axis) given the true class
        (middle axis), above 0; each row sums to 1.
    accuracy: [n_annotators], the probability of a correct label: the diagonal of the confusion
        matrix, weighted by the priors.
    pattern_of: int64 [n_items], the pattern of each item.
    pattern_posterior: [P, K], the probability of each true class for an item with each pattern.
    iterations: number of rounds of EM. converged: whether the last round changed every posterior by
        less than `tolerance`.
    patterns: the patterns, which `accuracy.accuracy_intervals` uses.
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
        """Return the probability of each true class for each item, float64 [n_items, K]."""
        return np.asarray(self.pattern_posterior[self.pattern_of])


@dataclass(frozen=True, slots=True)
class LabelModelEstimate:
    """A model, or the reason why it is undefined. Exactly one of the two is not None."""

    model: LabelModel | None
    undefined: str | None = None


def dawid_skene(
    items: npt.ArrayLike,
    annotators: npt.ArrayLike,
    labels: npt.ArrayLike,
    n_steps: int,
    *,
    smoothing: float = SMOOTHING,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> LabelModelEstimate:
    """Fit class shares, confusion matrices and true classes by EM (expectation maximisation).

    items, annotators, labels: whole numbers [L], in any order. Items and annotators are numbered
    from 0 without gaps, and labels lie from 0 to n_steps - 1. EM starts from the vote shares. If an
    annotator labelled an item several times, all these labels count, as in the paper. smoothing: a
    number above 0, which is added to each expected count of the priors and of the confusion
    matrices (a Dirichlet prior of 1 + smoothing). No probability is then 0, and a row without
    evidence is uniform. tolerance: EM ends when no posterior changes by this much.

    The model is undefined if there are no labels or only one annotator, if all labels are equal, or
    if no item is shared by two annotators. Raises ValueError if a number is out of bounds.

    An item with one label gives almost no information about its annotator. Its posterior depends on
    the errors that the annotator makes on shared items. The more items have only one label, the
    less certain the result is.
    """
    item = whole_numbers(items, "items", None)
    annotator = whole_numbers(annotators, "annotators", None)
    label = whole_numbers(labels, "labels", n_steps - 1)
    if not len(item) == len(annotator) == len(label):
        raise ValueError("items, annotators and labels must be of the same length")
    if not smoothing > 0 or not tolerance >= 0 or max_iterations < 1:
        raise ValueError(
            "smoothing must be above 0, tolerance not below 0, max_iterations at least 1"
        )
    undefined = _undefined_reason(item, annotator, label)
    if undefined is not None:
        return LabelModelEstimate(None, undefined)
    _check_dense(item, "items")
    _check_dense(annotator, "annotators")
    patterns = collapse_labels(item, annotator, label, n_steps)
    # EM stores posteriors as [K, P], because numpy is fast on long rows.
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


def _undefined_reason(item: IntArray, annotator: IntArray, label: IntArray) -> str | None:
    if len(item) == 0:
        return NO_LABELS
    if (annotator == annotator[0]).all():
        return ONE_ANNOTATOR
    if (label == label[0]).all():
        return NO_VARIATION
    first = np.empty(int(item.max()) + 1, dtype=np.int64)
    first[item] = annotator  # any one of the item's annotators
    return None if (first[item] != annotator).any() else NOTHING_SHARED


def _check_dense(numbers: IntArray, noun: str) -> None:
    missing = np.flatnonzero(np.bincount(numbers) == 0)
    if missing.size:
        raise ValueError(f"{noun}: number {missing[0]} has no label")


@dataclass(frozen=True, slots=True, eq=False)
class LabelPatterns:
    """The different multisets of codes (annotator * n_steps + label) that items have.

    codes: int64 [T], the codes of the first pattern, then those of the second, and so on. starts:
    int64 [P], the index of each pattern's first code. owner: int64 [T], the pattern of each code.
    weights: int64 [P], the number of items with each pattern. of_item: int64 [n_items], the pattern
    of each item.
    """

    codes: IntArray
    starts: IntArray
    owner: IntArray
    weights: IntArray
    of_item: IntArray
    n_annotators: int
    n_steps: int

    def vote_shares(self) -> FloatArray:
        """Return the share of each label among a pattern's labels, [K, P] (equation 3.1)."""
        cell = self.codes % self.n_steps * len(self.starts) + self.owner
        votes = np.bincount(cell, minlength=self.n_steps * len(self.starts))
        votes = votes.reshape(self.n_steps, -1)
        return np.asarray(votes / votes.sum(axis=0))


def collapse_labels(
    item: IntArray, annotator: IntArray, label: IntArray, n_steps: int
) -> LabelPatterns:
    """Return the patterns of the items, in ascending order of their number of labels.

    item, annotator, label: int64 [L], in any order; items and annotators without gaps.
    """
    n_annotators = int(annotator.max()) + 1
    n_codes = n_annotators * n_steps
    sizes = np.bincount(item)
    # Sort by item and, within an item, by code, so that equal multisets become equal rows.
    code = np.sort(item * n_codes + annotator * n_steps + label) % n_codes
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
        n_steps=n_steps,
    )


def _distinct_rows(table: IntArray, n_codes: int) -> tuple[IntArray, IntArray]:
    """Number the distinct rows, in no particular order.

    Returns the number of each row, and for each number the index of one row that has it.
    """
    number = np.zeros(len(table), dtype=np.int64)
    for column in table.T:  # renumbering after each column keeps the numbers far below 2^63
        number = renumber(number * n_codes + column)
    examples = np.empty(int(number.max()) + 1, dtype=np.int64)
    examples[number] = np.arange(len(number))
    return number, examples


def _maximise(
    patterns: LabelPatterns, posterior: FloatArray, smoothing: float
) -> tuple[FloatArray, FloatArray]:
    """Return priors [K] and confusion matrices [n_annotators, K, K] (M step).

    These are equations 2.3 and 2.4 with smoothing.
    """
    n_annotators, n_steps = patterns.n_annotators, patterns.n_steps
    weighted = posterior * patterns.weights
    priors = weighted.sum(axis=1) + smoothing
    counts = np.stack(
        [
            np.bincount(patterns.codes, weights=row, minlength=n_annotators * n_steps)
            for row in weighted.take(patterns.owner, axis=1)
        ]
    )
    confusion = counts.reshape(n_steps, n_annotators, n_steps).swapaxes(0, 1) + smoothing
    return priors / priors.sum(), confusion / confusion.sum(axis=2, keepdims=True)


def _expect(patterns: LabelPatterns, priors: FloatArray, confusion: FloatArray) -> FloatArray:
    """Return the probability of each true class for each pattern, [K, P] (E step, equation 2.5)."""
    of_code = np.log(confusion).swapaxes(0, 1).reshape(patterns.n_steps, -1)
    logs = np.stack([np.add.reduceat(row[patterns.codes], patterns.starts) for row in of_code])
    logs += np.log(priors)[:, None]
    chances = np.exp(logs - logs.max(axis=0))
    return np.asarray(chances / chances.sum(axis=0))
