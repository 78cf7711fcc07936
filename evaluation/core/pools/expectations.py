"""Expected scores if unjudged pairs are relevant as often as comparable judged pairs.

The comparable pairs are judged pairs that only one pooled system ranks in the top of its lists.
`expect_scores` computes expected scores from them. `check_expectations` measures the error of this
estimate for systems whose score is known.

In this module, `labels` are always the labels by which runs are scored, including the original
positives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray
from evaluation.core.pools.leave_out import PooledLabels
from evaluation.core.relevance.judged import Judged, look_up_gains
from evaluation.core.relevance.measure import NO_QUERIES, Score
from evaluation.core.relevance.measures import Measure, names_that_can
from evaluation.core.relevance.scoring import score_run
from pooling.core.ranked_lists import RankedLists

# Queries are processed in blocks of this size, so that all arrays fit into the cache.
_BLOCK_QUERIES: Final = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class ExpectationCheck:
    """Mean scores of one pooled system, computed as if it had not been pooled.

    truth: score with all labels. known: score without the labels of the pairs that only this system
    contributed; these pairs count as not relevant. expected: mean of `expect_scores` with the same
    labels as `known`.
    """

    system: str
    truth: Mapping[Measure, Score]
    known: Mapping[Measure, Score]
    expected: Mapping[Measure, Score]


def pool_chances(pool: PooledLabels, rel: int = 1) -> FloatArray:
    """Return the share of relevant pairs among those that only one system contributed, by rank.

    The result is float64 [2, depth of the pool]. Row 0 is for queries whose list contains no other
    known positive, row 1 for queries whose list contains one. On MSVD, row 1 is about twice as
    high, because broad captions match many videos. Without this distinction, the expected C@k would
    be much too high.

    The function leaves out one pooled system at a time and counts the pairs that only this system
    contributed. Of all judged pairs, they are most like the unjudged pairs of a system that was not
    pooled. The judged pairs in the lists of such a system are different: a pooled system also ranks
    them high, and pairs that two systems rank high are relevant far more often.

    A rank without a judged pair has the share of its row. A row without a judged pair has the share
    of the other row. rel: the lowest gain that counts as relevant. Raises ValueError if every pair
    was contributed by two or more systems.
    """
    relevant, judged = np.zeros((2, 2, pool.depth), dtype=np.float64)
    for system, deep in pool.runs.items():
        ranked = deep.top(pool.depth)
        has_positive = (look_up_gains(ranked, pool.without(system).labels) >= rel).any(axis=1)
        gains = look_up_gains(ranked, pool.unique_pairs(system))
        width = ranked.depth
        for row, queries in enumerate((~has_positive, has_positive)):
            relevant[row, :width] += np.count_nonzero(gains[queries] >= rel, axis=0)
            judged[row, :width] += np.count_nonzero(gains[queries] >= 0, axis=0)
    if not judged.any():
        raise ValueError("no judged pair was contributed by only one system")
    row_shares = _share(relevant.sum(axis=1), judged.sum(axis=1), relevant.sum() / judged.sum())
    return _share(relevant, judged, row_shares[:, None])


def expect_scores(
    ranked: RankedLists,
    labels: Judged,
    chances: FloatArray,
    measures: Iterable[Measure],
    rel: int = 1,
) -> dict[Measure, FloatArray]:
    """Return the expected score of each query for each measure, float64 [n_queries].

    ranked: lists that are not deeper than `chances`. chances: float64 [2, any
    depth], from `pool_chances`. measures: C, P, R, RR, AP and AP(found), with or without a cutoff.
    rel: the lowest gain that counts as relevant.

    The values are exact if unjudged pairs are relevant with these probabilities, independently of
    each other. `resampling.mean_interval` gives an interval of their mean. It covers the choice of
    the queries. It does not cover the error of using the probabilities of other systems. The
    estimate is too low for a system that ranks videos better than the pooled systems. It is too
    high if few systems were pooled, because a pair that several systems miss is less likely to be
    relevant than a pair that one system misses. With two pooled systems on MSVD, the estimate was
    usually closer to the score with all labels than the known score was, but not for all measures.
    Do not publish it without the errors that `check_expectations` returns.

    Raises ValueError if `ranked` is too deep, if a probability is not from 0 to 1, or
    if a measure is not C, P, R, RR, AP or AP(found). The median of MedR and the ideal list of nDCG
    have no such expected value.
    """
    requested = tuple(dict.fromkeys(measures))
    for measure in requested:
        if not measure.kind.can("expect"):
            supported = ", ".join(names_that_can("expect"))
            raise ValueError(
                f"{str(measure)!r} cannot be estimated; supported measures: {supported}"
            )
    if chances.ndim != 2 or len(chances) != 2 or np.any((chances < 0) | (chances > 1)):
        raise ValueError("chances must be two rows of shares")
    if ranked.depth > chances.shape[1]:
        raise ValueError("the lists have more ranks than `chances`; cut the lists")
    positives = labels.count_per_query(labels.gains >= rel)
    known_gains, is_item = look_up_gains(ranked, labels), ranked.is_item
    values = np.empty((len(requested), len(ranked)), dtype=np.float64)
    for start in range(0, len(ranked), _BLOCK_QUERIES):
        rows = slice(start, start + _BLOCK_QUERIES)
        gains = known_gains[rows]
        hit, unjudged = gains >= rel, (gains < 0) & is_item[rows]
        likely = chances[hit.any(axis=1).astype(np.int64), : ranked.depth]
        # The array is [depth, queries], because numpy is fast on long rows.
        chance = np.ascontiguousarray((hit + unjudged * likely).T)
        outside = positives[rows] - np.count_nonzero(hit, axis=1)
        for place, measure in enumerate(requested):
            values[place, rows] = measure.kind.expect(chance, outside, measure)
    return dict(zip(requested, values, strict=True))


def check_expectations(
    pool: PooledLabels, measures: Iterable[Measure], rel: int = 1
) -> tuple[ExpectationCheck, ...]:
    """Return the scores of each pooled system with all labels, and as if it had not been pooled.

    Lists are cut to the depth of the pool, where every pair is judged. Raises ValueError if
    `expect_scores` or `pool_chances` does, or if the pool has only one system.
    """
    requested = tuple(measures)
    rows = []
    for system, deep in pool.runs.items():
        ranked, rest = deep.top(pool.depth), pool.without(system)
        expected = expect_scores(ranked, rest.labels, pool_chances(rest, rel), requested, rel)
        truth = score_run(ranked, pool.labels, requested, rel)
        known = score_run(ranked, rest.labels, requested, rel)
        rows.append(
            ExpectationCheck(
                system,
                truth={measure: truth.mean(measure) for measure in requested},
                known={measure: known.mean(measure) for measure in requested},
                expected={measure: _mean(values) for measure, values in expected.items()},
            )
        )
    return tuple(rows)


def _share(part: FloatArray, whole: FloatArray, otherwise: npt.ArrayLike) -> FloatArray:
    """Return part / whole, or `otherwise` if whole is 0."""
    return np.where(whole > 0, part / np.maximum(whole, 1), otherwise)


def _mean(values: FloatArray) -> Score:
    if len(values) == 0:
        return Score(None, 0, NO_QUERIES)
    return Score(float(values.mean()), len(values))
