"""Sole positives, by hand and in a simulation with known relevance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation.core.people.label_rates import ErrorRates
from evaluation.core.relevance.deciding import expect_confirmation, sole_positives
from evaluation.core.relevance.judged import Judged
from tests.evaluation.core.lists import lists_of
from tests.evaluation.core.noise_world import (
    FALSE_ALARM,
    MISS,
    POOLED,
    Setting,
    draw_truth,
    judged_by,
    lists,
    noisy_labels,
)

RANKED = lists_of([[0, 1, 2], [3, 2, -1], [1, 0, 3], [2, 3, 0]], 4)
# Caption 0 has two positives. Captions 1 and 2 have one each, at ranks 1 and 3. The only positive
# of caption 3 is an original positive.
JUDGED = Judged(
    np.array([0, 1, 2, 6, 7, 9, 11, 14]), np.array([1, 2, 0, 0, 1, 0, 1, 1], np.int8), 4, 4
)
ORIGINAL = Judged(np.array([14]), np.ones(1, np.int8), 4, 4)


def test_the_only_positive_in_the_top_k() -> None:
    assert sole_positives(RANKED, JUDGED, 3).tolist() == [7, 11, 14]
    assert sole_positives(RANKED, JUDGED, 3, ORIGINAL).tolist() == [7, 11]
    assert sole_positives(RANKED, JUDGED, 2).tolist() == [7, 14]
    # In the top 1, caption 0 has a sole positive, too.
    assert sole_positives(RANKED, JUDGED, 1, ORIGINAL).tolist() == [0, 7]
    assert sole_positives(RANKED, JUDGED, 99, ORIGINAL).tolist() == [7, 11]
    assert sole_positives(RANKED, JUDGED.empty(), 3).tolist() == []


def test_a_positive_is_not_sole_next_to_an_original_positive() -> None:
    both = Judged(np.array([6, 7]), np.ones(2, np.int8), 4, 4)
    original = Judged(np.array([6]), np.ones(1, np.int8), 4, 4)
    assert sole_positives(RANKED, both, 1, original).tolist() == [7]
    assert sole_positives(RANKED, both, 2, original).tolist() == []


def test_k_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="k must be at least 1"):
        sole_positives(RANKED, JUDGED, 0)


def test_estimates_equal_the_simulation() -> None:
    """The estimates are the number of wrong sole positives, and C@10 after confirmation."""
    setting = Setting(captions=40_000)
    rng = np.random.default_rng(8)
    _, truth = draw_truth(rng, setting)
    draws = rng.random((3, *truth.shape))
    labels = np.where(truth, draws >= MISS, draws < FALSE_ALARM)
    first = labels[0]
    noisy = noisy_labels(np.ones(truth.size, np.int64), first.reshape(-1).astype(np.int64))
    ranked, judged = lists(setting.captions), judged_by(first)
    rates = ErrorRates(FALSE_ALARM, MISS)
    found = expect_confirmation(ranked, judged, 10, noisy, rates)
    codes = sole_positives(ranked, judged, 10)
    assert found.deciding == found.to_confirm == len(codes)
    assert found.score == first[:, :10].any(axis=1).mean()
    wrong = int((~truth.reshape(-1)[codes]).sum())
    assert found.wrong == pytest.approx(wrong, abs=4 * wrong**0.5)
    confirmed = first.copy().reshape(-1)
    votes = labels.reshape(3, -1)[:, codes].sum(axis=0)
    confirmed[codes] = votes >= 2  # the second label, and the third if it differs
    after = confirmed.reshape(-1, POOLED)[:, :10].any(axis=1).mean()
    assert found.confirmed == pytest.approx(after, abs=0.002)
    assert found.score - found.confirmed > 0.02

    noisy.is_known[codes[0]] = True  # an original positive
    noisy = replace(noisy, n_all_labels=np.where(noisy.codes == codes[1], 2, 1))
    fewer = expect_confirmation(ranked, judged, 10, noisy, rates)
    assert (fewer.deciding, fewer.to_confirm) == (len(codes) - 1, len(codes) - 2)
