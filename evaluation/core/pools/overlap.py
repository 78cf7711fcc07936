"""How alike two runs are: videos in common, and rank-biased overlap of their top lists.

Rank-biased overlap (RBO) is by Webber, Moffat and Zobel, A similarity measure for indefinite
rankings, ACM TOIS 28(4), 2010; numbers of equations are theirs. It compares lists of which only a
beginning is known: with X_d for the videos that two lists have in common down to depth d,

    RBO = (1 - p) * sum over all d >= 1 of p^(d-1) * X_d / d                                (4)

so that p sets how fast attention falls with the rank; with p = 0.9 the first ten ranks carry 86 %
of the weight. What lies below the known ranks is bounded (`minimum`, `residual`) or taken to go on
as before (`extrapolated`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.relevance.judged import Judged, check_ranked
from evaluation.core.relevance.scoring import NO_QUERIES, Score

# As in `relevance`: a table of so many cells stays in a core's own cache.
_TABLE_CELLS: Final = 1 << 18
# So do the arrays of so many queries.
_BLOCK: Final = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """Two runs compared, by query: each array is float64 [n_queries] of values from 0 to 1.

    common: videos in both top lists / depth. A list that is shorter counts as if it went on with
        videos that the other one lacks, as in P@k; so two equal lists of three videos have 0.3 in
        common at depth 10, and a query that a run left out has 0.
    truncated: the sum (4) down to the depth and nothing below; 1 - p^depth for equal full lists.
    minimum: RBO if nothing more were in common below the ranks known (11). More than `truncated`,
        for what is in common at the last rank stays in common at all ranks below.
    residual: what the unknown ranks could add; minimum + residual is the highest RBO (30).
    extrapolated: RBO if the lists went on to agree as they did (32); the figure to quote. 0 where
        one of the lists is empty.
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
    """Means of `Overlap` over all queries, for the two runs named."""

    first: str
    second: str
    common: Score
    truncated: Score
    minimum: Score
    residual: Score
    extrapolated: Score


def compare_runs(
    first: npt.NDArray[Any], second: npt.NDArray[Any], depth: int = 10, p: float = 0.9
) -> Overlap:
    """Compare the top `depth` of two runs of one benchmark, query by query.

    first, second: [n_queries, any depth] of signed integers, -1 at the end, as for `score_run`.
    p: persistence, between 0 and 1, both excluded.

    Raises ValueError if an array is malformed, if the two differ in queries, and for depth or p
    out of bounds. Time and memory grow with n_queries * depth.
    """
    _check_parameters(depth, p)
    _check_runs({"first": first, "second": second})
    return _compare(first, second, depth, p)


def compare_all_runs(
    runs: Mapping[str, npt.NDArray[Any]], depth: int = 10, p: float = 0.9
) -> tuple[PairOverlap, ...]:
    """`compare_runs` of every two of several runs, as means, in the order of `runs`."""
    _check_parameters(depth, p)
    _check_runs(runs)
    return tuple(
        _mean(one, other, _compare(runs[one], runs[other], depth, p))
        for one, other in combinations(runs, 2)
    )


def _check_parameters(depth: int, p: float) -> None:
    if depth < 1 or not 0 < p < 1:
        raise ValueError("depth must be at least 1 and p between 0 and 1")


def _check_runs(runs: Mapping[str, npt.NDArray[Any]]) -> None:
    """Check each run against a benchmark of as many queries as the first one has."""
    n_queries = next((len(ranked) for ranked in runs.values()), 0)
    for ranked in runs.values():
        n_videos = int(ranked.max(initial=-1)) + 1
        nothing = Judged.from_pairs([], [], [], n_queries=n_queries, n_videos=n_videos)
        check_ranked(ranked, nothing)


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


def _compare(first: npt.NDArray[Any], second: npt.NDArray[Any], depth: int, p: float) -> Overlap:
    """What `compare_runs` says, of runs that are checked."""
    blocks = range(0, max(1, len(first)), _BLOCK)
    parts = [
        _compare_block(first[row : row + _BLOCK], second[row : row + _BLOCK], depth, p)
        for row in blocks
    ]
    return Overlap(depth, p, *np.concatenate(parts, axis=1))


def _compare_block(
    first: npt.NDArray[Any], second: npt.NDArray[Any], depth: int, p: float
) -> FloatArray:
    """The arrays of `Overlap` in their order, [5, n_queries]: equations 4, 11, 30 and 32, with the
    sums over the unknown ranks in closed form.

    X_d grows no more from the length of the longer list on.
    """
    first, second = first[:, :depth], second[:, :depth]
    shared = _count_shared(first, second, depth)
    lengths = np.stack([np.count_nonzero(ranked >= 0, axis=1) for ranked in (first, second)])
    short, long = lengths.min(axis=0), lengths.max(axis=0)
    x_short, x_long = _at_depth(shared, short), shared[:, -1]
    # From this depth on the lists could agree in full.
    agreed = short + long - x_long

    rank = np.arange(1, 2 * depth + 1)
    power = p ** np.arange(2 * depth + 1)
    # tail[d]: what one video in common adds at all depths below d, (1 - p) / p times the sum of
    # p^i / i over i > d. From i = 1 on, that sum is -log(1 - p).
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
    """Column `depth` (from 1) of each row, 0 where it is 0: [n_queries]."""
    found = shared[np.arange(len(shared)), np.maximum(depth, 1) - 1]
    return np.where(depth > 0, found, 0)


def _count_shared(first: npt.NDArray[Any], second: npt.NDArray[Any], depth: int) -> IntArray:
    """X_d, the videos that both lists hold down to depth d = 1 to `depth`: [n_queries, depth].

    The ranks of the second list are scattered into a small dense table, block by block of queries,
    and read at the videos of the first; its column 0 takes the padding. A video is shared from
    the deeper of its two ranks on.
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
