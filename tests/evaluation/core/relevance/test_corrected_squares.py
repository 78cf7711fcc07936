"""Squares of measures from labels that can be wrong, over all outcomes of the labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from evaluation.core.relevance.corrected_scores import is_correctable, locate, score_relevance
from evaluation.core.relevance.corrected_squares import noise_variances, square_relevance
from evaluation.core.relevance.measure import KINDS, Cutoff
from evaluation.core.relevance.measures import Measure, parse_measure
from tests.evaluation.core.lists import lists_of

MEASURES = [
    parse_measure(name)
    for name in "C@1 C@3 P@3 R@3 RR AP AP@2 AP(found) nDCG nDCG@2 nDCG(exp)@3".split()
]
FALSE_ALARM, MISS = 0.07, 0.2
# Six judged pairs. The run ranks five videos, of which video 6 is unjudged.
RANKED, JUDGED = lists_of([[3, 0, 6, 5, 1]], 7), np.arange(6)


def test_every_correctable_measure_is_tested() -> None:
    assert {measure.name for measure in MEASURES} == {
        name
        for name, kind in KINDS.items()
        if is_correctable(Measure(name, 3 if kind.cutoff is Cutoff.NEEDED else None))
    }


@pytest.mark.parametrize("truth", [(1, 0, 0, 1, 0, 1), (0, 0, 1, 0, 0, 0), (0,) * 6, (1,) * 6])
def test_squares_and_variances_are_unbiased(truth: tuple[int, ...]) -> None:
    """Each of the 64 outcomes of six labels is weighted with its probability."""
    outcomes = np.array(list(itertools.product((0, 1), repeat=6)))
    wrong = np.where(truth, MISS, FALSE_ALARM)
    chance = np.where(outcomes != truth, wrong, 1 - wrong).prod(axis=1)
    t = (outcomes - FALSE_ALARM) / (1 - FALSE_ALARM - MISS)
    lists = locate(RANKED, JUDGED)
    true = score_relevance(lists, np.array(truth, np.float64), MEASURES)
    scores = [score_relevance(lists, numbers, MEASURES) for numbers in t]
    squares = [square_relevance(lists, numbers, MEASURES) for numbers in t]
    variances = [noise_variances(lists, numbers, MEASURES) for numbers in t]
    for measure in MEASURES:
        value = true[measure][0]
        of_labels = np.array([score[measure][0] for score in scores])
        assert chance @ of_labels == pytest.approx(value, abs=1e-9)
        of_squares = [square[measure][0] for square in squares]
        assert chance @ of_squares == pytest.approx(value**2, abs=1e-9)
        variance = chance @ np.square(of_labels - value)
        found = [each[measure][0] for each in variances]
        assert chance @ found == pytest.approx(variance, abs=1e-9)


def test_an_empty_run_has_no_squares() -> None:
    lists = locate(lists_of(np.empty((2, 0)), 7), JUDGED)
    for squares in square_relevance(lists, np.ones(6), MEASURES).values():
        assert squares.tolist() == [0, 0]
