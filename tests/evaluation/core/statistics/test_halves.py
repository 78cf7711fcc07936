"""Scores of a threshold that is chosen on one half of the videos and reported on the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evaluation.core.relevance.judged import Judged
from evaluation.core.statistics.halves import split_in_half
from evaluation.core.texts.similarity import MatchQuality, score_matches

Ints = npt.NDArray[np.int64]


def test_halves_are_drawn_by_the_seed() -> None:
    first, again, other = (
        split_in_half(21, rng=np.random.default_rng(seed)).choosing for seed in (1, 1, 2)
    )
    assert first.tolist() == again.tolist() != other.tolist()
    assert (first.sum(), other.sum()) == (10, 10)
    assert split_in_half(1, rng=np.random.default_rng(1)).choosing.tolist() == [False]


def test_no_video_has_pairs_in_both_halves() -> None:
    rng = np.random.default_rng(3)
    captions, videos = rng.integers(0, 40, (2, 1000))
    choosing, reporting = split_in_half(40, rng=rng).pairs(captions, videos)
    assert not (choosing & reporting).any()
    assert 0.2 < choosing.mean() < 0.3
    assert 0.2 < reporting.mean() < 0.3
    of_choosing = {*captions[choosing].tolist(), *videos[choosing].tolist()}
    assert not of_choosing & {*captions[reporting].tolist(), *videos[reporting].tolist()}


# Labels and similarities are independent random numbers.
N_VIDEOS, RELEVANT, SAMPLES = 24, 0.15, 600


def quality(codes: Ints, similarity: npt.NDArray[np.float64], labels: Ints) -> MatchQuality:
    judged = Judged(codes, labels.astype(np.int8), N_VIDEOS, N_VIDEOS)
    return score_matches(codes, similarity, judged)


def optimism(found: MatchQuality, chosen: int) -> float:
    """Return the reported precision at a threshold minus the true one, RELEVANT.

    Return 0 if no pair reaches the threshold.
    """
    return float(found.precision[chosen]) - RELEVANT if found.labelled[chosen] else 0.0


def test_with_random_labels_only_the_choice_on_the_same_pairs_is_optimistic() -> None:
    rng = np.random.default_rng(5)
    codes = np.arange(N_VIDEOS**2)
    same_pairs, other_pairs = [], []
    for _ in range(SAMPLES):
        similarity, labels = rng.random(len(codes)), rng.binomial(1, RELEVANT, len(codes))
        everything = quality(codes, similarity, labels)
        same_pairs.append(optimism(everything, everything.best))
        halves = split_in_half(N_VIDEOS, rng=rng)
        choosing, reporting = halves.pairs(codes // N_VIDEOS, codes % N_VIDEOS)
        best = quality(codes[choosing], similarity[choosing], labels[choosing]).best
        held_out = quality(codes[reporting], similarity[reporting], labels[reporting])
        other_pairs.append(optimism(held_out, best))
    same_pairs_error, other_pairs_error = (
        np.std(found) / np.sqrt(SAMPLES) for found in (same_pairs, other_pairs)
    )
    assert np.mean(same_pairs) > 5 * same_pairs_error
    assert np.mean(same_pairs) > 0.005
    assert abs(np.mean(other_pairs)) < 2.5 * other_pairs_error
