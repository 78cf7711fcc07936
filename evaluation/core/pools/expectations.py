"""What a score would be on average, were unjudged pairs relevant as often as comparable ones.

The comparable pairs are judged ones that a single pooled system brought. `expect_scores` estimates
by them; `check_expectations` says how far off that is for systems whose score is known.

`labels` are everywhere those that the scores are computed with, original positives joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.pools.leave_out import PooledLabels
from evaluation.core.relevance.judged import Judged, check_ranked, look_up_gains
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.scoring import NO_QUERIES, Score, score_run

# So many queries at a time keep all arrays in the cache.
_BLOCK_QUERIES: Final = 1 << 12


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
    positives = labels.count_per_query(labels.gains >= rel)
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
