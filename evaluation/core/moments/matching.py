"""Measures that use up each right moment once: average precision of windows, and nDCG.

Windows and moments are matched for all queries at once, rank by rank.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.moments.lists import MomentLists
from pooling.core.ranked_lists import NO_ITEM, RankedLists
from pooling.moments.core.spans import Spans, union_overlap

MAP_THRESHOLDS: Final = tuple(float(x) for x in np.round(np.arange(0.5, 0.96, 0.05), 2))
LISTED: Final = 10
"""The evaluator of QVHighlights reads the first ten windows that are listed."""

LENGTHS: Final = {"short": (0, 10), "middle": (10, 30), "long": (30, 150)}
"""Lengths of right windows in seconds, without the lower and with the upper bound."""

_CELLS: Final = 1 << 21


def _table(lists: MomentLists, spans: Spans) -> tuple[IntArray, FloatArray, IntArray]:
    """Return the queries with spans, tIoU [n, depth, most spans], and the span of each cell.

    A cell without a span has -1, and so has the tIoU with a moment of another video.
    """
    queries = lists.truth.space.queries(spans.codes)
    rows, first, counts = np.unique(queries, return_index=True, return_counts=True)
    overlaps = lists.overlaps(spans, np.float64, union_overlap)
    most = int(counts.max(initial=0))
    place = first[:, None] + np.arange(most)
    span = np.where(np.arange(most) < counts[:, None], place, -1)
    table = np.where(span[:, :, None] >= 0, overlaps[span], -1.0)
    return rows, table.transpose(0, 2, 1), span


def average_precision(
    lists: MomentLists, thresholds: tuple[float, ...], length: str | None
) -> FloatArray:
    """Return the AP of each query, averaged over the thresholds; nan for a query without windows.

    The first ten listed windows are ordered by score. Each one goes to the unused right window with
    the highest tIoU if that reaches the threshold. AP is the area under the precision, which is
    made non-increasing, over the recall of all right windows.
    """
    spans = lists.truth.merged
    if length is not None:
        low, high = LENGTHS[length]
        seconds = spans.ends - spans.starts
        spans = spans.only((low < seconds) & (seconds <= high))
    found = np.full(lists.n_queries, np.nan)
    if not len(spans):
        return found
    ordered = MomentLists(_by_score(lists.lists.top(LISTED)), lists.truth)
    rows, table, span = _table(ordered, spans)
    is_window = ordered.lists.is_item[rows]
    n_spans = (span >= 0).sum(axis=1)
    values = [_precisions(_matched(table, t), is_window, n_spans) for t in thresholds]
    found[rows] = np.mean(values, axis=0)
    return found


def _by_score(lists: RankedLists) -> RankedLists:
    """Return the lists ordered by score; equal scores keep their order."""
    scores = lists.scores
    if scores is None:
        return lists
    order = np.argsort(np.where(lists.items == NO_ITEM, np.inf, -scores), axis=1, kind="stable")
    cells: dict[str, Any] = {
        name: np.take_along_axis(values, order, axis=1)
        for name in ("items", "scores", "starts", "ends")
        if (values := getattr(lists, name)) is not None
    }
    return replace(lists, **cells)


def _matched(table: FloatArray, threshold: float) -> BoolArray:
    """Return which moments get an unused span, bool [n, depth]. Of equal spans, the last is used.

    table: tIoU [n, depth, most spans].
    """
    open_ = np.ones((len(table), table.shape[2]), np.bool_)
    matched = np.zeros(table.shape[:2], np.bool_)
    every = np.arange(len(table))
    for rank in range(table.shape[1]):
        values = np.where(open_, table[:, rank], -1.0)
        best = values.shape[1] - 1 - values[:, ::-1].argmax(axis=1)
        matched[:, rank] = values[every, best] >= threshold
        open_[every, best] &= ~matched[:, rank]
    return matched


def _precisions(matched: BoolArray, is_window: BoolArray, n_spans: IntArray) -> FloatArray:
    hits = matched & is_window
    precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    envelope = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    return np.asarray((envelope * hits).sum(axis=1) / n_spans)


def ndcg(lists: MomentLists, threshold: float, cutoff: int | None) -> FloatArray:
    """Return nDCG of each query as TVR-Ranking computes it; nan for a query without a list.

    Each moment takes the relevance of the unused span with the highest tIoU if that is above the
    threshold, and uses it up. The gain is 2^relevance - 1. The ideal list has all spans.
    """
    spans = lists.truth.merged
    found = np.where(lists.lists.is_item.any(axis=1), 0.0, np.nan)
    if not len(spans):
        return found
    # Of spans with equal tIoU, the one with the highest relevance is used.
    grades = np.ones(len(spans)) if spans.grades is None else spans.grades
    order = np.lexsort((-grades, lists.truth.space.queries(spans.codes)))
    spans, relevance = spans.only(order), grades[order]
    top = lists.lists.top(cutoff or lists.lists.depth)
    depth = top.depth
    discounts = 1 / np.log2(np.arange(2, max(depth, cutoff or 0, len(spans)) + 2))
    for part in _parts(spans, lists, depth):
        rows, table, span = _table(MomentLists(top, lists.truth), spans.only(part))
        gains = np.where(span >= 0, 2.0 ** relevance[part][span] - 1, 0.0)
        ideal = -np.sort(-gains, axis=1)[:, : cutoff or None]
        best = (ideal * discounts[: ideal.shape[1]]).sum(axis=1)
        reached = _taken(table, threshold, gains) @ discounts[:depth]
        value = np.divide(reached, best, out=np.zeros(len(rows)), where=best > 0)
        found[rows] = np.where(np.isnan(found[rows]), np.nan, value)
    return found


def _parts(spans: Spans, lists: MomentLists, depth: int) -> list[slice]:
    """Return slices of the spans of whole queries, so that tables stay small."""
    queries = lists.truth.space.queries(spans.codes)
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    wanted = np.arange(0, len(spans), max(1, _CELLS // max(1, depth)))
    edges = np.unique(starts[np.searchsorted(starts, wanted, "right") - 1])
    return [slice(*pair) for pair in zip(edges, [*edges[1:], len(spans)], strict=True)]


def _taken(table: FloatArray, threshold: float, gains: FloatArray) -> FloatArray:
    """Return the gain of each moment, float64 [n, depth]."""
    open_ = np.ones(gains.shape, np.bool_)
    taken = np.zeros(table.shape[:2])
    every = np.arange(len(table))
    for rank in range(table.shape[1]):
        values = np.where(open_, table[:, rank], -1.0)
        best = values.argmax(axis=1)
        is_hit = values[every, best] > threshold
        taken[:, rank] = np.where(is_hit, gains[every, best], 0.0)
        open_[every, best] &= ~is_hit
    return taken
