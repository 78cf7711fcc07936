"""Corrected scores in small simulations. `tests/benchmarks/label_noise.py` runs larger ones."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.people.label_rates import (
    ErrorRates,
    RatesEstimate,
    rates_from_labels,
    typed_rates,
)
from evaluation.core.people.label_table import tabulate_labels
from evaluation.core.relevance.corrected_scores import locate, score_relevance
from evaluation.core.relevance.corrected_squares import noise_variances
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.label_noise import (
    Resamples,
    correct_scores,
    fixed_interval,
    score_change_by_noise,
    variance_of_mean,
)
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.noise_relevance import (
    evidence_from_counts,
    posterior_relevance,
    unbiased_relevance,
)
from evaluation.core.relevance.noisy_labels import NoisyLabels
from evaluation.core.statistics.proportions import wilson_interval
from pooling.core.pair_space import PairSpace
from tests.evaluation.core.lists import lists_of
from tests.evaluation.core.noise_world import (
    FALSE_ALARM,
    MISS,
    Setting,
    correct_one,
    draw_labels,
    draw_truth,
    judged_by,
    lists,
    noisy_labels,
    true_scores,
)

MEASURES = [parse_measure(name) for name in "C@1 C@5 C@10 P@10 AP".split()]
C10 = parse_measure("C@10")


def values_of(counts: list[int], rates: ErrorRates) -> tuple[np.ndarray, np.ndarray]:
    """Return C@10 of captions with ten single labels, and its variance.

    counts: the number of relevant labels of each caption.
    """
    n = len(counts)
    relevant = (np.arange(10) < np.array(counts)[:, None]).astype(np.int64).reshape(-1)
    labels = NoisyLabels(
        codes=np.arange(10 * n),
        space=PairSpace(n, 10),
        n_labels=np.ones(10 * n, np.int64),
        relevant=relevant,
        ruled=np.full(10 * n, -1, np.int8),
        is_known=np.zeros(10 * n, np.bool_),
        n_all_labels=np.ones(10 * n, np.int64),
    )
    ranked = locate(lists_of(np.tile(np.arange(10), (n, 1)), 10), labels.codes)
    numbers = labels.relevance(rates)
    return (
        score_relevance(ranked, numbers, [C10])[C10],
        noise_variances(ranked, numbers, [C10])[C10],
    )


def test_corrected_values_by_hand() -> None:
    """The sole positive of a caption is isolated, and the pairs next to it are not."""
    one, _ = values_of([0, 1, 2, 3], ErrorRates(0.018, 0.05))
    assert one == pytest.approx([-0.210813, 1.063727, 0.996646, 1.000177], abs=5e-7)
    two, _ = values_of([0, 1, 2, 3], ErrorRates(0.018, 0.05, 0.0155, 0.0242))
    assert two == pytest.approx([-0.178808, 1.067491, 0.996414, 1.000189], abs=5e-7)


def test_interval_for_these_captions_by_hand() -> None:
    """Of 1,000 captions, original positives decide 600, and 50 of the others are judged."""
    counts = [0] * 32 + [1] * 12 + [2] * 4 + [3] * 2
    rates = ErrorRates(0.018, 0.05)
    values, variances = values_of(counts, rates)
    mean = values.mean()
    assert mean == pytest.approx(0.240113, abs=5e-7)
    with_one, without = values[32:].mean(), values[:32].mean()
    assert with_one == pytest.approx(1.041759, abs=5e-7)
    # The 600 decided captions have no variance. Each of the 50 stands for eight captions.
    noise = 8 * variances.sum() / 1000**2
    assert noise == pytest.approx(7.174868e-5, abs=5e-12)
    assert variance_of_mean(variances) == pytest.approx(variances.sum() / 50**2)
    assert variance_of_mean(variances, np.full(50, 3)) == pytest.approx(3 * variances.sum() / 50**2)
    step = 1e-6
    gradient = np.array(
        [
            0.4 * (values_of(counts, up)[0].mean() - values_of(counts, down)[0].mean()) / (2 * step)
            for up, down in (
                (ErrorRates(0.018 + step, 0.05), ErrorRates(0.018 - step, 0.05)),
                (ErrorRates(0.018, 0.05 + step), ErrorRates(0.018, 0.05 - step)),
            )
        ]
    )
    assert gradient == pytest.approx([-3.261317, 0.062661], abs=5e-6)
    covariance = np.array([[0.0004**2, -2e-7], [-2e-7, 0.0027**2]])
    by_rates = float(gradient @ covariance @ gradient)
    assert by_rates == pytest.approx(1.812e-6, abs=5e-10)
    low, high = wilson_interval(18 / 50, 50 / (1 - 50 / 400), 1.959964)
    scale = 0.4 * (with_one - without)
    estimate = 0.6 + 0.4 * mean
    assert estimate == pytest.approx(0.696045, abs=5e-7)
    found = fixed_interval(
        estimate, noise + by_rates, 0.95, (scale * (0.36 - low), scale * (high - 0.36))
    )
    assert found == pytest.approx((0.637479, 0.763125), abs=5e-7)
    # If all captions are judged, only the labels and the rates are uncertain.
    half = 1.959964 * (noise + by_rates) ** 0.5
    assert fixed_interval(estimate, noise + by_rates, 0.95) == pytest.approx(
        (estimate - half, estimate + half), abs=1e-8
    )
    assert fixed_interval(1.1, 0.0, 0.95) == (1, 1)


def test_corrected_scores_are_unbiased_and_intervals_cover_the_truth() -> None:
    population = draw_truth(np.random.default_rng(99), Setting(captions=200_000))[1]
    truth = true_scores(population, MEASURES)
    covered, fixed, errors, raw_errors = [], [], [], []
    for seed in range(60):
        drawn, _, rows = correct_one(seed, Setting(captions=500), MEASURES, 200)
        own = true_scores(drawn, MEASURES)
        covered.append(
            [
                row.interval[0] <= value <= row.interval[1]
                for row, value in zip(rows, truth, strict=True)
                if row.interval
            ]
        )
        fixed.append(
            [
                row.fixed_interval[0] <= value <= row.fixed_interval[1]
                for row, value in zip(rows, own, strict=True)
            ]
        )
        errors.append([row.corrected - value for row, value in zip(rows, own, strict=True)])
        raw_errors.append([row.raw - value for row, value in zip(rows, own, strict=True)])
    error = np.array(errors)
    assert (np.abs(error.mean(axis=0)) < 3 * error.std(axis=0) / 60**0.5 + 1e-4).all()
    # Raw C@10 is 3 points too high.
    assert np.mean(raw_errors, axis=0)[2] == pytest.approx(0.031, abs=0.003)
    # There are 300 intervals. The five measures of a simulation are dependent.
    assert 0.91 <= np.mean(covered) <= 0.985
    # For the true scores of these captions, the narrower interval is sufficient.
    assert 0.91 <= np.mean(fixed) <= 0.985


def test_products_of_posteriors_are_worse_than_no_correction() -> None:
    """This is the reason why C@10 is not corrected with the probability of each pair."""
    rng = np.random.default_rng(0)
    setting = Setting(captions=20_000)
    _, truth = draw_truth(rng, setting)
    n_labels, relevant = draw_labels(rng, truth, setting)
    evidence = evidence_from_counts(n_labels, relevant, FALSE_ALARM, MISS)
    ranks = np.tile(np.arange(truth.shape[1]), len(truth))
    posterior, _ = posterior_relevance(evidence, ranks)
    numbers = unbiased_relevance(evidence)

    def c10(values: np.ndarray) -> float:
        return float((1 - (1 - values.reshape(truth.shape)[:, :10]).prod(axis=1)).mean())

    true = c10(truth.astype(float))
    assert c10((2 * relevant > n_labels).astype(float)) - true == pytest.approx(0.031, abs=0.003)
    assert c10(posterior) - true == pytest.approx(0.057, abs=0.004)
    assert c10(numbers) - true == pytest.approx(0, abs=0.003)


def test_score_change_equals_that_of_corrected_scores() -> None:
    setting = Setting(captions=200)
    rng = np.random.default_rng(11)
    _, truth = draw_truth(rng, setting)
    labels = noisy_labels(*draw_labels(rng, truth, setting))
    judged, rates = judged_by(labels.is_positive), ErrorRates(FALSE_ALARM, MISS)
    found = score_change_by_noise(
        lists(200), judged, labels.codes, labels.relevance(rates), MEASURES
    )
    estimate = typed_rates(FALSE_ALARM, MISS, 100)
    drawn = Resamples(np.arange(200), 100, 0)
    rows = correct_scores(
        {"run": lists(200)}, judged, labels.codes, labels.relevance, MEASURES, estimate, drawn
    )
    assert found == pytest.approx({row.measure: row.change for row in rows})
    assert found[parse_measure("C@10")] > 0.02


def test_labels_without_errors_change_nothing() -> None:
    rng = np.random.default_rng(1)
    labels = rng.random((50, 20)) < 0.2
    judged = Judged(np.arange(1000), labels.reshape(-1).astype(np.int8), 50, 20)
    n_labels, relevant = np.ones(1000, np.int64), labels.reshape(-1).astype(np.int64)
    rows = correct_scores(
        {"run": lists_of(np.tile(np.arange(10), (50, 1)), 20)},
        judged,
        judged.codes,
        lambda rates: unbiased_relevance(evidence_from_counts(n_labels, relevant, *rates.values)),
        MEASURES,
        typed_rates(0, 0, 300),
        Resamples(np.arange(50), 300, 0),
    )
    for row in rows:
        assert row.corrected == pytest.approx(row.raw, abs=1e-12)
        # One interval is from percentiles of resamples, the other from `mean_interval`.
        assert row.interval == pytest.approx(row.raw_interval, abs=0.04)
        assert row.change_interval == pytest.approx((0, 0), abs=1e-9)


def test_a_score_of_one_is_not_certain() -> None:
    """All thirty captions are correct, with one label each."""
    ones = np.ones(30, np.int64)
    judged = Judged(np.arange(30), ones.astype(np.int8), 30, 1)
    (row,) = correct_scores(
        {"run": lists_of([[0]] * 30, 1)},
        judged,
        judged.codes,
        lambda rates: unbiased_relevance(evidence_from_counts(ones, ones, *rates.values)),
        [parse_measure("C@1")],
        typed_rates(0.02, 0.05, 500),
        Resamples(np.arange(30), 500, 0),
    )
    # Raw scores have Wilson's interval of 30 of 30.
    assert row.raw_interval == pytest.approx((30 / (30 + 1.959964**2), 1), abs=1e-6)
    assert row.interval == row.raw_interval
    assert (row.raw, row.corrected, row.change) == (1, 1, 0)
    assert row.change_interval == pytest.approx((0, 0), abs=1e-9)


def test_the_interval_covers_the_uncertainty_of_the_rates() -> None:
    """In every video, two of four captions are labelled relevant, so all resamples are equal."""
    labels = np.tile([1, 1, 0, 0], 30)
    judged = Judged(np.arange(120), labels.astype(np.int8), 120, 1)
    rng = np.random.default_rng(0)
    draws = np.stack([rng.normal(0.05, 0.01, 4000), rng.normal(0.1, 0.02, 4000)], axis=1)
    estimate = RatesEstimate(ErrorRates(0.05, 0.1), None, draws, 0, 0)
    (row,) = correct_scores(
        {"run": lists_of([[0]] * 120, 1)},
        judged,
        judged.codes,
        lambda rates: unbiased_relevance(evidence_from_counts(labels**0, labels, *rates.values)),
        [parse_measure("C@1")],
        estimate,
        Resamples(np.repeat(np.arange(30), 4), 4000, 0),
    )
    at_draws = (0.5 - draws[:, 0]) / (1 - draws.sum(axis=1))
    assert row.corrected == pytest.approx(0.45 / 0.85)
    assert row.interval == pytest.approx(np.quantile(at_draws, [0.025, 0.975]), abs=2e-4)
    assert row.change_interval == pytest.approx(
        0.5 - np.quantile(at_draws, [0.975, 0.025]), abs=2e-4
    )


def test_few_clusters_have_intervals_and_one_has_none() -> None:
    setting = Setting(captions=240, per_video=20)  # 12 videos
    _, _, rows = correct_one(3, setting, MEASURES, 400)
    for row in rows:
        assert row.interval is not None
        assert 0 <= row.interval[0] < row.corrected < row.interval[1] <= 1
    _, _, rows = correct_one(3, Setting(captions=240, per_video=240), MEASURES, 400)
    assert {row.interval for row in rows} == {None}


def test_resamples_draw_the_same_clusters_at_each_call() -> None:
    drawn = Resamples(np.array([0, 0, 1, 2]), 50, 7)
    sums = drawn.by_cluster(np.array([[1.0, 2.0, 4.0, 8.0], [1.0, 1.0, 1.0, 1.0]]))
    assert sums.tolist() == [[3, 2], [4, 1], [8, 1]]
    once, again = drawn.sums(sums), drawn.sums(np.ones((3, 1)))
    assert (again == 3).all()
    assert once.tolist() == drawn.sums(sums).tolist()
    assert set(once[:, 0]) <= {
        a * 3 + b * 4 + (3 - a - b) * 8 for a in range(4) for b in range(4 - a)
    }


def test_rates_are_needed() -> None:
    zeros = np.zeros(2, np.int64)
    table = tabulate_labels(np.ones(2, np.int64), zeros, zeros, zeros, 1)
    estimate = rates_from_labels(table, np.empty((0, 0)))
    judged = Judged(np.arange(2), np.zeros(2, np.int8), 2, 1)
    with pytest.raises(ValueError, match="error rates are needed"):
        correct_scores(
            {}, judged, judged.codes, lambda _: zeros * 1.0, [], estimate, Resamples(zeros, 5, 0)
        )
