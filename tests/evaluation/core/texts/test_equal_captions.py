"""Captions with equal texts share their original positives."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.relevance.judged import Judged
from evaluation.core.texts.equal_captions import (
    EqualCaptions,
    added_codes,
    captions_with_equals,
    frequent_texts,
    share_positives,
)
from pooling.core.equal_texts import EXACT, FOLDED, OFF, first_equal

TEXTS = ["a dog", "a cat", "A dog.", "a dog", "a bird"]
# Gain by caption and video. Captions 0 and 3 have exactly the same text. Caption 3 has two videos.
PAIRS = {(0, 0): 1, (1, 1): 1, (2, 2): 1, (3, 0): 1, (3, 4): 3, (4, 1): 1}
DOGS = {0: 1, 2: 1, 4: 3}


def judged(pairs: dict[tuple[int, int], int], n_queries: int = 5, n_videos: int = 6) -> Judged:
    queries, videos = zip(*pairs, strict=True) if pairs else ((), ())
    return Judged.from_pairs(
        queries, videos, list(pairs.values()), n_queries=n_queries, n_videos=n_videos
    )


def pairs_of(known: Judged) -> dict[tuple[int, int], int]:
    query, video = known.space.decode(known.codes)
    return dict(
        zip(zip(query.tolist(), video.tolist(), strict=True), known.gains.tolist(), strict=True)
    )


def test_equal_texts_share_their_positives() -> None:
    shared = share_positives(judged(PAIRS), first_equal(TEXTS, EXACT))
    assert pairs_of(shared) == PAIRS | {(0, 4): 3}


def test_folded_texts_share_their_positives() -> None:
    shared = share_positives(judged(PAIRS), first_equal(TEXTS, FOLDED))
    expected = {(caption, video): gain for caption in (0, 2, 3) for video, gain in DOGS.items()}
    assert pairs_of(shared) == expected | {(1, 1): 1, (4, 1): 1}


def test_without_equal_texts_nothing_changes() -> None:
    original = judged(PAIRS)
    assert pairs_of(share_positives(original, first_equal(TEXTS, OFF))) == PAIRS


def test_captions_of_the_same_video_gain_nothing() -> None:
    original = judged({(0, 2): 1, (1, 2): 1}, n_queries=2)
    assert not len(added_codes(original, share_positives(original, [0, 0])))


def test_pairs_judged_not_relevant_are_not_shared_and_stay() -> None:
    original = judged({(0, 0): 0, (0, 1): 1, (1, 2): 1}, n_queries=2)
    assert pairs_of(share_positives(original, [7, 7])) == {
        (0, 0): 0,
        (0, 1): 1,
        (0, 2): 1,
        (1, 1): 1,
        (1, 2): 1,
    }


def test_without_positives_or_captions() -> None:
    assert pairs_of(share_positives(judged({}, n_queries=2), [0, 0])) == {}
    empty = judged({}, n_queries=0)
    assert pairs_of(share_positives(empty, [])) == {}
    assert frequent_texts(empty, empty, [], 5) == []


def test_group_numbers_must_fit() -> None:
    with pytest.raises(ValueError, match="2 groups for 5 queries"):
        share_positives(judged(PAIRS), [0, 1])


def test_share_positives_equals_plain_loops() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        n_queries, n_videos = int(rng.integers(1, 12)), int(rng.integers(1, 6))
        groups = rng.integers(0, 4, n_queries) * 3
        pairs = {
            (q, v): int(rng.integers(0, 3))
            for q in range(n_queries)
            for v in range(n_videos)
            if rng.random() < 0.3
        }
        expected = dict(pairs)
        for (q, v), gain in pairs.items():
            for other in np.flatnonzero(groups == groups[q]).tolist():
                if gain >= 1:
                    expected[other, v] = max(expected.get((other, v), 0), gain)
        original = judged(pairs, n_queries, n_videos)
        shared = share_positives(original, groups)
        assert pairs_of(shared) == expected
        gaining = {q for (q, v), gain in expected.items() if gain >= 1 and pairs.get((q, v), 0) < 1}
        assert set(np.flatnonzero(captions_with_equals(original, shared)).tolist()) == gaining


def test_frequent_texts() -> None:
    groups = first_equal(TEXTS, FOLDED)
    original = judged(PAIRS)
    shared = share_positives(original, groups)
    # The three captions about a dog gain two, two and one videos.
    assert frequent_texts(original, shared, groups, 5) == [EqualCaptions(0, 3, 3, 5)]
    assert frequent_texts(original, shared, groups, 0) == []


def test_texts_with_the_most_captions_come_first() -> None:
    # The groups have 2, 3 and 2 captions. The captions of the last group have the same video, so
    # they gain nothing.
    groups = [8, 8, 3, 3, 3, 5, 5]
    pairs = {(0, 0): 1, (1, 1): 1, (2, 0): 1, (3, 0): 1, (4, 2): 1, (5, 3): 1, (6, 3): 1}
    original = judged(pairs, n_queries=7)
    shared = share_positives(original, groups)
    assert frequent_texts(original, shared, groups, 5) == [
        EqualCaptions(2, 3, 2, 3),
        EqualCaptions(0, 2, 2, 2),
    ]
