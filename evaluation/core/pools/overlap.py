"""The similarity of two runs: common videos and rank-biased overlap of their lists.

Rank-biased overlap (RBO) was defined by Webber, Moffat and Zobel, A similarity measure for
indefinite rankings, ACM TOIS 28(4), 2010. Numbers in parentheses are equations of this paper. RBO
compares lists of which only the first ranks are known. If X_d is the number of videos that both
lists contain down to depth d,

    RBO = (1 - p) * sum over all d >= 1 of p^(d-1) * X_d / d                                (4)

The persistence p sets how fast the weight falls with the rank. With p = 0.9 the first ten ranks
have 86 % of the weight. The contribution of the unknown ranks is bounded (`minimum`, `residual`) or
estimated from the known ranks (`extrapolated`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.relevance.measure import NO_QUERIES, Score
from pooling.core.ranked_lists import Items, RankedLists

# A table with this number of cells fits into the cache of a processor core.
_TABLE_CELLS: Final = 1 << 18
# The arrays of a block of this number of queries fit into the cache.
_BLOCK: Final = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """The overlap of two runs by query. Each array is float64 [n_queries], with values from 0 to 1.

    common: number of videos in the top of both lists / depth. A shorter list counts as if it
        continued with videos that the other list does not contain, as in P@k. For example, two
        equal lists of three videos have 0.3 at depth 10. A query without a list in one of the runs
        has 0.
    truncated: the sum (4) over the depths down to `depth`; 1 - p^depth for equal full lists.
    minimum: RBO if the unknown ranks contain no further common video (11). It is higher than
        `truncated`, because the videos in common at the last rank count at all depths below.
    residual: the largest possible contribution of the unknown ranks. minimum + residual is the
        highest possible RBO (30).
    extrapolated: RBO if the lists continue to agree as in the known ranks (32). Publish this value.
        It is 0 if one of the lists is empty.
    """

    depth: int
    p: float
    common: FloatArray
    truncated: FloatArray
    minimum: FloatArray
    residual: FloatArray
    extrapolated: FloatArray


@dataclass(frozen=True, slots=True)
class PairOverlap:
    """Means of `Overlap` over all queries for two runs, identified by their names."""

    first: str
    second: str
    common: Score
    truncated: Score
    minimum: Score
    residual: Score
    extrapolated: Score


def compare_runs(
    first: RankedLists, second: RankedLists, depth: int = 10, p: float = 0.9
) -> Overlap:
    """Compare the top `depth` of two runs of one benchmark, query by query.

    p: persistence, between 0 and 1, both excluded.

    Raises ValueError if the runs differ in the number of queries, or `depth` or `p` is out of
    bounds. Time and memory are linear in n_queries * depth.
    """
    _check_parameters(depth, p)
    _check_runs({"first": first, "second": second})
    return _compare(first, second, depth, p)


def compare_all_runs(
    runs: Mapping[str, RankedLists], depth: int = 10, p: float = 0.9
) -> tuple[PairOverlap, ...]:
    """Compare every two of several runs; return means over all queries, in the order of `runs`."""
    _check_parameters(depth, p)
    _check_runs(runs)
    return tuple(
        _mean(one, other, _compare(runs[one], runs[other], depth, p))
        for one, other in combinations(runs, 2)
    )


def _check_parameters(depth: int, p: float) -> None:
    if depth < 1 or not 0 < p < 1:
        raise ValueError("depth must be at least 1 and p between 0 and 1")


def _check_runs(runs: Mapping[str, RankedLists]) -> None:
    """Raise ValueError if a run has another number of queries than the first."""
    n_queries = next((len(ranked) for ranked in runs.values()), 0)
    for ranked in runs.values():
        if len(ranked) != n_queries:
            raise ValueError(f"ranked has {len(ranked)} rows for {n_queries} queries")


def _mean(first: str, second: str, overlap: Overlap) -> PairOverlap:
    def mean(values: FloatArray) -> Score:
        if len(values) == 0:
            return Score(None, 0, NO_QUERIES)
        return Score(float(values.mean()), len(values))

    return PairOverlap(
        first,
        second,
        common=mean(overlap.common),
        truncated=mean(overlap.truncated),
        minimum=mean(overlap.minimum),
        residual=mean(overlap.residual),
        extrapolated=mean(overlap.extrapolated),
    )


def _compare(first: RankedLists, second: RankedLists, depth: int, p: float) -> Overlap:
    """Return the result of `compare_runs` for runs that have passed the checks."""
    blocks = range(0, max(1, len(first)), _BLOCK)
    parts = [
        _compare_block(
            first.items[row : row + _BLOCK, :depth],
            second.items[row : row + _BLOCK, :depth],
            depth,
            p,
        )
        for row in blocks
    ]
    return Overlap(depth, p, *np.concatenate(parts, axis=1))


def _compare_block(first: Items, second: Items, depth: int, p: float) -> FloatArray:
    """Return the arrays of `Overlap` in their order, [5, n_queries].

    The equations are 4, 11, 30 and 32, with the sums over the unknown ranks in closed form. From
    the length of the longer list on, X_d is constant.
    """
    shared = _count_shared(first, second, depth)
    lengths = np.stack([np.count_nonzero(ranked >= 0, axis=1) for ranked in (first, second)])
    short, long = lengths.min(axis=0), lengths.max(axis=0)
    x_short, x_long = _at_depth(shared, short), shared[:, -1]
    # The smallest depth from which the lists could agree completely.
    agreed = short + long - x_long

    rank = np.arange(1, 2 * depth + 1)
    power = p ** np.arange(2 * depth + 1)
    # tail[d] is the contribution of one common video at all depths i > d, which is (1 - p) / p
    # times the sum of p^i / i over i > d. The sum over all i >= 1 is -log(1 - p).
    tail = (1 - p) / p * (-np.log1p(-p) - np.cumsum(np.append(0.0, p**rank / rank)))

    truncated = shared @ (tail[:depth] - tail[1 : depth + 1])
    residual = power[short] + power[long] - power[agreed] - x_long * tail[agreed]
    residual -= short * (tail[short] - tail[agreed]) + long * (tail[long] - tail[agreed])
    extrapolated = truncated - x_long * (tail[long] - tail[depth])
    extrapolated += x_short / np.maximum(short, 1) * power[short]
    extrapolated -= x_short * (tail[short] - tail[long])
    extrapolated += (x_long - x_short) / np.maximum(long, 1) * power[long]
    minimum = truncated + x_long * tail[depth]
    return np.stack([x_long / depth, truncated, minimum, residual, extrapolated])


def _at_depth(shared: IntArray, depth: IntArray) -> IntArray:
    """Return column `depth` (from 1) of each row, int64 [n_queries]; 0 if the depth is 0."""
    values = shared[np.arange(len(shared)), np.maximum(depth, 1) - 1]
    return np.where(depth > 0, values, 0)


def _count_shared(first: Items, second: Items, depth: int) -> IntArray:
    """Return X_d for d = 1 to `depth`, int64 [n_queries, depth].

    X_d is the number of videos that both lists contain down to depth d. For each block of queries,
    the function writes the ranks of the second list into a small dense table and reads them at the
    videos of the first list. Column 0 of the table is for the padding. A video is common from the
    deeper of its two ranks on.
    """
    n_queries = len(first)
    width = int(max(first.max(initial=-1), second.max(initial=-1))) + 2
    block = max(1, _TABLE_CELLS // width)
    table = np.zeros(block * width, dtype=np.int32)
    starts = 1 + width * np.arange(block)[:, None]
    first_rank, second_rank = (1 + np.arange(ranked.shape[1]) for ranked in (first, second))
    shared = np.empty((n_queries, depth), dtype=np.int64)
    for row in range(0, n_queries, block):
        ours, theirs = first[row : row + block], second[row : row + block]
        starts = starts[: len(ours)]
        cells = starts + theirs
        table[cells] = second_rank
        table[starts - 1] = 0
        other_rank = table[starts + ours]
        table[cells] = 0
        deeper = np.maximum(other_rank, first_rank)
        keys = np.arange(len(ours))[:, None] * depth + deeper - 1
        new = np.bincount(keys[other_rank > 0], minlength=len(ours) * depth)
        shared[row : row + block] = np.cumsum(new.reshape(-1, depth), axis=1)
    return shared
