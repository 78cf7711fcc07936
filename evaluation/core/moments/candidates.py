"""Candidate moments of potentially relevant pairs, compared with the labels and spans of people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from pooling.moments.core.spans import Spans, union_overlap


@dataclass(frozen=True, slots=True, eq=False)
class JudgedCandidates:
    """Candidates whose pair is judged, the one with the highest confidence for each pair.

    codes: int64 [n], ascending. is_relevant: bool [n], the label. confidence: float64 [n]. overlap:
    float64 [n], the highest tIoU of a span of the candidate and a span of people; nan if one of
    them has no span.
    """

    codes: IntArray
    is_relevant: BoolArray
    confidence: FloatArray
    overlap: FloatArray


def best_candidates(codes: IntArray, confidence: FloatArray) -> IntArray:
    """Return the place of the candidate with the highest confidence of each pair, int64 [m].

    codes: int64 [n], the pair of each candidate. Of equal ones, the first. The result is in the
    order of the codes.
    """
    order = np.lexsort((-confidence, codes))
    ordered = codes[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    best: IntArray = order[is_first]
    return best


def best_overlaps(moments: IntArray, spans: Spans, pairs: IntArray, people: Spans) -> FloatArray:
    """Return the highest tIoU of a candidate's moment and people's spans, float64 [n].

    moments: int64 [n], the pair in `spans` whose spans are the moment. pairs: int64 [n], the pair
    in `people`. The value is nan if one of them has no span.
    """
    first, last = (np.searchsorted(spans.codes, moments, side) for side in ("left", "right"))
    begin, end = (np.searchsorted(people.codes, pairs, side) for side in ("left", "right"))
    others = end - begin
    place = np.repeat(np.arange(len(moments)), (last - first) * others)
    sizes = (last - first) * others
    within = np.arange(len(place)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    mine, theirs = first[place] + within // others[place], begin[place] + within % others[place]
    tiou = union_overlap(
        spans.starts[mine], spans.ends[mine], people.starts[theirs], people.ends[theirs]
    )
    found = np.full(len(moments), -1.0)
    np.maximum.at(found, place, tiou)
    return np.where(found < 0, np.nan, found)
