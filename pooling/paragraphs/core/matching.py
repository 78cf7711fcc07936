"""Robust bipartite matching of sentences and clips, and the order that it gives.

Shao et al., "Find and Focus: Retrieve and Localize Video Events with Natural Language Queries",
ECCV 2018, equation 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Float64s, Int64s

MATCHES_MAX = 20
"""The largest number of clips that one sentence can be matched with."""


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """The matched pairs, ordered by sentence and then by clip, int64 [n] each.

    score: the sum of the similarities of the pairs, S_p. It is unique, but the pairs need not be.
    """

    score: float
    sentences: Int64s
    clips: Int64s


def match(similarities: npt.ArrayLike, matches: int) -> Matching:
    """Match sentences with clips so that the sum of their similarities is as large as possible.

    similarities: r, float [n_sentences, n_clips]. matches: u_max, the largest number of clips of a
    sentence. A clip belongs to at most one sentence. A pair without a positive similarity is never
    matched, because an assignment without it has no lower sum.

    Raises ValueError if `matches` is below 1 or the similarities are no finite matrix.
    """
    from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]  # slow to import

    r = np.asarray(similarities, np.float64)
    if r.ndim != 2 or not np.isfinite(r).all():
        raise ValueError("the similarities must be a finite matrix of sentences and clips")
    if matches < 1:
        raise ValueError("a sentence must be matched with at least one clip")
    gain = np.maximum(r, 0)
    rows, clips = linear_sum_assignment(np.repeat(gain, matches, axis=0), maximize=True)
    sentences = rows // matches
    # A rectangular assignment is always full. Pairs without a gain only fill it.
    kept = gain[sentences, clips] > 0
    sentences, clips = sentences[kept], clips[kept]
    order = np.lexsort((clips, sentences))
    sentences, clips = sentences[order], clips[order]
    return Matching(float(r[sentences, clips].sum()), sentences, clips)


def match_score(similarities: npt.NDArray[np.floating], matches: int) -> float:
    """Return S_p of a checked matrix, which takes less time than `match`."""
    from scipy.optimize import linear_sum_assignment

    gain = np.maximum(similarities, 0, dtype=np.float64)
    if matches > 1:
        gain = np.repeat(gain, matches, axis=0)
    rows, clips = linear_sum_assignment(gain, maximize=True)
    return float(gain[rows, clips].sum())


def focused_scores(scores: Float64s, matched: Float64s) -> Float64s:
    """Return S_r = S_t * S_p of some videos, float64 [n].

    scores: S_t, the scores of the run. matched: S_p, the scores of the matchings, both [n]. Raises
    ValueError if S_t is negative: a better matching would then give a lower score.
    """
    if (scores < 0).any():
        raise ValueError("a score of the run is negative")
    return scores * matched


def focused_order(scores: Float64s) -> Int64s:
    """Return the places of the videos in the order of S_r; ties stay in the order of the run."""
    return np.argsort(-scores, kind="stable")
