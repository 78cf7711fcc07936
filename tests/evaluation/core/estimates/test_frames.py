"""Undecided captions, predictions, and calibration."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.estimates.calibration import Calibration, cross_fit
from evaluation.core.estimates.frames import TopPairs, check_estimable, frames_of
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from hearth.shared.errors import InvalidInput
from tests.evaluation.core.lists import lists_of

C2, RR2, AP2 = (parse_measure(text) for text in ("C@2", "RR@2", "AP@2"))
LISTS = lists_of([[0, 1, 2], [1, 2, 0], [2, 3, 1], [3, 0, 1]], 4)
# Caption 0: relevant, unjudged. 1: unjudged, relevant. 2: not relevant, unjudged. 3: both not.
KNOWN = Judged.from_pairs(
    [0, 1, 2, 3, 3], [0, 2, 2, 3, 0], [1, 1, 0, 0, 0], n_queries=4, n_videos=4
)


def test_a_caption_is_decided_if_no_unjudged_pair_can_change_it() -> None:
    chances = np.full((4, 3), 0.5)
    found = frames_of(TopPairs.of(LISTS, KNOWN), [C2, RR2, AP2], chances)
    assert found[C2].undecided.tolist() == [False, False, True, False]
    assert found[RR2].undecided.tolist() == [False, True, True, False]
    assert found[AP2].undecided.tolist() == [True, True, True, False]
    assert found[C2].predicted.tolist() == [1, 1, 0.5, 0]
    assert found[RR2].predicted.tolist() == [1, 0.75, 0.25, 0]
    # The precision of rank 2 is (1 + 1) / 2 with a relevant rank 1, and there are 1.5 positives.
    assert found[AP2].predicted[:2].tolist() == pytest.approx([1.0, (0.5 + 0.75) / 1.5])
    assert (found[C2].n_undecided, found[C2].decided_sum, found[C2].mean_predicted) == (1, 2, 0.5)


def test_values_of_complete_labels_are_those_of_the_measures() -> None:
    rng = np.random.default_rng(0)
    lists = lists_of(np.argsort(rng.random((300, 40)), axis=1)[:, :10].astype(np.int32), 40)
    codes = np.sort(rng.choice(300 * 40, 3000, replace=False))
    gains = rng.integers(0, 2, 3000).astype(np.int8)
    judged = Judged(codes, gains, 300, 40)
    names = ("C@1", "C@5", "P@5", "RR@10", "R@5", "AP@10", "AP", "AP(found)@5", "nDCG@10", "nDCG")
    measures = [parse_measure(name) for name in names]
    found = TopPairs.of(lists, judged).values(measures, np.zeros((300, 10)))
    expected = score_run(lists, judged, measures)
    for measure in measures:
        assert found[measure] == pytest.approx(expected.per_query(measure), abs=1e-12)


def test_a_measure_of_ranks_has_no_estimate() -> None:
    with pytest.raises(InvalidInput, match="MedR cannot be estimated"):
        check_estimable(parse_measure("MedR"))


@pytest.mark.parametrize("by", list(Calibration))
def test_calibration_finds_the_probabilities_from_other_videos(by: Calibration) -> None:
    rng = np.random.default_rng(1)
    videos = rng.integers(0, 200, 40_000)
    chance = rng.choice([0.02, 0.1, 0.5, 0.9], 40_000)
    values = 1 / (1 + np.exp(-3 * np.log(chance / (1 - chance)) + 2))
    if by == Calibration.LOGISTIC:
        values = np.log(chance / (1 - chance)) / 8 + 0.5
    labels = (rng.random(40_000) < chance).astype(np.float64)
    found = cross_fit(values, labels, videos, values, videos, by=by)
    for p in (0.02, 0.1, 0.5, 0.9):
        assert found[chance == p].mean() == pytest.approx(p, abs=0.015)


def test_no_label_calibrates_its_own_video() -> None:
    rng = np.random.default_rng(2)
    videos = np.repeat(np.arange(50), 40)
    values, labels = rng.random(2000), (rng.random(2000) < 0.3).astype(np.float64)
    before = cross_fit(values, labels, videos, values, videos)
    changed = np.where(videos == 7, 1 - labels, labels)
    after = cross_fit(values, changed, videos, values, videos)
    assert (after == before)[videos == 7].all()
    assert not (after == before).all()


def test_few_labels_leave_values_as_they_are() -> None:
    values = np.array([0.2, 0.7])
    found = cross_fit(values, np.array([0.0, 1.0]), np.array([0, 1]), values, np.array([0, 1]))
    assert found.tolist() == [0.2, 0.7]
