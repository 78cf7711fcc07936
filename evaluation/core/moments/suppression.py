"""Non-maximum suppression as in TALL: from the best moment on, drop those that overlap it."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.moments.lists import MomentLists
from pooling.moments.core.spans import union_overlap

_CELLS: Final = 1 << 22


def kept_ranks(lists: MomentLists, overlap: float) -> IntArray:
    """Return the rank of each moment among the kept ones of the right video, from 1; 0: dropped.

    int64 [n_queries, depth]. The order is that of the scores; of equal scores, the last listed
    moment comes first. A moment is dropped if its tIoU with a kept one is above `overlap`.
    """
    found = np.zeros(lists.lists.items.shape, np.int64)
    scores = lists.lists.scores
    depth = lists.lists.depth
    if scores is None or not depth:
        return found
    starts, ends = lists.decimal_times
    step = max(1, _CELLS // depth**2)
    for row in range(0, lists.n_queries, step):
        part = slice(row, row + step)
        found[part] = _kept(starts[part], ends[part], scores[part], lists.is_home[part], overlap)
    return found


def _kept(
    starts: FloatArray,
    ends: FloatArray,
    scores: npt.NDArray[np.float32],
    counted: BoolArray,
    overlap: float,
) -> IntArray:
    n, depth = scores.shape
    # The last of equal scores comes first: a stable order by score, read backwards.
    order = np.argsort(np.where(counted, scores, -np.inf), axis=1, kind="stable")[:, ::-1]
    start, end = (np.take_along_axis(times, order, axis=1) for times in (starts, ends))
    tiou = union_overlap(start[:, :, None], end[:, :, None], start[:, None], end[:, None])
    is_open = np.take_along_axis(counted, order, axis=1)
    rank = np.zeros((n, depth), np.int64)
    taken = np.zeros(n, np.int64)
    for place in range(depth):
        kept = is_open[:, place]
        taken += kept
        rank[:, place] = np.where(kept, taken, 0)
        is_open &= ~(kept[:, None] & (tiou[:, place] > overlap))
    found = np.zeros((n, depth), np.int64)
    np.put_along_axis(found, order, rank, axis=1)
    return found
