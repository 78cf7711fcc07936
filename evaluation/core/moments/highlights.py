"""Highlights of QVHighlights: whether the scores of clips agree with the grades of three people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray
from evaluation.core.moments.lists import MomentLists

CLIP_SECONDS: Final = 2
POSITIVE: Final = {"fair": 2, "good": 3, "verygood": 4}
"""The lowest grade of a positive clip."""


def _graded(lists: MomentLists, positive: str) -> Iterator[tuple[int, BoolArray]]:
    """Yield each query with graded clips, and which clips are positive, bool [n_clips, n_people].

    Clips without a grade have grade 0.
    """
    clips, durations = lists.truth.highlights, lists.truth.durations
    if not len(clips) or clips.grades is None or durations is None:
        return
    n_people = int(clips.people.max())
    edges = np.flatnonzero(np.diff(clips.codes, prepend=-1)).tolist()
    for start, end in zip(edges, [*edges[1:], len(clips)], strict=True):
        query, video = lists.truth.space.decode(int(clips.codes[start]))
        of = clips.only(slice(start, end))
        number = np.round(of.starts / CLIP_SECONDS).astype(np.int64)
        duration = durations[video]
        n_clips = int(duration / CLIP_SECONDS) if duration > 0 else int(number.max()) + 1
        grades = np.zeros((n_clips, n_people))
        kept = number < n_clips
        assert of.grades is not None  # noqa: S101 - checked above
        grades[number[kept], of.people[kept] - 1] = of.grades[kept]
        yield query, grades >= POSITIVE[positive]


def hit_at_one(lists: MomentLists, positive: str) -> FloatArray:
    """Return whether the clip of highest saliency is positive for any person; nan without grades.

    A clip beyond the end of the video is a miss.
    """
    found = np.full(lists.n_queries, np.nan)
    for query, is_positive in _graded(lists, positive):
        scores = _scores(lists, query)
        best = int(scores.argmax()) if len(scores) else len(is_positive)
        found[query] = best < len(is_positive) and is_positive[best].any()
    return found


def mean_precision(lists: MomentLists, positive: str) -> FloatArray:
    """Return AP over the clips, averaged over the people; nan for a query without grades.

    Longer predictions are cut, and shorter ones are filled with 0.
    """
    found = np.full(lists.n_queries, np.nan)
    for query, is_positive in _graded(lists, positive):
        scores = np.zeros(len(is_positive))
        listed = _scores(lists, query)[: len(is_positive)]
        scores[: len(listed)] = listed
        found[query] = np.mean([clip_precision(truth, scores) for truth in is_positive.T])
    return found


def _scores(lists: MomentLists, query: int) -> npt.NDArray[np.float32]:
    return np.empty(0, np.float32) if lists.saliency is None else lists.saliency.of(query)


def clip_precision(truth: BoolArray, scores: FloatArray) -> float:
    """Return the mean precision at each step of the recall, from the lowest score upwards.

    The precision is made non-decreasing in this direction. All positive: 1; no positive: 0.
    """
    if truth.all() or not truth.any():
        return float(truth.any())
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(truth[order])
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    precision = np.append((hits[last] / (last + 1))[::-1], 1.0)
    recall = np.append((hits[last] / hits[-1])[::-1], 0.0)
    steps = np.flatnonzero(np.diff(recall))
    return float(np.maximum.accumulate(precision)[steps].mean())
