"""Bounds: the lowest and the highest score that are possible with unjudged pairs.

`score_run` counts every unjudged pair as not relevant, which is unfair to a system that was not
pooled. There are two kinds of bounds:

- over the listed pairs: each unjudged pair in the run's list can have any grade, and pairs outside
  of the list stay unchanged;
- over all unjudged pairs: the unjudged pairs outside of the list can also have any grade.

Two other modules deal with unjudged pairs:

- `incomplete`: condensed lists, which contain no unjudged pairs and are scored like any others
  (Sakai, Alternatives to Bpref, SIGIR 2007), and bpref and infAP, which are measures for missing
  judgments;
- `expectations`: what the score would be on average if unjudged pairs are relevant as often as
  comparable pairs that were judged.

In all functions, `labels` are the labels by which runs are scored, including the original
positives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.pools.extremes import Extremes
from evaluation.core.relevance.judged import MAX_GAIN, Judged, look_up_gains, with_positives
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.scoring import RunScores, score_run
from pooling.core.ranked_lists import RankedLists

# Blocks of this number of queries keep all arrays in the cache.
_BLOCK_QUERIES: Final = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """The scores of a run with unjudged pairs counted as not relevant, and the bounds of each.

    known: the scores of `score_run`.
    lower, upper: bounds over the listed pairs.
    lower_all: lower bound over all unjudged pairs. The upper bound over all unjudged pairs is
    `upper`, because a relevant pair outside of the list never raises a score.
    listed, unlisted: int64 [n_queries], the number of unjudged pairs of each query in its list, and
    outside of its list.

    The means of the bounds are bounds of the mean. This includes MedR and `not_retrieved`. Judged@k
    has the same value in all of them.
    """

    known: RunScores
    lower: RunScores
    upper: RunScores
    lower_all: RunScores
    listed: IntArray
    unlisted: IntArray


def bound_scores(
    ranked: RankedLists,
    labels: Judged,
    measures: Iterable[Measure],
    rel: int = 1,
    highest: int | None = None,
) -> Bounds:
    """Return the exact bounds over the listed pairs and over all unjudged pairs.

    All ranks count: a pair below the cutoff of R@k, AP@k or nDCG@k can still change the number by
    which the measure divides. rel: the lowest gain that counts as
    relevant. highest: the highest grade of the scale, at least `rel`; by default the highest known
    gain, or `rel` if that is higher. Each unjudged pair can have any grade from 0 to `highest`.

    For each query, some choice of grades for its unjudged pairs reaches the bound, so the mean can
    reach its bound, too. For C, P and RR the lower bound is the known score, and in the upper bound
    all listed unjudged pairs are relevant. For measures that are ranks, such as MedR, it is the
    reverse. For R, AP and nDCG both bounds can differ from the known score. `extremes.Extremes`
    contains the proofs.

    Raises ValueError if `score_run` does, or if `highest` is below `rel` or above 127. Cost: a
    second scoring, and a few passes over the lists for each measure that is not monotone.
    """
    known = score_run(ranked, labels, measures, rel)
    highest = max(rel, labels.highest_gain) if highest is None else highest
    if not rel <= highest <= MAX_GAIN:
        raise ValueError(f"the highest grade must be from rel to {MAX_GAIN}")
    gains = look_up_gains(ranked, labels)
    unjudged = (gains < 0) & ranked.is_item
    listed = np.count_nonzero(unjudged, axis=1)
    unlisted = labels.n_videos - _count_judged(labels) - listed
    uncertain = [measure for measure in known.values if not measure.kind.counts_judged]
    lower, upper = dict(known.values), dict(known.values)
    monotone = [measure for measure in uncertain if not measure.kind.can("sides")]
    relevant = score_run(ranked, _with_listed(ranked, unjudged, labels, rel), monotone, rel)
    for measure, values in relevant.values.items():
        lower[measure] = np.minimum(lower[measure], values)
        upper[measure] = np.maximum(upper[measure], values)
    lower_all = dict(lower)
    others = [measure for measure in uncertain if measure.kind.can("sides")]
    for measure in others:
        for sides in (lower, upper, lower_all):
            sides[measure] = sides[measure].copy()
    for start in range(0, len(ranked) if others else 0, _BLOCK_QUERIES):
        rows = slice(start, start + _BLOCK_QUERIES)
        block = Extremes(gains[rows], unjudged[rows], unlisted[rows], labels, start, rel, highest)
        for measure in others:
            low, high, low_all = block.bound(measure, known.values[measure][rows])
            lower[measure][rows], upper[measure][rows] = low, high
            lower_all[measure][rows] = low_all

    def scores(values: Mapping[Measure, FloatArray], not_retrieved: int) -> RunScores:
        return RunScores(known.n_queries, known.depth, not_retrieved, values)

    return Bounds(
        known,
        scores(lower, relevant.not_retrieved),
        scores(upper, known.not_retrieved),
        scores(lower_all, relevant.not_retrieved),
        listed,
        unlisted,
    )


def is_complete(judged: float | None, bounds: Sequence[float | None] | None) -> bool:
    """Return whether no unjudged pair of the ranks that a measure reads can change its score.

    judged: the judged share of these ranks. bounds: over the listed pairs; None if unknown.
    """
    low, high = bounds or (None, None)
    return judged == 1 or (low is not None and low == high)


def _count_judged(labels: Judged) -> IntArray:
    """Return the number of judged pairs of each query, int64 [n_queries]."""
    edges = labels.space.encode(np.arange(labels.n_queries + 1), 0)
    return np.diff(np.searchsorted(labels.codes, edges))


def _with_listed(ranked: RankedLists, unjudged: BoolArray, labels: Judged, gain: int) -> Judged:
    """Return the known positives, and the unjudged cells of the lists as labels of this gain."""
    positives = Judged(*labels.positives(), labels.n_queries, labels.n_videos)
    # Codes must ascend, so each row is sorted. Judged cells go to the end of their row.
    videos = np.sort(np.where(unjudged, ranked.items, labels.n_videos), axis=1)
    kept = videos < labels.n_videos
    query, _ = np.nonzero(kept)
    codes = labels.space.encode(query, videos[kept])
    gains = np.full(len(codes), gain, dtype=np.int8)
    return with_positives(positives, Judged(codes, gains, labels.n_queries, labels.n_videos))
