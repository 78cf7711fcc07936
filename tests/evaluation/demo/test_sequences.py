"""The demo's paragraphs: focusing helps, and a video without a paragraph fits one."""

from __future__ import annotations

import numpy as np

from evaluation.demo.sequences import clips, draw_scores, sentences_of, truth
from pooling.paragraphs.core.matching import match_score


def places(scores: np.ndarray) -> list[int]:
    """Return the rank of the right video of each paragraph."""
    return [int((row > row[number]).sum()) + 1 for number, row in enumerate(scores)]


def test_focusing_finds_two_right_videos_first_that_the_run_does_not() -> None:
    matrices, found = draw_scores()
    matched = [match_score(np.array(r), 1) for r in matrices.values()]
    assert places(found) == [3, 2, 2]
    assert places(found * np.reshape(matched, found.shape)) == [2, 1, 1]


def test_only_one_other_video_shows_all_actions_of_a_paragraph() -> None:
    shown = truth().reshape(3, 3, -1).all(axis=1)
    assert np.argwhere(shown).tolist() == [[0, 0], [0, 3], [1, 1], [2, 2]]
    assert sentences_of(0) == [
        "A red square moves right.",
        "A blue star spins.",
        "A green circle grows.",
    ]
    assert clips()[-1] == [4.0, 6.0]
