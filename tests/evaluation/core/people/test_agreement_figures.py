"""Figures of agreement, for planned labels and for all labels."""

from __future__ import annotations

import json
from typing import NotRequired, get_origin, get_type_hints

import numpy as np
import pytest

from evaluation.core.people.agreement import NOT_TWO_PAIRS
from evaluation.core.people.agreement_figures import (
    NOT_STORED,
    LabelAgreement,
    Opinions,
    Resampling,
    agreement_to_store,
    as_relevance,
    figures_from_store,
    figures_of,
    figures_of_both,
)


def opinions(rows: list[tuple[int, int, int, bool]]) -> Opinions:
    pairs, people, labels, first = (np.array(column) for column in zip(*rows, strict=True))
    return Opinions(pairs, people, labels, first.astype(np.bool_))


GRADED = opinions(
    [
        (0, 0, 0, True),
        (0, 1, 3, True),
        (0, 2, 3, False),
        (1, 0, 1, True),
        (1, 2, 2, True),
        (2, 1, 0, True),
        (2, 2, 0, True),
        (3, 3, 2, True),
    ]
)


def test_figures_of_a_graded_scale() -> None:
    found = figures_of_both(GRADED, 4, Resampling(50))
    first, every = found["first_labels"], found["all_labels"]
    assert (first["labels"], first["multiply_labelled"], first["alpha_level"]) == (7, 3, "ordinal")
    assert (first["agreement"], every["agreement"]) == (1 / 3, 1 / 3)
    # Two labels of pair 0 can be drawn in six orders. In two of them, both labels are equal.
    assert every["pairwise_agreement"] == pytest.approx((1 / 3 + 0 + 1) / 3)
    assert first["alpha"] != first["alpha_nominal"]
    # Pair 1 also agrees if labels only count as relevant or not relevant.
    assert first["relevance_agreement"] == 2 / 3
    assert set(every) == set(first)
    # Annotators 0, 1 and 2 share the pairs with several labels. Each resample draws three of them.
    for figures in (first, every):
        assert figures["sharing_annotators"] == 3
        assert figures["alpha_interval"] == figures["alpha_annotator_interval"]
        assert figures["alpha_interval"] != figures["alpha_interval_pairs"]


def test_figures_have_the_declared_names() -> None:
    names = get_type_hints(LabelAgreement, include_extras=True)
    required = [name for name, hint in names.items() if get_origin(hint) is not NotRequired]
    assert set(figures_of(GRADED.counts, 4, Resampling(50))) == set(names)
    assert set(figures_of(as_relevance(GRADED.counts), 2, Resampling(50))) == set(required)


def test_figures_from_stored_counts_are_the_same() -> None:
    for n_grades in (4, 5):
        stored = json.loads(json.dumps(agreement_to_store(GRADED, n_grades)))
        both = figures_of_both(GRADED, n_grades, Resampling())
        assert figures_from_store(stored, Resampling()) == both
        # Older versions stored the interval of the planned labels only.
        del stored["all_annotators"]
        older = figures_from_store(stored, Resampling())
        assert older["first_labels"] == both["first_labels"]
        assert older["all_labels"]["alpha_interval"] is None
        assert older["all_labels"]["undefined"]["alpha_interval"] == NOT_STORED
        assert older["all_labels"]["alpha"] == both["all_labels"]["alpha"]


def test_undefined_figures_have_reasons() -> None:
    found = figures_of(opinions([(0, 0, 0, True), (0, 1, 1, True)]).counts, 2, Resampling(50))
    assert (found["alpha"], found["alpha_interval_pairs"]) == (0.0, None)
    assert found["undefined"] == {
        "alpha_interval": NOT_STORED,
        "alpha_annotator_interval": NOT_STORED,
        "alpha_interval_pairs": NOT_TWO_PAIRS,
        "ac1_interval": NOT_TWO_PAIRS,
    }


# --- Third labels -----------------------------------------------------------------------------


def judged_with_thirds(rng: np.random.Generator, n: int) -> Opinions:
    """Return labels of n pairs: two labels each, and a third if they differ.

    12 % of the pairs are relevant. Annotators label 80 % of these as relevant, and 4 % of the rest.
    """
    chance = np.where(rng.random(n) < 0.12, 0.8, 0.04)
    labels = (rng.random((3, n)) < chance).astype(np.int64)
    differ = np.flatnonzero(labels[0] != labels[1])
    pairs = np.concatenate([np.tile(np.arange(n), 2), differ])
    values = np.concatenate([labels[0], labels[1], labels[2][differ]])
    is_first = np.arange(len(pairs)) < 2 * n
    return Opinions(pairs, np.repeat(0, len(pairs)), values, is_first)


def test_only_the_interval_of_planned_labels_covers_the_true_alpha() -> None:
    share = 0.12 * 0.8 + 0.88 * 0.04
    truth = 1 - (0.12 * 0.8 * 0.2 + 0.88 * 0.04 * 0.96) / (share * (1 - share))
    rng, times = np.random.default_rng(2), 250
    inside = np.zeros(2)
    for number in range(times):
        found = judged_with_thirds(rng, 3000)
        for place, opinions in enumerate((found.first, found)):
            figures = figures_of(opinions.counts, 2, Resampling(300, seed=number))
            low, high = figures["alpha_interval_pairs"]
            inside[place] += low <= truth <= high
    first, every = inside / times
    assert 0.93 <= first <= 0.97
    assert every < 0.75
