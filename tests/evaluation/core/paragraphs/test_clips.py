"""Overlaps of clips, both readings of the recall, and precision and recall of densevid."""

from __future__ import annotations

import numpy as np

from evaluation.core.paragraphs.clips import (
    Clips,
    PrecisionRecall,
    best_overlaps,
    densevid,
    overlaps,
    recall,
)


def spans(*each) -> np.ndarray:
    return np.array(each, np.float64).reshape(-1, 2)


def test_overlaps_are_divided_by_the_true_union() -> None:
    first = spans((0, 10), (0, 10), (0, 10), (0, 4), (3, 3))
    second = spans((0, 10), (5, 15), (20, 30), (4, 8), (3, 3))
    assert overlaps(first, second).tolist() == [1, 5 / 15, 0, 0, 0]


def test_both_readings_of_the_recall() -> None:
    """Sentence 0 has two matched clips: the weaker one is right. Sentence 2 has none."""
    truth = Clips(np.array([0, 1, 1, 2]), spans((0, 10), (0, 4), (6, 8), (0, 9)), np.empty(0))
    found = Clips(np.array([1, 0, 0]), spans((0, 4), (50, 60), (0, 5)), np.array([0.1, 0.9, 0.8]))
    assert best_overlaps(truth, found).tolist() == [0.5, 1, 0, 0]
    strongest = best_overlaps(truth, found.strongest())
    assert strongest.tolist() == [0, 1, 0, 0]
    assert recall(best_overlaps(truth, found), 0.5) == 0.5  # a tIoU of exactly 0.5 counts
    assert recall(strongest, 0.5) == 0.25
    assert recall(np.empty(0), 0.5) is None


def test_of_equal_similarities_the_first_clip_counts() -> None:
    found = Clips(np.array([0, 0]), spans((5, 6), (7, 8)), np.array([0.5, 0.5]))
    assert found.strongest().spans.tolist() == [[5, 6]]


def test_densevid_takes_the_best_of_several_truths_and_the_mean_over_videos() -> None:
    one = {"a": spans((0, 10), (20, 30)), "b": spans((0, 5))}
    other = {"a": spans((0, 9))}
    proposals = {"a": spans((0, 10), (40, 50), (60, 70), (0, 5))}
    # At 0.5, the half (0, 5) of (0, 10) does not count, because tIoU must be above 0.5; it is
    # 0.555 of (0, 9). Without proposals, video b has 0.
    assert densevid(proposals, [one], 0.5) == PrecisionRecall(0.125, 0.25)
    assert densevid(proposals, [one, other], 0.5) == PrecisionRecall(0.25, 0.5)
    assert densevid(proposals, [], 0.5) is None
