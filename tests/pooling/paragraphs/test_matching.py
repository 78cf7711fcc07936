"""Robust bipartite matching, and the order that it gives, on the worked example and its traps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pooling.paragraphs.core.matching import focused_order, focused_scores, match, match_score

EXAMPLE = [[0.80, 0.75, 0.10, 0.05], [0.78, 0.20, 0.15, -0.10]]


def pairs(found) -> list[tuple[int, int]]:
    return list(zip(found.sentences.tolist(), found.clips.tolist(), strict=True))


@pytest.mark.parametrize(
    ("matches", "score", "expected"),
    [
        (1, 1.53, [(0, 1), (1, 0)]),
        (2, 1.73, [(0, 1), (0, 3), (1, 0), (1, 2)]),
        (3, 1.75, [(0, 0), (0, 1), (0, 3), (1, 2)]),
    ],
)
def test_the_worked_example(matches, score, expected) -> None:
    found = match(EXAMPLE, matches)
    assert round(found.score, 12) == score
    assert pairs(found) == expected
    assert round(match_score(np.array(EXAMPLE), matches), 12) == score


@pytest.mark.parametrize("matches", [1, 2, 3])
def test_the_sum_is_the_largest_of_all_matchings(matches) -> None:
    rng = np.random.default_rng(matches)
    for _ in range(20):
        r = np.round(rng.uniform(-1, 1, (2, 5)), 2)
        best = max(
            sum(r[sentence, clip] for clip, sentence in enumerate(of) if sentence >= 0)
            for of in product((-1, 0, 1), repeat=5)
            if max(of.count(0), of.count(1)) <= matches
        )
        assert round(match(r, matches).score, 9) == round(best, 9)


def test_pairs_without_a_positive_similarity_are_dropped() -> None:
    """An assignment is always full, and would match both sentences."""
    assert pairs(match([[0.5, -0.2], [-0.1, 0.0]], 1)) == [(0, 0)]
    nothing = match([[-0.5, 0.0]], 3)
    assert (nothing.score, pairs(nothing)) == (0.0, [])


@pytest.mark.parametrize("r", [[[0.1, np.nan]], [[np.inf]], [0.1, 0.2]])
def test_other_similarities_are_refused(r) -> None:
    with pytest.raises(ValueError, match="finite matrix"):
        match(r, 1)


def test_a_sentence_without_a_clip_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one clip"):
        match(EXAMPLE, 0)


def test_focus_keeps_ties_in_the_order_of_the_run() -> None:
    scores = focused_scores(np.array([0.5, 0.4, 0.3, 0.2]), np.array([0.0, 1.0, 2.0, 2.0]))
    assert focused_order(scores).tolist() == [2, 1, 3, 0]
    assert focused_order(focused_scores(np.full(3, 0.5), np.zeros(3))).tolist() == [0, 1, 2]


def test_a_negative_score_is_refused() -> None:
    """With S_t < 0, the better matching would come last."""
    with pytest.raises(ValueError, match="negative"):
        focused_scores(np.array([0.5, -0.1]), np.array([1.0, 2.0]))
