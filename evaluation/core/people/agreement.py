"""How often annotators agree, over all and by annotator.

Agreement does not depend on which pair got which labels or from whom, only on how often each
combination of labels occurs. Half a million pairs collapse to a handful of such patterns
(`ValueCounts`), and all figures but those per annotator are computed from them, alpha included.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, IntArray, whole_numbers

NO_LABELS: Final = "no labels"
NOT_TWO_LABELS: Final = "no pair has two labels"
NOT_TWO_PAIRS: Final = "only one pair has two labels"
ONE_LABEL: Final = "a single label has nothing to agree with"
NOTHING_SHARED: Final = "no pair is shared with another annotator"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, or the reason by name why there is none (exactly one of both)."""

    value: float | None
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class LabelCountAgreement:
    """Pairs with exactly `labels` labels, and the share of them whose labels are all equal."""

    labels: int
    pairs: int
    all_equal: Estimate


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """What one annotator did.

    relevant: share of the annotator's labels that are relevant.
    compared: labels by others on the same pairs; agreement: share of these that are the same.
    """

    annotator: int
    labels: int
    relevant: Estimate
    compared: int
    agreement: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """The labelled pairs, collapsed to the different combinations of labels.

    values: int64 [V], the label values that occur, ascending.
    patterns: int64 [K, V], how many labels of each value; rows differ and are never all zero.
    weights: int64 [K], how many pairs have the pattern, at least 1.
    """

    values: IntArray
    patterns: IntArray
    weights: IntArray

    @property
    def n_pairs(self) -> int:
        """Pairs with at least one label."""
        return int(self.weights.sum())

    @property
    def n_labels(self) -> int:
        return int(self.weights @ self.patterns.sum(axis=1))

    @property
    def n_multiply_labelled(self) -> int:
        return self.multiply_labelled().n_pairs

    def multiply_labelled(self) -> ValueCounts:
        """Only the pairs with two or more labels; the values stay all."""
        kept = self.patterns.sum(axis=1) >= 2
        return ValueCounts(self.values, self.patterns[kept], self.weights[kept])


def count_labels(pair_index: npt.ArrayLike, labels: npt.ArrayLike, n_pairs: int) -> ValueCounts:
    """Collapse labels to patterns.

    pair_index: whole numbers [L] from 0 to n_pairs - 1, in any order; labels: whole numbers [L].
    Pairs without a label do not count. Raises ValueError for anything else.
    """
    pair = whole_numbers(pair_index, "pair_index", n_pairs - 1)
    values, column = _distinct_labels(labels, len(pair))
    counts = _table_of_counts(pair, column, n_pairs, len(values))
    counts = counts[counts.any(axis=1)]
    if len(counts) == 0:
        return ValueCounts(values, counts, np.empty(0, dtype=np.int64))
    # Narrow keys are sorted by radix, in linear time.
    narrow = counts.astype(np.uint16) if counts.max() < 1 << 16 else counts
    ordered = counts[np.lexsort(narrow.T)]
    first = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    starts = np.flatnonzero(first)
    return ValueCounts(values, ordered[starts], np.diff(starts, append=len(ordered)))


def count_opinions(judgments: IntArray, relevant: IntArray) -> ValueCounts:
    """The same from counts: labels of each pair, and how many of them say relevant, int64 [n]."""
    # Few patterns: of n labels 0 to n are relevant.
    width = int(judgments.max(initial=0)) + 1
    codes, weights = np.unique(judgments * width + relevant, return_counts=True)
    labels, yes = np.divmod(codes[codes >= width], width)
    patterns = np.stack([labels - yes, yes], axis=1)
    return ValueCounts(np.array([0, 1], np.int64), patterns, weights[codes >= width])


def percent_agreement(counts: ValueCounts) -> Estimate:
    """Share of the multiply labelled pairs whose labels are all equal."""
    several = counts.multiply_labelled()
    if several.n_pairs == 0:
        return Estimate(None, NOT_TWO_LABELS)
    return Estimate(int(several.weights[_is_unanimous(several)].sum()) / several.n_pairs)


def pairwise_agreement(counts: ValueCounts) -> Estimate:
    """Return Fleiss' observed agreement.

    It is the share of agreeing label pairs of a pair, as a mean over multiply labelled pairs
    (Fleiss 1971, equations 2 and 3). Each pair counts once.
    """
    several = counts.multiply_labelled()
    if several.n_pairs == 0:
        return Estimate(None, NOT_TWO_LABELS)
    given = several.patterns.sum(axis=1)
    equal = (several.patterns * (several.patterns - 1)).sum(axis=1)
    # Summed exactly, so that the order of the patterns does not matter.
    total = fsum(several.weights * (equal / (given * (given - 1))))
    return Estimate(total / several.n_pairs)


def agreement_by_label_count(counts: ValueCounts) -> tuple[LabelCountAgreement, ...]:
    """One row for each number of labels that occurs, ascending."""
    unanimous, total = _is_unanimous(counts), counts.patterns.sum(axis=1)
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
    """One row per annotator 0..n_annotators-1, those without labels included.

    All three are whole numbers [L]; labels of `rel` and more are relevant. Raises ValueError for
    numbers out of bounds and if an annotator labelled a pair twice, who would else count as
    another annotator.
    """
    pair = whole_numbers(pair_index, "pair_index", None)
    annotator = whole_numbers(annotator_index, "annotator_index", n_annotators - 1)
    values, column = _distinct_labels(labels, len(pair))
    if len(annotator) != len(pair):
        raise ValueError("pair_index and annotator_index must be of the same length")
    _check_labelled_once(pair, annotator, n_annotators)
    n_pairs = int(pair.max()) + 1 if len(pair) else 0
    counts = _table_of_counts(pair, column, n_pairs, len(values))
    same = counts[pair, column] - 1
    others = counts.sum(axis=1)[pair] - 1

    def sums(weight: IntArray | BoolArray) -> list[int]:
        # Exact: the sums are whole and far below 2^53.
        added = np.bincount(annotator, weights=weight, minlength=n_annotators)
        return [int(total) for total in added.tolist()]

    given = np.bincount(annotator, minlength=n_annotators).tolist()
    relevant = sums(values[column] >= rel)
    return tuple(
        AnnotatorAgreement(number, n, _share(r, n, NO_LABELS), o, _share(s, o, NOTHING_SHARED))
        for number, (n, r, o, s) in enumerate(
            zip(given, relevant, sums(others), sums(same), strict=True)
        )
    )


def _share(part: int, whole: int, undefined: str) -> Estimate:
    return Estimate(part / whole) if whole else Estimate(None, undefined)


def _is_unanimous(counts: ValueCounts) -> BoolArray:
    """Of each pattern [K], whether all its labels have the same value."""
    return np.asarray((counts.patterns > 0).sum(axis=1) == 1)


def _table_of_counts(pair: IntArray, column: IntArray, n_pairs: int, n_values: int) -> IntArray:
    """How many labels of each value each pair has: [n_pairs, V]."""
    cells = np.bincount(pair * n_values + column, minlength=n_pairs * n_values)
    return cells.reshape(n_pairs, n_values)


def _distinct_labels(labels: npt.ArrayLike, length: int) -> tuple[IntArray, IntArray]:
    """The values that occur, ascending [V], and each label's place among them [L]."""
    array = np.asarray(labels)
    if array.size == 0 and length == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    if array.shape != (length,) or not np.issubdtype(array.dtype, np.integer):
        raise ValueError("labels must be one whole number for each entry of pair_index")
    lowest, highest = int(array.min()), int(array.max())
    if highest - lowest < array.size:  # of few grades, counting them takes linear time
        place = array.astype(np.int64) - lowest
        occurs = np.bincount(place) > 0
        return lowest + np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[place]
    values, column = np.unique(array, return_inverse=True)
    return values.astype(np.int64), column.astype(np.int64)


def _check_labelled_once(pair: IntArray, annotator: IntArray, n_annotators: int) -> None:
    key = np.sort(pair * n_annotators + annotator)
    twice = np.flatnonzero(key[1:] == key[:-1])
    if twice.size:
        item, person = divmod(int(key[twice[0]]), n_annotators)
        raise ValueError(f"annotator {person} has labelled pair {item} twice")
