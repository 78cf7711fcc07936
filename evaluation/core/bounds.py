"""Bounds: the lowest and the highest score that judging a run's lists could lead to.

`score_run` takes every unjudged pair as not relevant, which is unfair to a system that was not
pooled. Here is one answer; two others are

- `incomplete`: the lists without what is unjudged, to be scored as any others (Sakai, Alternatives
  to Bpref, SIGIR 2007), and bpref and infAP, measures made for missing judgments;
- `expectations`: what the score would be on average if unjudged pairs are relevant as often as
  comparable pairs that were judged.

`labels` are everywhere those that the scores are computed with, original positives joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray
from evaluation.core.measures import Measure
from evaluation.core.relevance import MAX_GAIN, Judged, look_up_gains, with_positives
from evaluation.core.scoring import RunScores, score_run

# Measures that one positive more may lower: it adds to what they divide by.
_NOT_MONOTONE: Final = frozenset({"R", "AP", "AP(found)", "nDCG", "nDCG(exp)"})


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Scores with the unjudged pairs as not relevant, and the lowest and highest value of each.

    `known` is what `score_run` says. Means of `lower` and `upper` bound the mean, MedR and
    `not_retrieved` included; Judged@k, which is about judging, is the same in all three.
    """

    known: RunScores
    lower: RunScores
    upper: RunScores


def is_monotone(measure: Measure) -> bool:
    """Whether a further positive never lowers it. The bounds of others take two scorings for each
    unjudged pair of the query with most."""
    return measure.name not in _NOT_MONOTONE


def bound_scores(
    ranked: npt.NDArray[Any],
    labels: Judged,
    measures: Iterable[Measure],
    rel: int = 1,
    gain: int | None = None,
) -> Bounds:
    """Bounds over all ways in which the unjudged pairs of the lists may turn out.

    ranked: as for `score_run`. All its ranks count: a pair below the cutoff of R@k, AP@k or nDCG@k
    may still add to what these divide by. Pairs that are not in the list stay as they are.
    gain: what an unjudged pair has if it is relevant, at least `rel` and by default `rel`. It turns
    out as this or as 0 and nothing between, which matters to nDCG alone.

    The bounds are attained, for each query and so for the mean: `_extreme_outcomes` has the proof.
    For C, P and RR the lower one is the known score and the upper one has all pairs relevant, for
    ranks the reverse. For R, AP and nDCG both may be others.

    Raises ValueError as `score_run` does, and for a gain below `rel` or above 127. Cost: another
    scoring if all measures are monotone, else two for each unjudged pair of the query with most.
    """
    gain = rel if gain is None else gain
    if not rel <= gain <= MAX_GAIN:
        raise ValueError(f"the gain of a relevant pair must be from rel to {MAX_GAIN}")
    known = score_run(ranked, labels, measures, rel)
    moving = [measure for measure in known.values if measure.name != "Judged"]
    positives = Judged(*labels.positives(), labels.n_queries, labels.n_videos)
    least = dict(known.values)
    most = dict(known.values)
    not_retrieved = known.not_retrieved
    for relevant in _extreme_outcomes(_find_unjudged(ranked, labels), moving):
        further = _judge(ranked, relevant, gain, labels)
        scores = score_run(ranked, with_positives(positives, further), moving, rel)
        not_retrieved = min(not_retrieved, scores.not_retrieved)
        for measure, values in scores.values.items():
            least[measure] = np.minimum(least[measure], values)
            most[measure] = np.maximum(most[measure], values)
    return Bounds(
        known,
        RunScores(known.n_queries, known.depth, not_retrieved, least),
        RunScores(known.n_queries, known.depth, known.not_retrieved, most),
    )


def _extreme_outcomes(unjudged: BoolArray, measures: Iterable[Measure]) -> Iterator[BoolArray]:
    """Which unjudged cells [n_queries, depth] are relevant, in all outcomes that may be extreme.

    Monotone measures are extreme where none (the known score) or all are. For the others let x
    of a query's unjudged cells be relevant. That fixes what R, AP and nDCG divide by. What they
    divide depends on the sorted ranks of the positives, and no term of it grows if a rank does:
    1 up to k (R), i / rank for the i-th positive up to k (AP), gain / log2(rank + 1) up to k
    (nDCG). So it is highest with the x topmost cells relevant and lowest with the x lowest, and
    both families over all x hold the extremes. For AP(found)@k, which divides by the positives in
    the top k, the same holds of the number of relevant cells in the top k. A query with fewer
    than x unjudged cells repeats its last outcome.
    """
    yield unjudged
    if all(map(is_monotone, measures)):
        return
    from_top = np.cumsum(unjudged, axis=1)
    from_bottom = np.cumsum(unjudged[:, ::-1], axis=1)[:, ::-1]
    for count in range(1, int(from_top.max(initial=0))):
        yield unjudged & (from_top <= count)
        yield unjudged & (from_bottom <= count)


def _find_unjudged(ranked: npt.NDArray[Any], labels: Judged) -> BoolArray:
    """Flags of the cells that hold a video and no label, [n_queries, depth]."""
    return (look_up_gains(ranked, labels) < 0) & (ranked >= 0)


def _judge(ranked: npt.NDArray[Any], chosen: BoolArray, gain: int, labels: Judged) -> Judged:
    """The chosen cells as labels of this gain."""
    # Row by row, as rows ascend; what is not chosen goes to the end of its row.
    videos = np.sort(np.where(chosen, ranked, labels.n_videos), axis=1)
    kept = videos < labels.n_videos
    query, _ = np.nonzero(kept)
    codes = query * labels.n_videos + videos[kept]
    gains = np.full(len(codes), gain, dtype=np.int8)
    return Judged(codes, gains, labels.n_queries, labels.n_videos)
