"""Agreement between annotators, for all annotators together and for each annotator.

Agreement depends only on how often each combination of labels occurs, and not on which pairs have
it. Half a million pairs therefore reduce to a few combinations, called patterns (`ValueCounts`).
All figures, including alpha, are computed from patterns, except the figures of single annotators.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, IntArray, whole_numbers

NO_LABELS: Final = "no labels"
NOT_TWO_LABELS: Final = "no pair has two labels"
NOT_TWO_PAIRS: Final = "only one pair has two labels"
ONE_LABEL: Final = "one label cannot be compared with others"
NOTHING_SHARED: Final = "no pair is shared with another annotator"

# All arrays of a block of this number of pairs fit into the cache. Without blocks, ten times as
# many labels take fourteen times as long.
_BLOCK_PAIRS: Final = 1 << 14


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, or the reason why it is undefined. Exactly one of the two is not None."""

    value: float | None
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class LabelCountAgreement:
    """Number of pairs with exactly `labels` labels, and the share whose labels are all equal."""

    labels: int
    pairs: int
    all_equal: Estimate


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """Number of labels of one annotator, and their agreement with other annotators.

    relevant: share of the annotator's labels that are relevant. compared: number of labels by other
    annotators on the same pairs. agreement: share of the compared labels that equal the annotator's
    own label.
    """

    annotator: int
    labels: int
    relevant: Estimate
    compared: int
    agreement: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """Labelled pairs, counted by their combination of labels.

    values: int64 [V], the label values that occur, ascending. patterns: int64 [K, V], the number of
    labels of each value; all rows differ, and no row is all zero. weights: int64 [K], the number of
    pairs that have each pattern, at least 1.
    """

    values: IntArray
    patterns: IntArray
    weights: IntArray

    @property
    def n_pairs(self) -> int:
        """Number of pairs with at least one label."""
        return int(self.weights.sum())

    @property
    def n_labels(self) -> int:
        """Number of labels of all pairs."""
        return int(self.weights @ self.patterns.sum(axis=1))

    @property
    def n_multiply_labelled(self) -> int:
        """Number of pairs with at least two labels."""
        return self.multiply_labelled().n_pairs

    def multiply_labelled(self) -> ValueCounts:
        """Return only the pairs with two or more labels. `values` does not change."""
        several = self.patterns.sum(axis=1) >= 2
        return ValueCounts(self.values, self.patterns[several], self.weights[several])


def count_labels(pair_index: npt.ArrayLike, labels: npt.ArrayLike, n_pairs: int) -> ValueCounts:
    """Count the pairs by their combination of labels.

    pair_index: whole numbers [L] from 0 to n_pairs - 1, in any order. labels: whole numbers [L].
    Pairs without a label are not counted. Raises ValueError if an array does not have this type and
    shape, or if a number is out of bounds.
    """
    pair = whole_numbers(pair_index, "pair_index", n_pairs - 1)
    array = _checked_labels(labels, len(pair))
    values = _distinct_labels(array)
    parts = [
        _count_patterns(pair[rows] - first, np.searchsorted(values, array[rows]), size, len(values))
        for first, size, rows in _blocks_of_pairs(pair, n_pairs)
    ]
    if not parts:
        return ValueCounts(values, np.empty((0, len(values)), np.int64), np.empty(0, np.int64))
    patterns, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return ValueCounts(values, *_add_equal_patterns(patterns, weights))


def _blocks_of_pairs(pair: IntArray, n_pairs: int) -> Iterator[tuple[int, int, slice]]:
    """Yield the first pair, the number of pairs and the slice of the labels of each block.

    Blocks without labels are left out. If the labels are not in the order of their pairs, all pairs
    are one block.
    """
    if (pair[1:] < pair[:-1]).any():
        yield 0, n_pairs, slice(None)
        return
    starts = np.arange(0, n_pairs, _BLOCK_PAIRS)
    rows = np.append(np.searchsorted(pair, starts), len(pair)).tolist()
    for start, begin, end in zip(starts.tolist(), rows, rows[1:], strict=False):
        if begin < end:
            yield start, min(_BLOCK_PAIRS, n_pairs - start), slice(begin, end)


def _count_patterns(
    pair: IntArray, column: IntArray, n_pairs: int, n_values: int
) -> tuple[IntArray, IntArray]:
    """Return the patterns of the labelled pairs and the number of pairs of each.

    pair, column: [L], the pair and the index of the value of each label.
    """
    counts = _table_of_counts(pair, column, n_pairs, n_values)
    counts = counts[counts.any(axis=1)]
    return _add_equal_patterns(counts, np.ones(len(counts), np.int64))


def _add_equal_patterns(patterns: IntArray, weights: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different patterns, sorted, and the sum of the weights of each."""
    if len(patterns) == 0:
        return patterns, weights
    # numpy sorts 16-bit keys by radix, in linear time.
    narrow = patterns.astype(np.uint16) if patterns.max() < 1 << 16 else patterns
    order = np.lexsort(narrow.T)
    ordered = patterns[order]
    first = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    starts = np.flatnonzero(first)
    return ordered[starts], np.add.reduceat(weights[order], starts)


def count_opinions(judgments: IntArray, relevant: IntArray) -> ValueCounts:
    """Count the pairs by their labels 0 (not relevant) and 1 (relevant).

    judgments, relevant: int64 [n_pairs], the number of labels of each pair, and the number of those
    that are relevant. Pairs without a label are not counted.
    """
    # One code for each combination of the two numbers; only few combinations occur.
    width = int(judgments.max(initial=0)) + 1
    codes, weights = np.unique(judgments * width + relevant, return_counts=True)
    labels, n_relevant = np.divmod(codes[codes >= width], width)
    patterns = np.stack([labels - n_relevant, n_relevant], axis=1)
    return ValueCounts(np.array([0, 1], np.int64), patterns, weights[codes >= width])


def percent_agreement(counts: ValueCounts) -> Estimate:
    """Return the share of the multiply labelled pairs whose labels are all equal."""
    several = counts.multiply_labelled()
    if several.n_pairs == 0:
        return Estimate(None, NOT_TWO_LABELS)
    return Estimate(int(several.weights[is_unanimous(several)].sum()) / several.n_pairs)


def pairwise_agreement(counts: ValueCounts) -> Estimate:
    """Return Fleiss' observed agreement (Fleiss 1971, equations 2 and 3).

    A pair with n labels, of which n_c have the value c, has the agreement sum of n_c (n_c - 1) over
    all values, divided by n (n - 1). This is the share of its combinations of two labels that are
    equal. The result is the mean over multiply labelled pairs. Each pair counts once.
    """
    several = counts.multiply_labelled()
    if several.n_pairs == 0:
        return Estimate(None, NOT_TWO_LABELS)
    n_labels = several.patterns.sum(axis=1)
    equal = (several.patterns * (several.patterns - 1)).sum(axis=1)
    # The sum is exact, so that the order of the patterns does not matter.
    total = fsum(several.weights * (equal / (n_labels * (n_labels - 1))))
    return Estimate(total / several.n_pairs)


def agreement_by_label_count(counts: ValueCounts) -> tuple[LabelCountAgreement, ...]:
    """Return one row for each number of labels per pair that occurs, in ascending order."""
    unanimous, total = is_unanimous(counts), counts.patterns.sum(axis=1)
    rows = []
    for labels in sorted(set(total.tolist())):
        pairs = int(counts.weights[total == labels].sum())
        equal = int(counts.weights[(total == labels) & unanimous].sum())
        share = Estimate(equal / pairs) if labels > 1 else Estimate(None, ONE_LABEL)
        rows.append(LabelCountAgreement(labels, pairs, share))
    return tuple(rows)


def agreement_by_annotator(
    pair_index: npt.ArrayLike,
    annotator_index: npt.ArrayLike,
    labels: npt.ArrayLike,
    n_annotators: int,
    *,
    rel: int = 1,
) -> tuple[AnnotatorAgreement, ...]:
    """Return one row for each annotator from 0 to n_annotators - 1, including those without labels.

    pair_index, annotator_index, labels: whole numbers [L]. rel: labels of at least this value are
    relevant. Raises ValueError if a number is out of bounds, or if an annotator labelled a pair
    twice. The two labels would otherwise be compared as if they were from two annotators.
    """
    pair = whole_numbers(pair_index, "pair_index", None)
    annotator = whole_numbers(annotator_index, "annotator_index", n_annotators - 1)
    array = _checked_labels(labels, len(pair))
    values = _distinct_labels(array)
    column = np.searchsorted(values, array)
    if len(annotator) != len(pair):
        raise ValueError("pair_index and annotator_index must be of the same length")
    _check_labelled_once(pair, annotator, n_annotators)
    n_pairs = int(pair.max()) + 1 if len(pair) else 0
    counts = _table_of_counts(pair, column, n_pairs, len(values))
    same = counts[pair, column] - 1
    others = counts.sum(axis=1)[pair] - 1

    def sums(weight: IntArray | BoolArray) -> list[int]:
        # float64 is exact here, because the sums are whole numbers far below 2^53.
        totals = np.bincount(annotator, weights=weight, minlength=n_annotators)
        return [int(total) for total in totals.tolist()]

    n_labels = np.bincount(annotator, minlength=n_annotators).tolist()
    relevant = sums(values[column] >= rel)
    return tuple(
        AnnotatorAgreement(number, n, share_of(r, n, NO_LABELS), o, share_of(s, o, NOTHING_SHARED))
        for number, (n, r, o, s) in enumerate(
            zip(n_labels, relevant, sums(others), sums(same), strict=True)
        )
    )


def share_of(part: int, whole: int, undefined: str) -> Estimate:
    """Return part / whole. If the whole is 0, the share is undefined for the reason `undefined`."""
    return Estimate(part / whole) if whole else Estimate(None, undefined)


def is_unanimous(counts: ValueCounts) -> BoolArray:
    """Return whether all labels of a pattern have the same value, bool [K]."""
    return np.asarray((counts.patterns > 0).sum(axis=1) == 1)


def _table_of_counts(pair: IntArray, column: IntArray, n_pairs: int, n_values: int) -> IntArray:
    """Return the number of labels of each value for each pair, int64 [n_pairs, V]."""
    cells = np.bincount(pair * n_values + column, minlength=n_pairs * n_values)
    return cells.reshape(n_pairs, n_values)


def _checked_labels(labels: npt.ArrayLike, length: int) -> IntArray:
    """Return the labels as an array. Raises ValueError unless they are `length` whole numbers."""
    array = np.asarray(labels)
    if array.size == 0 and length == 0:
        return np.empty(0, dtype=np.int64)
    if array.shape != (length,) or not np.issubdtype(array.dtype, np.integer):
        raise ValueError("labels must be one whole number for each entry of pair_index")
    return array


def _distinct_labels(labels: IntArray) -> IntArray:
    """Return the values that occur, ascending, int64 [V]."""
    if labels.size == 0:
        return np.empty(0, dtype=np.int64)
    lowest, highest = int(labels.min()), int(labels.max())
    if highest - lowest >= labels.size:  # then sorting is faster than marking a range
        return np.unique(labels).astype(np.int64)
    occurs = np.zeros(highest - lowest + 1, np.bool_)
    for start in range(0, labels.size, _BLOCK_PAIRS):
        occurs[labels[start : start + _BLOCK_PAIRS].astype(np.int64) - lowest] = True
    return lowest + np.flatnonzero(occurs)


def _check_labelled_once(pair: IntArray, annotator: IntArray, n_annotators: int) -> None:
    """Raise ValueError if an annotator labelled a pair twice."""
    key = np.sort(pair * n_annotators + annotator)
    twice = np.flatnonzero(key[1:] == key[:-1])
    if twice.size:
        first_pair, person = divmod(int(key[twice[0]]), n_annotators)
        raise ValueError(f"annotator {person} has labelled pair {first_pair} twice")
