"""Agreement of labels, by hand, by number of labels and by annotator."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.people import agreement
from evaluation.core.people.agreement import (
    NO_LABELS,
    NOT_TWO_LABELS,
    NOTHING_SHARED,
    ONE_LABEL,
    AnnotatorAgreement,
    Estimate,
    LabelCountAgreement,
    agreement_by_annotator,
    agreement_by_label_count,
    count_labels,
    count_opinions,
    pairwise_agreement,
    percent_agreement,
)

# Pair 0 has the labels 1 1, pair 1 has 0 1 0, pair 2 has 1, pairs 4 and 5 have 0 0, and pair 6 has
# 0 1. Pair 3 has no labels.
PAIRS = [0, 1, 0, 1, 2, 4, 4, 1, 5, 6, 5, 6]
ANNOTATORS = [0, 0, 1, 1, 2, 1, 2, 2, 0, 0, 1, 1]
LABELS = [1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1]


def test_count_labels_collapses_pairs_to_patterns() -> None:
    counts = count_labels(PAIRS, LABELS, 8)
    patterns = zip(map(tuple, counts.patterns.tolist()), counts.weights.tolist(), strict=True)
    assert counts.values.tolist() == [0, 1]
    assert dict(patterns) == {(0, 2): 1, (2, 1): 1, (0, 1): 1, (2, 0): 2, (1, 1): 1}
    assert (counts.n_pairs, counts.n_labels, counts.n_multiply_labelled) == (6, 12, 5)


def test_count_labels_does_not_depend_on_order_or_numbering() -> None:
    rng = np.random.default_rng(5)
    pairs, labels = rng.integers(0, 50, 300), rng.integers(0, 4, 300) * 10
    order, numbers = rng.permutation(300), rng.permutation(50)
    first = count_labels(pairs, labels, 50)
    second = count_labels(numbers[pairs][order], labels[order], 50)
    assert first.values.tolist() == [0, 10, 20, 30]
    assert first.patterns.tolist() == second.patterns.tolist()
    assert first.weights.tolist() == second.weights.tolist()
    # Each pattern occurs once. Repeated by their weights, the patterns are the counts of all pairs.
    assert len(set(map(tuple, first.patterns.tolist()))) == len(first.patterns)
    expanded = np.repeat(first.patterns, first.weights, axis=0).tolist()
    table = [[int(((pairs == p) & (labels == v)).sum()) for v in first.values] for p in range(50)]
    assert sorted(expanded) == sorted(row for row in table if any(row))


def test_count_labels_is_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    pairs, labels = np.sort(rng.integers(0, 50, 300)), rng.integers(0, 4, 300)
    pairs = pairs[pairs // 7 != 3]  # a block without labels
    labels = labels[: len(pairs)]
    whole = count_labels(pairs, labels, 50)
    monkeypatch.setattr(agreement, "_BLOCK_PAIRS", 7)
    blocks = count_labels(pairs, labels, 50)
    assert blocks.values.tolist() == whole.values.tolist()
    assert blocks.patterns.tolist() == whole.patterns.tolist()
    assert blocks.weights.tolist() == whole.weights.tolist()


def test_agreement_by_hand() -> None:
    counts = count_labels(PAIRS, LABELS, 7)
    assert percent_agreement(counts) == Estimate(3 / 5)
    # Of four pairs with two labels, three agree. Of the three label pairs of pair 1, one agrees.
    assert pairwise_agreement(counts) == Estimate((1 + 1 + 1 + 0 + 1 / 3) / 5)
    assert agreement_by_label_count(counts) == (
        LabelCountAgreement(1, 1, Estimate(None, ONE_LABEL)),
        LabelCountAgreement(2, 4, Estimate(3 / 4)),
        LabelCountAgreement(3, 1, Estimate(0.0)),
    )


def test_agreement_without_a_second_label_is_undefined_with_a_reason() -> None:
    for counts in (count_labels([], [], 0), count_labels([0, 1], [0, 1], 5)):
        assert percent_agreement(counts) == Estimate(None, NOT_TWO_LABELS)
        assert pairwise_agreement(counts) == Estimate(None, NOT_TWO_LABELS)
    assert agreement_by_label_count(count_labels([], [], 3)) == ()


def test_agreement_by_annotator_by_hand() -> None:
    assert agreement_by_annotator(PAIRS, ANNOTATORS, LABELS, 4) == (
        AnnotatorAgreement(0, 4, Estimate(1 / 4), 5, Estimate(3 / 5)),
        AnnotatorAgreement(1, 5, Estimate(3 / 5), 6, Estimate(3 / 6)),
        AnnotatorAgreement(2, 3, Estimate(1 / 3), 3, Estimate(2 / 3)),
        AnnotatorAgreement(3, 0, Estimate(None, NO_LABELS), 0, Estimate(None, NOTHING_SHARED)),
    )
    assert agreement_by_annotator([3], [0], [2], 1, rel=3) == (
        AnnotatorAgreement(0, 1, Estimate(0.0), 0, Estimate(None, NOTHING_SHARED)),
    )


def test_bad_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="annotator 1 has labelled pair 2 twice"):
        agreement_by_annotator([0, 2, 2], [1, 1, 1], [0, 1, 1], 2)
    with pytest.raises(ValueError, match="pair_index: a number is outside of 0 to 1"):
        count_labels([0, 2], [0, 1], 2)
    with pytest.raises(ValueError, match="labels must be one whole number for each"):
        count_labels([0, 1], [0, 1, 1], 2)
    with pytest.raises(ValueError, match="labels must be one whole number for each"):
        count_labels([0, 1], [0.0, 1.0], 2)


@given(st.lists(st.lists(st.integers(0, 1), max_size=5), max_size=30))
def test_count_opinions_equals_count_labels(pairs: list[list[int]]) -> None:
    index = [number for number, labels in enumerate(pairs) for _ in labels]
    by_label = count_labels(index, [label for labels in pairs for label in labels], len(pairs))
    by_count = count_opinions(
        np.array([len(labels) for labels in pairs], np.int64),
        np.array([sum(labels) for labels in pairs], np.int64),
    )
    assert (by_count.n_pairs, by_count.n_labels) == (by_label.n_pairs, by_label.n_labels)
    assert percent_agreement(by_count) == percent_agreement(by_label)
    assert pairwise_agreement(by_count) == pairwise_agreement(by_label)
