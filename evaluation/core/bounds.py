"""Scores where judgments are missing: bounds, lists without gaps, and estimates.

`score_run` takes every unjudged pair as not relevant, which is unfair to a system that was not
pooled. Here are four answers:

- `bound_scores`: the lowest and the highest score that judging the run's lists could lead to;
- `condense`: the lists without what is unjudged, to be scored as any others (Sakai, Alternatives
  to Bpref, SIGIR 2007);
- `bpref` and `inferred_ap`: measures made for missing judgments;
- `expect_scores`: what the score would be on average if unjudged pairs are relevant as often as
  comparable pairs that were judged; and `check_expectations`: how far off that is for systems
  whose score is known.

`labels` are everywhere those that the scores are computed with, original positives joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray
from evaluation.core.leave_out import PooledLabels
from evaluation.core.measures import Measure
from evaluation.core.relevance import MAX_GAIN, Judged, check_ranked, look_up_gains, with_positives
from evaluation.core.scoring import NO_QUERIES, RunScores, Score, score_run

# Measures that one positive more may lower: it adds to what they divide by.
_NOT_MONOTONE: Final = frozenset({"R", "AP", "AP(found)", "nDCG", "nDCG(exp)"})

# trec_eval's INFAP_EPSILON, which keeps the share of relevant pairs defined where none is judged.
_INFERRED_EPSILON: Final = 1e-5

# So many queries at a time keep all arrays in the cache.
_BLOCK_QUERIES: Final = 1 << 12


# --- bounds ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Scores with the unjudged pairs as not relevant, and the lowest and highest value of each.

    `known` is what `score_run` says. Means of `lower` and `upper` bound the mean, MedR and
    `not_retrieved` included; Judged@k, which is about judging, is the same in all three.
    """

    known: RunScores
    lower: RunScores
    upper: RunScores


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
    if all(measure.name not in _NOT_MONOTONE for measure in measures):
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
    query, _ = np.nonzero(chosen)
    codes = np.sort(query * labels.n_videos + ranked[chosen])
    gains = np.full(len(codes), gain, dtype=np.int8)
    return Judged(codes, gains, labels.n_queries, labels.n_videos)


# --- lists without gaps, and measures for them ----------------------------------------------------


def condense(ranked: npt.NDArray[Any], labels: Judged) -> npt.NDArray[Any]:
    """The lists without unjudged videos, moved up and padded with -1: shape and type of `ranked`.

    Scores of condensed lists are comparable among themselves only. They favour a system that was
    not pooled: its wrong videos are taken out, of which the pool would have kept some.
    """
    check_ranked(ranked, labels)
    judged = look_up_gains(ranked, labels) >= 0
    query, _ = np.nonzero(judged)
    place = np.cumsum(judged, axis=1)[judged] - 1
    condensed = np.full_like(ranked, -1)
    condensed[query, place] = ranked[judged]
    return condensed


def bpref(ranked: npt.NDArray[Any], labels: Judged, rel: int = 1) -> FloatArray:
    """Binary preference of each query, float64 [n_queries]; 0 without positives.

    With R positives and N pairs judged not relevant: the sum over the positives found of
    1 - min(negatives before it, R) / min(N, R), divided by R (Buckley and Voorhees, Retrieval
    evaluation with incomplete information, SIGIR 2004, as in trec_eval). Unjudged videos have no
    part in it.
    """
    relevant = _count_labels(labels, labels.gains >= rel)
    negative = _count_labels(labels, labels.gains < rel)

    def score(rows: slice, gains: GainArray) -> FloatArray:
        limit, most = relevant[rows, None], np.minimum(negative, relevant)[rows, None]
        before = _count_before((gains >= 0) & (gains < rel))
        kept = 1 - np.minimum(before, limit) / np.maximum(most, 1)
        return _sum_where(gains >= rel, kept) / np.maximum(relevant[rows], 1)

    return _by_block(ranked, labels, score)


def inferred_ap(
    ranked: npt.NDArray[Any], labels: Judged, pool_depth: int, rel: int = 1
) -> FloatArray:
    """Inferred average precision of each query, float64 [n_queries]; 0 without positives.

    For a pool of which a random part was judged (Yilmaz and Aslam, Estimating average precision
    with incomplete and imperfect judgments, CIKM 2006, as in trec_eval): the precision at a
    positive's rank is estimated from the judged videos above it. An unjudged video down to rank
    `pool_depth` counts as pooled; below it, as outside of the pool and not relevant.

    Not for a system that was not pooled: what it found alone is no random part of the pool.
    """
    relevant = _count_labels(labels, labels.gains >= rel)

    def score(rows: slice, gains: GainArray) -> FloatArray:
        hit, judged = gains >= rel, gains >= 0
        rank = np.arange(1, gains.shape[1] + 1)
        pooled = judged | (ranked[rows] >= 0) & (rank <= pool_depth)
        share = (_count_before(hit) + _INFERRED_EPSILON) / (
            _count_before(judged) + 2 * _INFERRED_EPSILON
        )
        precision = (1 + _count_before(pooled) * share) / rank
        return _sum_where(hit, precision) / np.maximum(relevant[rows], 1)

    return _by_block(ranked, labels, score)


def _by_block(
    ranked: npt.NDArray[Any], labels: Judged, score: Callable[[slice, GainArray], FloatArray]
) -> FloatArray:
    """`score` of the gains [B, depth] of each block of queries, float64 [n_queries]."""
    check_ranked(ranked, labels)
    values = np.empty(len(ranked), dtype=np.float64)
    for start in range(0, len(ranked), _BLOCK_QUERIES):
        rows = slice(start, start + _BLOCK_QUERIES)
        values[rows] = score(rows, look_up_gains(ranked[rows], labels, start))
    return values


def _count_labels(labels: Judged, kept: BoolArray) -> IntArray:
    """Number of kept labels of each query, int64 [n_queries]."""
    query = labels.codes[kept] // max(1, labels.n_videos)
    return np.bincount(query, minlength=labels.n_queries)


def _count_before(flags: BoolArray) -> IntArray:
    """How many cells of the row are set before each one, [B, depth]."""
    return np.cumsum(flags, axis=1, dtype=np.int64) - flags


def _sum_where(kept: BoolArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.where(kept, values, 0.0).sum(axis=1), dtype=np.float64)


# --- estimates ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ExpectationCheck:
    """One pooled system, scored as if it had not been pooled; means by measure.

    truth: with all labels. known: without the pairs that it alone brought, these as not relevant.
    expected: what `expect_scores` makes of the same labels as `known`.
    """

    system: str
    truth: Mapping[Measure, Score]
    known: Mapping[Measure, Score]
    expected: Mapping[Measure, Score]


def pool_chances(pool: PooledLabels, rel: int = 1) -> FloatArray:
    """How often pairs that only one system finds are relevant: float64 [2, depth of the pool].

    By rank, for queries of which the system's list holds no other known positive (row 0) and for
    those of which it holds one (row 1). On MSVD row 1 is about twice as high, for broad captions
    match many videos; without the distinction C@k would be expected much too high.

    Each pooled system is taken out in turn, and the pairs it alone brought are counted. These are
    most like the unjudged pairs of a further system. The judged pairs of that system itself are
    not: a pooled system found them as well, and what two systems find is relevant far more often.

    A rank without a judged pair takes the share of its row, an empty row that of the other one.
    Raises ValueError if no system brought any pair alone.
    """
    relevant, judged = np.zeros((2, 2, pool.depth), dtype=np.float64)
    for system, deep in pool.runs.items():
        ranked = deep[:, : pool.depth]
        holds = (look_up_gains(ranked, pool.without(system).labels) >= rel).any(axis=1)
        gains = look_up_gains(ranked, pool.brought_alone(system))
        width = ranked.shape[1]
        for row, queries in enumerate((~holds, holds)):
            relevant[row, :width] += np.count_nonzero(gains[queries] >= rel, axis=0)
            judged[row, :width] += np.count_nonzero(gains[queries] >= 0, axis=0)
    if not judged.any():
        raise ValueError("no pair was judged that one system alone brought")
    of_row = _share(relevant.sum(axis=1), judged.sum(axis=1), relevant.sum() / judged.sum())
    return _share(relevant, judged, of_row[:, None])


def expect_scores(
    ranked: npt.NDArray[Any],
    labels: Judged,
    chances: FloatArray,
    measures: Iterable[Measure],
    rel: int = 1,
) -> dict[Measure, FloatArray]:
    """Expected score of each query by measure, float64 [n_queries] each.

    ranked: no deeper than `chances`, which is [2, any depth] as from `pool_chances`.
    Measures: C, P, R, RR, AP and AP(found), with or without a cutoff.

    The values are exact if unjudged pairs are relevant with these chances, independently of each
    other. For an interval of the mean give them to `resampling.mean_interval`: that covers the
    choice of queries, not that the chances are those of other systems. The estimate is too low for
    a system that finds better videos than the pooled ones, and too high where few were pooled, for
    what several systems miss is less likely relevant than what one does. With two in the pool, on
    MSVD, it came closer to the truth than the known score for most measures, and not for all: no
    figure to publish without what `check_expectations` says of it.

    Raises ValueError if `ranked` is malformed or too deep, for chances outside of 0 to 1, and for
    other measures: a median and the best list of nDCG have no such expected value.
    """
    asked = tuple(dict.fromkeys(measures))
    for measure in asked:
        if measure.name not in _EXPECTATIONS:
            known = ", ".join(_EXPECTATIONS)
            raise ValueError(f"{str(measure)!r} cannot be estimated; {known} can")
    if chances.ndim != 2 or len(chances) != 2 or np.any((chances < 0) | (chances > 1)):
        raise ValueError("chances must be two rows of shares")
    check_ranked(ranked, labels)
    if ranked.shape[1] > chances.shape[1]:
        raise ValueError("the lists are deeper than the chances: cut them")
    positives = _count_labels(labels, labels.gains >= rel)
    values = np.empty((len(asked), len(ranked)), dtype=np.float64)
    for start in range(0, len(ranked), _BLOCK_QUERIES):
        rows = slice(start, start + _BLOCK_QUERIES)
        gains = look_up_gains(ranked[rows], labels, start)
        hit, unjudged = gains >= rel, (gains < 0) & (ranked[rows] >= 0)
        likely = chances[hit.any(axis=1).astype(np.int64), : ranked.shape[1]]
        # By rank and then by query: numpy is slow along short rows.
        chance = np.ascontiguousarray((hit + unjudged * likely).T)
        outside = positives[rows] - np.count_nonzero(hit, axis=1)
        for place, measure in enumerate(asked):
            expect = _EXPECTATIONS[measure.name]
            values[place, rows] = expect(chance, outside, measure.cutoff)
    return dict(zip(asked, values, strict=True))


def check_expectations(
    pool: PooledLabels, measures: Iterable[Measure], rel: int = 1
) -> tuple[ExpectationCheck, ...]:
    """Leave each pooled system out and estimate its score, of which the truth is known.

    Lists are cut to the depth of the pool, where the truth has no gaps. Raises ValueError as
    `expect_scores` and `pool_chances` do, the latter for a pool of one system, too.
    """
    asked = tuple(measures)
    rows = []
    for system, deep in pool.runs.items():
        ranked, others = deep[:, : pool.depth], pool.without(system)
        expected = expect_scores(ranked, others.labels, pool_chances(others, rel), asked, rel)
        truth = score_run(ranked, pool.labels, asked, rel)
        known = score_run(ranked, others.labels, asked, rel)
        rows.append(
            ExpectationCheck(
                system,
                truth={measure: truth.mean(measure) for measure in asked},
                known={measure: known.mean(measure) for measure in asked},
                expected={measure: _mean(values) for measure, values in expected.items()},
            )
        )
    return tuple(rows)


def _share(part: FloatArray, whole: FloatArray, otherwise: npt.ArrayLike) -> FloatArray:
    """part / whole, and `otherwise` where the whole is 0."""
    return np.where(whole > 0, part / np.maximum(whole, 1), otherwise)


def _mean(values: FloatArray) -> Score:
    if len(values) == 0:
        return Score(None, 0, NO_QUERIES)
    return Score(float(values.mean()), len(values))


# Below: chance [depth, B], the probability that the video at a rank is relevant, and outside [B],
# the positives that are not in the list.


def _expect_correct(chance: FloatArray, _outside: IntArray, cutoff: int | None) -> FloatArray:
    return np.asarray(1 - (1 - chance[:cutoff]).prod(axis=0))


def _expect_precision(chance: FloatArray, _outside: IntArray, cutoff: int | None) -> FloatArray:
    return np.asarray(chance[:cutoff].sum(axis=0) / (cutoff or 1))


def _expect_reciprocal_rank(
    chance: FloatArray, _outside: IntArray, cutoff: int | None
) -> FloatArray:
    none_above = np.cumprod(1 - chance[:cutoff], axis=0)
    # The first positive is at a rank if none is above it and one is there.
    first = -np.diff(none_above, axis=0, prepend=1.0)
    return np.asarray((first / _ranks(first)).sum(axis=0))


def _expect_recall(chance: FloatArray, outside: IntArray, cutoff: int | None) -> FloatArray:
    return _expect_ratio(chance, outside, lambda share, _z: share[:cutoff].sum(axis=0))


def _expect_average_precision(
    chance: FloatArray, outside: IntArray, cutoff: int | None
) -> FloatArray:
    def precision_sum(share: FloatArray, z: float) -> FloatArray:
        share = share[:cutoff]
        above = np.cumsum(share, axis=0) - share
        return np.asarray((share * (1 + z * above) / _ranks(share)).sum(axis=0))

    return _expect_ratio(chance, outside, precision_sum)


def _expect_average_precision_found(
    chance: FloatArray, outside: IntArray, cutoff: int | None
) -> FloatArray:
    return _expect_average_precision(chance[:cutoff], np.zeros_like(outside), None)


def _expect_ratio(
    chance: FloatArray,
    outside: IntArray,
    dividend: Callable[[FloatArray, float], FloatArray],
) -> FloatArray:
    """Expected value of a sum over the positives found, divided by all positives: [B].

    With h_r = 1 for a positive at rank r, p_r its chance and M = outside, 1 / (M + sum of h) is
    the integral of z^(M - 1 + sum of h) over z from 0 to 1. By independence

        E[h_r z^(sum of h)] = z * s_r * prod of (1 - p_i + p_i z),  s_r = p_r / (1 - p_r + p_r z)

    and with h_r h_q for h_r, z^2 * s_r * s_q takes the place of z * s_r. `dividend(s, z)` is the
    sum in these terms, divided by z. The integrand is a polynomial in z of degree below
    M + depth, so that Gauss's rule is exact with half as many nodes.
    """
    degree = int(outside.max(initial=0)) + len(chance)
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    expected = np.zeros(chance.shape[1], dtype=np.float64)
    for z, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        factor = 1 - chance * (1 - z)
        product = z**outside * factor.prod(axis=0)
        expected += weight * product * dividend(chance / factor, z)
    return expected


def _ranks(by_rank: FloatArray) -> IntArray:
    """1, 2, … as a column for an array [depth, B]."""
    return np.arange(1, len(by_rank) + 1)[:, None]


_EXPECTATIONS: Final[Mapping[str, Callable[[FloatArray, IntArray, int | None], FloatArray]]] = {
    "C": _expect_correct,
    "P": _expect_precision,
    "R": _expect_recall,
    "RR": _expect_reciprocal_rank,
    "AP": _expect_average_precision,
    "AP(found)": _expect_average_precision_found,
}
