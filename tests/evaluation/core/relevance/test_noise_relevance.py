"""Unbiased estimates of relevance, and probabilities of relevance."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.relevance.noise_relevance import (
    evidence_from_counts,
    evidence_from_labels,
    posterior_relevance,
    unbiased_relevance,
)
from tests.evaluation.core.noise_world import Setting, draw_labels, draw_truth

RATES = (0.1, 0.2)


def test_a_single_label_by_hand() -> None:
    evidence = evidence_from_counts(np.array([1, 1, 0]), np.array([0, 1, 0]), *RATES)
    found = unbiased_relevance(evidence)
    assert found == pytest.approx([-0.1 / 0.7, 0.9 / 0.7, 0])
    # The mean is 0 for a pair that is not relevant, and 1 for a relevant pair.
    assert 0.9 * found[0] + 0.1 * found[1] == pytest.approx(0)
    assert 0.2 * found[0] + 0.8 * found[1] == pytest.approx(1)


def test_posterior_by_hand() -> None:
    # 80 of 240 labels are relevant, and pi * .8 + (1 - pi) * .1 = 1/3 for pi = 1/3.
    n_labels, relevant = np.ones(240, np.int64), np.repeat([1, 0], [80, 160])
    zeros = np.zeros(240, np.int64)
    chance, prevalence = posterior_relevance(
        evidence_from_counts(n_labels, relevant, *RATES), zeros
    )
    assert prevalence == pytest.approx([1 / 3], abs=1e-6)
    assert chance[0] == pytest.approx(0.8 / (0.8 + 2 * 0.1), abs=1e-6)
    assert chance[-1] == pytest.approx(0.2 / (0.2 + 2 * 0.9), abs=1e-6)


@pytest.mark.parametrize("doubled", [0.1, 1.0])
def test_estimates_are_unbiased_at_every_prevalence(doubled: float) -> None:
    """The pairs have one label or several, and belong to broad and to narrow captions."""
    setting = Setting(captions=40_000, doubled=doubled)
    rng = np.random.default_rng(4)
    _, truth = draw_truth(rng, setting)
    n_labels, relevant = draw_labels(rng, truth, setting)
    rates = (setting.false_alarm, setting.miss)
    number = unbiased_relevance(evidence_from_counts(n_labels, relevant, *rates))
    is_broad = np.repeat(truth.sum(axis=1) > 5, truth.shape[1])
    true = truth.reshape(-1)
    for group in (n_labels == 1, n_labels > 1):
        for kind in (is_broad, ~is_broad):
            for value in (True, False):
                members = number[group & kind & (true == value)]
                if len(members):
                    error = 4 * members.std() / len(members) ** 0.5
                    assert members.mean() == pytest.approx(float(value), abs=error)


def test_rates_are_those_of_each_label() -> None:
    # The annotator of the first pair makes errors at `RATES`, and the other one makes none.
    found = unbiased_relevance(
        evidence_from_labels(
            np.array([0, 1, 2]),
            np.array([1, 1, 0]),
            np.array([0.1, 0.0, 0.0]),
            np.array([0.2, 0.0, 0.0]),
            4,
        )
    )
    assert found == pytest.approx([0.9 / 0.7, 1, 0, 0], abs=1e-5)


def test_equal_rates_for_all_labels_give_the_same_estimates_as_one_rate() -> None:
    rng = np.random.default_rng(2)
    setting = Setting(captions=300, doubled=0.5)
    _, truth = draw_truth(rng, setting)
    n_labels, relevant = draw_labels(rng, truth, setting)
    pair_of = np.repeat(np.arange(len(n_labels)), n_labels)
    place = np.arange(len(pair_of)) - np.repeat(np.cumsum(n_labels) - n_labels, n_labels)
    labels = (place < np.repeat(relevant, n_labels)).astype(np.int64)
    one = unbiased_relevance(evidence_from_counts(n_labels, relevant, *RATES))
    rates = (np.full(len(labels), rate) for rate in RATES)
    each = evidence_from_labels(pair_of, labels, *rates, len(n_labels))
    np.testing.assert_allclose(unbiased_relevance(each), one, atol=1e-9)


def test_groups_are_calibrated_separately() -> None:
    """Two groups of pairs have different rates. The estimates of each group are unbiased."""
    rng = np.random.default_rng(6)
    truth = rng.random(60_000) < 0.3
    group = np.arange(60_000) % 2
    false_alarm = np.where(group == 1, 0.01, 0.2)
    labels = np.where(truth, rng.random((2, 60_000)) >= 0.1, rng.random((2, 60_000)) < false_alarm)
    evidence = evidence_from_counts(
        np.full(60_000, 2), labels.sum(axis=0, dtype=np.int64), false_alarm, 0.1
    )
    number = unbiased_relevance(evidence, group)
    for label in (0, 1):
        for value in (False, True):
            mean = number[(group == label) & (truth == value)].mean()
            assert mean == pytest.approx(float(value), abs=0.015)
