"""Estimated error rates of labels, compared with the true rates of a simulation."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.people import label_rates as module
from evaluation.core.people.label_rates import (
    ErrorRates,
    rates_from_gold,
    rates_from_labels,
    typed_rates,
)
from evaluation.core.people.label_table import LabelTable, tabulate_labels
from tests.evaluation.core.noise_world import Setting, draw_labels, draw_truth

NO_DRAWS = np.empty((0, 0))


def expected_table(
    false_alarm: float, miss: float, prevalences: list[float], *, thirds: bool
) -> LabelTable:
    """Return the expected counts of 100,000 pairs of each prevalence."""
    patterns = [(2, 0), (2, 2), *([(3, 1), (3, 2)] if thirds else [(2, 1)])]
    rows = []
    for pi in prevalences:
        for n_labels, relevant in patterns:
            ways = 2 if 0 < relevant < n_labels else 1
            true = (1 - miss) ** relevant * miss ** (n_labels - relevant)
            other = false_alarm**relevant * (1 - false_alarm) ** (n_labels - relevant)
            rows.append(100_000 * ways * (pi * true + (1 - pi) * other))
    n_labels, relevant = np.array(patterns).T
    return LabelTable(n_labels, relevant, np.array([rows]), len(prevalences))


@pytest.mark.parametrize(
    ("prevalences", "thirds"), [([0.2], True), ([0.1, 0.6], True), ([0.1, 0.6], False)]
)
def test_third_labels_or_strata_identify_the_rates(prevalences: list[float], thirds: bool) -> None:
    table = expected_table(0.018, 0.05, prevalences, thirds=thirds)
    found = rates_from_labels(table, NO_DRAWS)
    assert found.rates is not None
    assert found.rates.false_alarm == pytest.approx(0.018, abs=2e-5)
    assert found.rates.miss == pytest.approx(0.05, abs=2e-4)
    assert found.prevalence == pytest.approx(np.mean(prevalences), abs=1e-4)


def test_two_labels_and_one_prevalence_are_not_enough() -> None:
    table = expected_table(0.018, 0.05, [0.3], thirds=False)
    found = rates_from_labels(table, NO_DRAWS)
    assert (found.rates, found.undefined) == (None, module.NOT_IDENTIFIED)
    alike = expected_table(0.018, 0.05, [0.3, 0.32], thirds=False)
    assert rates_from_labels(alike, NO_DRAWS).undefined == module.NOT_IDENTIFIED


@pytest.mark.parametrize(
    ("n_labels", "relevant", "reason"),
    [
        ([1, 1], [0, 1], module.NO_SECOND_LABELS),
        ([2, 2, 1], [0, 2, 1], module.FEW_DISAGREEMENTS),
        ([3] * 9, [1] * 9, module.FEW_DISAGREEMENTS),
    ],
)
def test_undefined_rates_have_a_reason(
    n_labels: list[int], relevant: list[int], reason: str
) -> None:
    zeros = np.zeros(len(n_labels), np.int64)
    table = tabulate_labels(np.array(n_labels), np.array(relevant), zeros, zeros, 1)
    found = rates_from_labels(table, NO_DRAWS)
    assert (found.rates, found.undefined) == (None, reason)
    assert found.interval(0) is None


def test_table_counts_pairs_by_cluster_stratum_and_pattern() -> None:
    n_labels = np.array([1, 2, 2, 3, 3, 2])
    relevant = np.array([1, 0, 2, 1, 1, 0])
    strata = np.array([0, 0, 1, 1, 1, 0])
    clusters = np.array([0, 0, 1, 0, 1, 0])
    table = tabulate_labels(n_labels, relevant, strata, clusters, 3)
    assert list(zip(table.n_labels.tolist(), table.relevant.tolist(), strict=True)) == [
        (2, 0),
        (2, 2),
        (3, 1),
    ]
    assert table.counts.tolist() == [[2, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 1], [0] * 6]
    assert table.total.tolist() == [[2, 0, 0], [0, 1, 2]]


def test_intervals_cover_the_true_rates() -> None:
    setting, covered = Setting(), []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        video, truth = draw_truth(rng, setting)
        n_labels, relevant = draw_labels(rng, truth, setting)
        captions = np.repeat(np.arange(len(truth)), truth.shape[1])
        clusters, zeros = video[captions], np.zeros(len(captions), np.int64)
        table = tabulate_labels(n_labels, relevant, zeros, clusters, int(video.max()) + 1)
        weights = rng.multinomial(
            len(table.counts), np.full(len(table.counts), 1 / len(table.counts)), 200
        )
        found = rates_from_labels(table, weights @ table.counts)
        for column, rate in enumerate((setting.false_alarm, setting.miss)):
            low, high = found.interval(column) or (1, 0)
            covered.append(low <= rate <= high)
    assert 0.92 <= np.mean(covered) <= 0.98


def test_rates_from_gold_answers() -> None:
    is_relevant = np.repeat([True, False], [100, 200])
    is_wrong = np.zeros(300, np.bool_)
    is_wrong[[0, 1, 2, 100]] = True
    found = rates_from_gold(is_relevant, is_wrong, 4000, rng=np.random.default_rng(0))
    assert found.rates == ErrorRates(1.5 / 201, 3.5 / 101)
    assert (found.pairs, found.disagreements) == (300, 4)
    low, high = found.interval(1) or (0, 0)
    assert low == pytest.approx(0.0084, abs=0.002)
    assert high == pytest.approx(0.078, abs=0.006)
    few = rates_from_gold(is_relevant[:105], is_wrong[:105], 10, rng=np.random.default_rng(0))
    assert few.undefined == module.FEW_GOLD
    chance = rates_from_gold(is_relevant, ~is_wrong, 10, rng=np.random.default_rng(0))
    assert chance.undefined == module.NO_BETTER_THAN_CHANCE


def test_typed_rates_are_exact() -> None:
    found = typed_rates(0.02, 0.1, 5)
    assert found.rates == ErrorRates(0.02, 0.1)
    assert found.interval(0) == (0.02, 0.02)
    with pytest.raises(ValueError, match="no better than chance"):
        typed_rates(0.6, 0.4, 5)
    with pytest.raises(ValueError, match="below 1"):
        typed_rates(-0.1, 0.4, 5)
