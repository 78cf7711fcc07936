"""Shares that are corrected for wrong labels, by hand and in simulations."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.people.label_rates import ErrorRates, RatesEstimate, typed_rates
from evaluation.core.relevance.corrected_shares import correct_share, without_relevant
from evaluation.core.relevance.label_noise import Resamples
from evaluation.core.relevance.noise_relevance import evidence_from_counts, unbiased_relevance


def test_captions_without_a_relevant_pair_by_hand() -> None:
    # Caption 0 has the pairs of videos 0 and 2, caption 1 has no pair, and caption 2 has one.
    codes, t = np.array([0, 2, 7]), np.array([1.25, -0.5, 0.25])
    found = without_relevant(codes, 3, 3, t)
    assert found.tolist() == pytest.approx([-0.25 * 1.5, 1, 0.75])


def test_the_share_of_rejected_pairs_is_corrected() -> None:
    """Of 4,000 relevant pairs, a tenth is labelled not relevant by mistake.

    Of the others, a twentieth is not relevant.
    """
    covered, shares, raw = [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = rng.random(400) < 0.95
        labels = np.where(truth, rng.random(400) >= 0.1, rng.random(400) < 0.02) * 1

        def rejected_at(rates: ErrorRates, labels: np.ndarray = labels) -> np.ndarray:
            evidence = evidence_from_counts(labels**0, labels, *rates.values)
            return 1 - unbiased_relevance(evidence)

        draws = rng.normal([0.02, 0.1], [0.004, 0.015], (200, 2))
        estimate = RatesEstimate(
            ErrorRates(*rng.normal([0.02, 0.1], [0.004, 0.015])), None, draws, 0, 0
        )
        found = correct_share(
            rejected_at, np.ones(400), estimate, Resamples(np.arange(400), 200, seed)
        )
        assert found.interval is not None
        covered.append(found.interval[0] <= 0.05 <= found.interval[1])
        shares.append(found.value)
        raw.append(1 - labels.mean())
    assert np.mean(raw) == pytest.approx(0.144, abs=0.01)
    assert np.mean(shares) == pytest.approx(0.05, abs=0.012)
    assert np.mean(covered) >= 0.9


def test_one_cluster_has_no_interval() -> None:
    zeros = np.zeros(2, np.int64)
    found = correct_share(
        lambda _: np.array([1.0, 0.5]),
        np.array([2.0, 2.0]),
        typed_rates(0, 0, 5),
        Resamples(zeros, 5, 0),
    )
    assert (found.value, found.interval) == (0.375, None)
    unknown = RatesEstimate(None, None, np.empty((0, 2)), 0, 0, "no labels")
    with pytest.raises(ValueError, match="error rates are needed"):
        correct_share(lambda _: zeros, zeros, unknown, Resamples(zeros, 5, 0))
