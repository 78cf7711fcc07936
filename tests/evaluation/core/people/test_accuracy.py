"""Intervals of estimated accuracies: their coverage in simulations, their width and memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from evaluation.core.people import accuracy
from evaluation.core.people.accuracy import accuracy_intervals
from evaluation.core.people.dawid_skene import LabelModel, dawid_skene

PREVALENCE = 0.3


def simulate(seed: int, items: int, annotators: int) -> tuple[LabelModel, np.ndarray]:
    """Return a model fitted to simulated labels, and the true accuracy of each annotator.

    Two annotators label each item, and a third one if they disagree.
    """
    rng = np.random.default_rng(seed)
    false_alarm = np.linspace(0.005, 0.06, annotators)
    miss = np.linspace(0.02, 0.15, annotators)[rng.permutation(annotators)]
    truth = rng.random(items) < PREVALENCE
    people = np.argsort(rng.random((items, annotators)), axis=1)[:, :3]
    drawn = rng.random((items, 3))
    labels = np.where(truth[:, None], drawn >= miss[people], drawn < false_alarm[people]) * 1
    exists = np.ones((items, 3), np.bool_)
    exists[:, 2] = labels[:, 0] != labels[:, 1]
    item = np.repeat(np.arange(items), 3).reshape(items, 3)
    model = dawid_skene(item[exists], people[exists], labels[exists], 2).model
    assert model is not None
    return model, PREVALENCE * (1 - miss) + (1 - PREVALENCE) * (1 - false_alarm)


@pytest.mark.parametrize(("items", "annotators"), [(600, 8), (200, 5)])
def test_intervals_cover_the_true_accuracy(items: int, annotators: int) -> None:
    covered = []
    for seed in range(60):
        model, true = simulate(seed, items, annotators)
        low, high = accuracy_intervals(model, rng=np.random.default_rng(seed)).T
        covered.append((low <= true) & (true <= high))
    assert 0.93 <= np.mean(covered) <= 0.975


def test_more_labels_make_intervals_narrower() -> None:
    widths = []
    for items in (300, 1200):
        model, _ = simulate(1, items, 6)
        low, high = accuracy_intervals(model, rng=np.random.default_rng(0)).T
        assert (low < model.accuracy).all()
        assert (model.accuracy < high).all()
        widths.append(float((high - low).mean()))
    assert widths[1] < 0.6 * widths[0]


def test_memory_stays_below_ten_megabytes() -> None:
    peaks = []
    for items in (2_000, 10_000):
        model, _ = simulate(2, items, 60)
        tracemalloc.start()
        accuracy_intervals(model, rng=np.random.default_rng(0))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 10_000_000


def test_the_size_of_blocks_of_resamples_hardly_changes_the_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, _ = simulate(3, 400, 6)
    intervals = []
    for cells in (1, 1 << 20):
        monkeypatch.setattr(accuracy, "_BLOCK_CELLS", cells)
        intervals.append(accuracy_intervals(model, rng=np.random.default_rng(0)))
    assert intervals[0] == pytest.approx(intervals[1], abs=1e-4)


def test_annotators_who_always_agree_have_an_interval_which_grows_with_confidence() -> None:
    # The interval of each annotator is that of 60 correct labels out of 60.
    items = np.repeat(np.arange(60), 3)
    labels = np.repeat(np.arange(60) % 2, 3)
    model = dawid_skene(items, np.tile(np.arange(3), 60), labels, 2).model
    assert model is not None
    low, high = accuracy_intervals(model, rng=np.random.default_rng(0)).T
    assert low == pytest.approx(np.full(3, 60 / (60 + 1.959964**2)), abs=1e-3)
    assert (high > 0.999).all()
    wide, _ = accuracy_intervals(model, rng=np.random.default_rng(0), confidence=0.99).T
    assert (wide < low).all()


def test_accuracies_on_a_scale_of_three_labels_have_intervals() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 300)
    labels = np.where(rng.random((300, 3)) < 0.9, truth[:, None], rng.integers(0, 3, (300, 3)))
    model = dawid_skene(
        np.repeat(np.arange(300), 3), np.tile(np.arange(3), 300), labels.reshape(-1), 3
    ).model
    assert model is not None
    low, high = accuracy_intervals(model, rng=rng).T
    assert ((low < 0.9 + 0.1 / 3) & (high > 0.9 + 0.1 / 3)).all()
