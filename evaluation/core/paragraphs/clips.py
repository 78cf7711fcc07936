"""Whether matched clips and proposals overlap the clips that are right.

Recall@tIoU is that of Shao et al., "Find and Focus", ECCV 2018, tables 3 and 6 and figure 4. The
precision and recall of `densevid` are those of the evaluator of ActivityNet Captions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, IntArray

K = TypeVar("K", str, int)
Spans = npt.NDArray[np.float64]
"""Starts and ends in seconds, float64 [n, 2]."""

THRESHOLDS = (0.3, 0.5, 0.7)
_SMALLEST = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class Clips:
    """Clips of the sentences of the right videos, or of these videos; arrays [n].

    owner: int64, the number of the sentence or video of each clip. spans: float64 [n, 2].
    similarities: float64 [n], r of the sentence and the clip; empty if it is not needed.
    """

    owner: IntArray
    spans: Spans
    similarities: FloatArray

    def strongest(self) -> Clips:
        """Return the clip of each owner with the highest similarity, the first of equal ones."""
        order = np.lexsort((-self.similarities, self.owner))
        first = order[np.diff(self.owner[order], prepend=-1) != 0]
        return Clips(self.owner[first], self.spans[first], self.similarities[first])


def overlaps(first: Spans, second: Spans) -> FloatArray:
    """Return tIoU: the common time divided by the time of the true union, float64 [n].

    first, second: float64 [..., 2], which are broadcast against each other.
    """
    common = np.minimum(first[..., 1], second[..., 1]) - np.maximum(first[..., 0], second[..., 0])
    common = np.maximum(common, 0)
    union = np.diff(first)[..., 0] + np.diff(second)[..., 0] - common
    found: FloatArray = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
    return found


def best_overlaps(truth: Clips, found: Clips) -> FloatArray:
    """Return the highest tIoU of each right clip with a found clip of its owner, float64 [n].

    An owner without a found clip has 0.
    """
    order = np.argsort(found.owner, kind="stable")
    owners = found.owner[order]
    first = np.searchsorted(owners, truth.owner, "left")
    count = np.searchsorted(owners, truth.owner, "right") - first
    rows = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    spans = found.spans[order[first[rows] + within]]
    best = np.zeros(len(count))
    np.maximum.at(best, rows, overlaps(truth.spans[rows], spans))
    return best


def recall(best: FloatArray, threshold: float) -> float | None:
    """Return the share of right clips with a tIoU of at least `threshold`; None without clips."""
    return float((best >= threshold).mean()) if len(best) else None


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    precision: float
    recall: float


def densevid(
    proposals: Mapping[K, Spans], truths: Sequence[Mapping[K, Spans]], threshold: float
) -> PrecisionRecall | None:
    """Return the mean precision and recall of the videos as `densevid_eval` computes them.

    A clip is found if its tIoU is above the threshold. Of several truths, each value of a video is
    its best one. Returns None without videos.
    """
    videos: set[K] = set().union(*truths)
    values = [
        np.max([_of_video(proposals.get(v), t[v], threshold) for t in truths if v in t], axis=0)
        for v in videos
    ]
    return PrecisionRecall(*np.mean(values, axis=0).tolist()) if values else None


def _of_video(proposals: Spans | None, truth: Spans, threshold: float) -> tuple[float, float]:
    if proposals is None or not len(proposals):
        return 0.0, 0.0
    hits = _densevid_hits(proposals[:, None], truth[None], threshold)
    return float(hits.any(axis=1).mean()), float(hits.any(axis=0).mean())


def _densevid_hits(first: Spans, second: Spans, threshold: float) -> BoolArray:
    starts, ends = (np.stack(np.broadcast_arrays(first[..., i], second[..., i])) for i in (0, 1))
    common = np.maximum(0, ends.min(axis=0) - starts.max(axis=0))
    hull = ends.max(axis=0) - starts.min(axis=0)
    union = np.minimum(hull, (ends - starts).sum(axis=0)) + _SMALLEST
    hits: BoolArray = common / union > threshold
    return hits
