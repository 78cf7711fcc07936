"""The judged share of runs by rank, and the sizes of pools by depth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.relevance.judged import Judged, check_lists, gains_of, look_up_gains
from pooling.core.ranked_lists import RankedLists


@dataclass(frozen=True, slots=True, eq=False)
class RankCoverage:
    """Counts of videos at each rank of a run. All arrays are int64 [depth].

    filled: number of lists that reach the rank. judged, relevant: number of the videos at this rank
    that are judged, and that are relevant.
    """

    filled: IntArray
    judged: IntArray
    relevant: IntArray

    @property
    def shares(self) -> FloatArray:
        """The judged share at each rank, float64 [depth]; 0 if no list reaches the rank."""
        return np.where(self.filled > 0, self.judged / np.maximum(self.filled, 1), 0.0)

    @property
    def share(self) -> float:
        """The judged share of all ranks together."""
        return float(self.judged.sum() / max(1, self.filled.sum()))


@dataclass(frozen=True, slots=True)
class PoolDepth:
    """The size of the pool of the top `depth` of all runs.

    pairs, judged, relevant: number of all, of judged and of relevant pairs in the pool.
    """

    depth: int
    pairs: int
    judged: int
    relevant: int


def cover_ranks(ranked: RankedLists, judged: Judged) -> RankCoverage:
    """Count judged and relevant videos at each rank."""
    gains = look_up_gains(ranked, judged)
    return RankCoverage(
        filled=ranked.is_item.sum(axis=0),
        judged=(gains >= 0).sum(axis=0),
        relevant=(gains >= 1).sum(axis=0),
    )


def judged_shares(ranked: RankedLists, judged: Judged) -> FloatArray:
    """Return Judged@k for each k from 1 to the depth, float64 [depth].

    Judged@k is the judged share of the top k, as a mean over all queries. An empty list counts as
    0, and a list shorter than k is divided by its length. All are 0 for a benchmark without
    queries.
    """
    known = np.cumsum(look_up_gains(ranked, judged) >= 0, axis=1)
    filled = np.cumsum(ranked.is_item, axis=1)
    shares = known / np.maximum(filled, 1)
    return np.asarray(shares.sum(axis=0) / max(1, len(ranked)))


def pool_depths(
    runs: Mapping[str, RankedLists], judged: Judged, depth: int
) -> tuple[PoolDepth, ...]:
    """Return the size of the runs' pool for each depth from 1 to `depth`.

    Each pair counts once and enters the pool at its best rank in any run. All predictions are
    sorted once. Raises ValueError if `depth` is below 1.
    """
    codes, ranks = _best_ranks(runs, judged, depth)
    gains = gains_of(codes, judged)
    edges = np.arange(1, depth + 2) - 0.5

    def cumulate(counted: npt.NDArray[np.bool_]) -> list[int]:
        counts: list[int] = np.cumsum(np.histogram(ranks[counted], edges)[0]).tolist()
        return counts

    everything = np.ones(len(codes), np.bool_)
    columns = (cumulate(counted) for counted in (everything, gains >= 0, gains >= 1))
    return tuple(
        PoolDepth(at, *counts) for at, counts in enumerate(zip(*columns, strict=True), start=1)
    )


def _best_ranks(
    runs: Mapping[str, RankedLists], judged: Judged, depth: int
) -> tuple[IntArray, IntArray]:
    """Return the codes of all pairs in the top `depth` of the runs, and their best ranks from 1.

    int64 [n] each. Codes are distinct and ascend.
    """
    if depth < 1:
        raise ValueError("the depth of a pool must be at least 1")
    keys = [np.empty(0, np.int64)]
    for ranked in runs.values():
        check_lists(ranked, judged)
        top = ranked.top(depth)
        # The sort key is one number, made of the pair and the rank.
        keys.append((top.codes * depth + np.arange(top.depth))[top.is_item])
    ordered = np.sort(np.concatenate(keys))
    codes, ranks = np.divmod(ordered, depth)
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    return codes[first], ranks[first] + 1
