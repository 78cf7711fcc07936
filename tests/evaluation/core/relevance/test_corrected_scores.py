"""Measures of probabilities instead of labels, compared with `score_run` and with all outcomes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from evaluation.core.relevance.corrected_scores import locate, score_relevance
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from tests.evaluation.core.lists import lists_of

NAMES = "C@1 C@5 P@3 R@5 R@20 RR RR@3 AP AP@5 AP(found) AP(found)@4 nDCG nDCG@5 nDCG(exp)@10"
MEASURES = [parse_measure(name) for name in NAMES.split()]


@pytest.mark.parametrize("seed", range(5))
def test_zeros_and_ones_give_the_measure_itself(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_queries, n_videos = 40, 30
    ranked = np.stack([rng.permutation(n_videos)[:12] for _ in range(n_queries)]).astype(np.int32)
    ranked[3, 7:] = -1
    ranked[4] = -1
    codes = np.sort(rng.choice(n_queries * n_videos, 500, replace=False)).astype(np.int64)
    codes = codes[codes // n_videos != 5]  # a query without any judged pair
    gains = (rng.random(len(codes)) < 0.3).astype(np.int8)
    lists = lists_of(ranked, n_videos)
    found = score_relevance(locate(lists, codes), gains.astype(np.float64), MEASURES)
    scores = score_run(lists, Judged(codes, gains, n_queries, n_videos), MEASURES)
    for measure in MEASURES:
        np.testing.assert_allclose(found[measure], scores.per_query(measure), atol=1e-12)


def test_probabilities_give_the_mean_over_all_outcomes() -> None:
    """One query has seven pairs, five of them in its list. There are 128 outcomes."""
    chances = np.array([0.9, 0.2, -0.02, 1.05, 0.5, 0.3, 0.7])
    codes = np.arange(7, dtype=np.int64)
    ranked = lists_of([[4, 1, 8, 3, 0, 2]], 9)  # 8 is unjudged
    expected = dict.fromkeys(MEASURES, 0.0)
    for outcome in product((0, 1), repeat=7):
        gains = np.array(outcome, np.int8)
        weight = float(np.where(gains == 1, chances, 1 - chances).prod())
        scores = score_run(ranked, Judged(codes, gains, 1, 9), MEASURES)
        for measure in MEASURES:
            expected[measure] += weight * float(scores.per_query(measure)[0])
    found = score_relevance(locate(ranked, codes), chances, MEASURES)
    assert {measure: found[measure][0] for measure in MEASURES} == pytest.approx(
        expected, abs=1e-12
    )


def test_many_different_numbers_are_multiplied_one_by_one() -> None:
    """The results equal those of few different numbers.

    If there are few different numbers, the code counts the pairs that have each number. `few`
    contains two different numbers. `many` adds a negligible random number to each, so that all
    numbers differ.
    """
    rng = np.random.default_rng(1)
    codes = np.arange(0, 600, 2, dtype=np.int64)
    ranked = lists_of(np.tile(np.arange(10), (20, 1)), 30)
    few = np.where(rng.random(len(codes)) < 0.3, 1.04, -0.02)
    many = few + 1e-10 * rng.random(len(codes))
    lists = locate(ranked, codes)
    one, other = (score_relevance(lists, numbers, MEASURES) for numbers in (few, many))
    for measure in MEASURES:
        np.testing.assert_allclose(one[measure], other[measure], atol=1e-7)


def test_ranks_cannot_be_corrected() -> None:
    lists = locate(lists_of([[0]], 1), np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="MedR cannot be corrected"):
        score_relevance(lists, np.ones(1), [parse_measure("MedR")])


def test_nothing_judged_and_no_queries() -> None:
    empty = np.empty(0, np.int64)
    found = score_relevance(locate(lists_of([[0, 1]], 2), empty), np.empty(0), MEASURES)
    assert all(found[measure].tolist() == [0.0] for measure in MEASURES)
    none = score_relevance(locate(lists_of(np.empty((0, 3)), 2), empty), np.empty(0), MEASURES)
    assert all(none[measure].shape == (0,) for measure in MEASURES)
