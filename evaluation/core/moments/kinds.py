"""The measures of moments, under the names of the evaluators that define them.

`VCMR`, `SVMR` and `VR` are those of TVR, `mAP`, `HLmAP` and `HLHit` of QVHighlights, `Rank` and
`mIoU(rule=didemo)` of DiDeMo, `mIoU` of VSLNet. `relevance.measures` has R, AP and nDCG with a
tIoU. The values of queries that an evaluator leaves out are nan.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray
from evaluation.core.moments.highlights import hit_at_one, mean_precision
from evaluation.core.moments.lists import MomentLists, among
from evaluation.core.moments.matching import MAP_THRESHOLDS, average_precision, ndcg
from evaluation.core.moments.suppression import kept_ranks
from evaluation.core.relevance.measure import Cutoff, Declared, Kind, Measure

NEEDS: Final = "labels and lists of moments"

TIOU: Final = Declared(signs=(">=", ">"), needs=NEEDS)
"""tIoU>=x: a listed moment matches a labelled one if their time overlap reaches x."""

NMS: Final = Declared(("tall",), needs=NEEDS)
"""nms=tall: drop moments that overlap a better one by more than the threshold - 0.05, as TALL."""

LENGTH: Final = Declared(("short", "middle", "long"), needs=NEEDS)
TVR_LISTED: Final = 100
_THREE_BEST: Final = 3


class MomentKind(Kind):
    """A measure of ranked moments. It overrides `locate`."""

    needs = NEEDS


def ignores_people(measure: Measure) -> bool:
    """Return whether a measure needs stamps or grades of the data set, which labels lack."""
    is_of_stamps = measure.name == "mIoU" and bool(measure.parameters)
    return is_of_stamps or isinstance(measure.kind, StampRank | HighlightKind)


def threshold_of(measure: Measure) -> float:
    return float(measure.parameter("tIoU") or 0)


def lowest_of(measure: Measure) -> float:
    """Return the lowest tIoU that hits: that of the measure, or the next number if it is `>`."""
    found = next((one for one in measure.parameters if one.name == "tIoU"), None)
    threshold = threshold_of(measure)
    return float(np.nextafter(threshold, 2)) if found and found.sign == ">" else threshold


def _shares(hits: BoolArray | np.bool_) -> FloatArray:
    return np.asarray(hits, np.float64)


class CorpusRecall(MomentKind):
    """Whether one of the first k moments is in a right video and reaches the tIoU (VCMR of TVR)."""

    cutoff = Cutoff.NEEDED
    parameters = {"tIoU": Declared(signs=(">=",), needs=NEEDS)}
    bounded = True
    home = False

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        ranks = lists.first_hits(threshold_of(measure), np.float32, home=self.home)
        return _shares(ranks <= min(measure.cutoff or 0, lists.lists.depth))


class VideoMomentRecall(CorpusRecall):
    """The same after the moments of other videos are dropped (SVMR of TVR)."""

    home = True


class VideoRecall(MomentKind):
    """Whether a right video is among those of the first k moments (VR of TVR)."""

    cutoff = Cutoff.NEEDED
    bounded = True

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        top, truth = lists.lists.top(measure.cutoff or 0), lists.truth
        hits = among(top.codes, truth.positives)
        if lists.upper and truth.judged is not None:
            hits |= ~among(top.codes, truth.judged.codes)
        elif lists.upper:
            hits[:] = True
        return _shares((hits & top.is_item).any(axis=1))


class MeanOverlap(MomentKind):
    """The tIoU of the first moment with the best span, or as DiDeMo with three of four stamps."""

    cutoff = Cutoff.NONE
    parameters = {"rule": Declared(("didemo",), needs=NEEDS)}

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        if measure.parameter("rule") == "didemo":
            return _three_best(lists, first_overlaps(lists), highest=True)
        return np.maximum(_first(lists, lists.best().astype(np.float64)), 0.0)


def _first(lists: MomentLists, cells: FloatArray) -> FloatArray:
    """Return the cell of the first moment in the right video, float64 [n_queries]; 0 without."""
    if not lists.lists.depth:
        return np.zeros(lists.n_queries)
    place = lists.is_home.argmax(axis=1)
    every = np.arange(lists.n_queries)
    return np.asarray(np.where(lists.is_home[every, place], cells[every, place], 0.0))


def first_overlaps(lists: MomentLists) -> FloatArray:
    """Return tIoU of each original span with the first moment of its query, float64 [n_spans]."""
    overlaps = lists.overlaps(lists.truth.original)
    if not overlaps.shape[1]:
        return np.zeros(len(overlaps))
    return np.maximum(overlaps[:, 0], 0.0).astype(np.float64)


class StampRank(MomentKind):
    """Whether the mean of the three best ranks of the people's stamps is at most k (DiDeMo)."""

    cutoff = Cutoff.NEEDED

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        spans = lists.truth.original
        queries, videos = lists.truth.space.decode(spans.codes)
        starts, ends = lists.decimal_times
        equal = (starts[queries] == spans.starts[:, None]) & (ends[queries] == spans.ends[:, None])
        equal &= lists.lists.items[queries] == videos[:, None]
        ranks = np.where(equal.any(axis=1), equal.argmax(axis=1) + 1.0, np.inf)
        means = _three_best(lists, ranks, highest=False)
        return np.where(np.isnan(means), np.nan, means <= (measure.cutoff or 0))


def _three_best(lists: MomentLists, values: FloatArray, *, highest: bool) -> FloatArray:
    """Return the mean of the three best values of each query's spans; nan without spans.

    values: float64 [n_spans], in the order of the original spans.
    """
    queries = lists.truth.space.queries(lists.truth.original.codes)
    order = np.lexsort((-values if highest else values, queries))
    first = np.flatnonzero(np.diff(queries, prepend=-1))
    counts = np.minimum(np.diff(first, append=len(queries)), _THREE_BEST)
    place = first[:, None] + np.minimum(np.arange(_THREE_BEST), counts[:, None] - 1)
    best = values[order][place]
    found = np.full(lists.n_queries, np.nan)
    mask = np.arange(_THREE_BEST) < counts[:, None]
    found[queries[first]] = np.where(mask, best, 0.0).sum(axis=1) / counts
    return found


class WindowPrecision(MomentKind):
    """The mean AP of the first ten windows over tIoU .5, .55, …, .95 (QVHighlights)."""

    cutoff = Cutoff.NONE
    parameters = {"length": LENGTH}

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        return window_precision(lists, measure)


class HighlightKind(MomentKind):
    parameters = {"positive": Declared(("fair", "good", "verygood"), needs=NEEDS)}

    def grade_of(self, measure: Measure) -> str:
        return str(measure.parameter("positive") or "verygood")


class HighlightPrecision(HighlightKind):
    """AP over clips by their saliency, averaged over three people (HL-mAP of QVHighlights)."""

    cutoff = Cutoff.NONE

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        return mean_precision(lists, self.grade_of(measure))


class HighlightHit(HighlightKind):
    """Whether the most salient clip is positive for any of three people (Hit1 of QVHighlights)."""

    cutoff = Cutoff.NONE

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        return hit_at_one(lists, self.grade_of(measure))


def recall(lists: MomentLists, measure: Measure) -> FloatArray:
    """Return whether one of the first k moments in the right video reaches the tIoU, in float64.

    For k = 1, this is R1 of QVHighlights and R@1 of VSLNet. With `nms=tall`, it is R@n of TALL.
    """
    threshold, k = lowest_of(measure), measure.cutoff or 0
    if measure.parameter("nms") is None:
        ranks = lists.first_hits(threshold, np.float64, home=True)
        return _shares(ranks <= min(k, lists.lists.depth))
    kept = kept_ranks(lists, threshold_of(measure) - 0.05)
    hits = lists.hits(threshold, np.float64) & (kept >= 1) & (kept <= k)
    return _shares(hits.any(axis=1))


def window_precision(lists: MomentLists, measure: Measure) -> FloatArray:
    """Return the AP of the first ten windows, at one tIoU or as the mean of ten (QVHighlights)."""
    length, one = measure.parameter("length"), measure.parameter("tIoU")
    thresholds = MAP_THRESHOLDS if one is None else (lowest_of(measure),)
    return average_precision(lists, thresholds, None if length is None else str(length))


def moment_ndcg(lists: MomentLists, measure: Measure) -> FloatArray:
    """Return nDCG@k of judged moments with the gain 2^relevance - 1 (TVR-Ranking)."""
    return ndcg(lists, threshold_of(measure), measure.cutoff)


KINDS: Final = (
    CorpusRecall("VCMR"),
    VideoMomentRecall("SVMR"),
    VideoRecall("VR"),
    MeanOverlap("mIoU"),
    StampRank("Rank"),
    WindowPrecision("mAP"),
    HighlightPrecision("HLmAP"),
    HighlightHit("HLHit"),
)
