"""How much of what systems find is judged, and what a deeper pool would bring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.relevance.judged import Judged, check_ranked, gains_of, look_up_gains


@dataclass(frozen=True, slots=True, eq=False)
class RankCoverage:
    """What is known at each rank of a run; all arrays are int64 [depth].

    filled: queries whose list reaches the rank. judged, relevant: how many of these videos are
    judged, and relevant.
    """

    filled: IntArray
    judged: IntArray
    relevant: IntArray

    @property
    def shares(self) -> FloatArray:
        """Judged of the filled, 0 where no list reaches the rank."""
        return np.where(self.filled > 0, self.judged / np.maximum(self.filled, 1), 0.0)

    @property
    def share(self) -> float:
        """The same of all ranks together."""
        return float(self.judged.sum() / max(1, self.filled.sum()))


@dataclass(frozen=True, slots=True)
class PoolDepth:
    """A pool of the top `depth` of all runs: its pairs, and how many are judged and relevant."""

    depth: int
    pairs: int
    judged: int
    relevant: int


def cover_ranks(ranked: npt.NDArray[Any], judged: Judged) -> RankCoverage:
    """Count over all queries; ranked: [n_queries, depth], padded with -1."""
    check_ranked(ranked, judged)
    gains = look_up_gains(ranked, judged)
    return RankCoverage(
        filled=(ranked >= 0).sum(axis=0),
        judged=(gains >= 0).sum(axis=0),
        relevant=(gains >= 1).sum(axis=0),
    )


def judged_shares(ranked: npt.NDArray[Any], judged: Judged) -> FloatArray:
    """Return Judged@k for each k from 1 to the depth, float64 [depth]; ranked: as for
    `cover_ranks`.

    Judged@k is the judged share of the top k, as a mean over all queries. An empty list counts as
    0, and a list shorter than k is divided by its length. All are 0 for a benchmark without
    queries.
    """
    check_ranked(ranked, judged)
    known = np.cumsum(look_up_gains(ranked, judged) >= 0, axis=1)
    filled = np.cumsum(ranked >= 0, axis=1)
    shares = known / np.maximum(filled, 1)
    return np.asarray(shares.sum(axis=0) / max(1, len(ranked)))


def pool_depths(
    runs: Mapping[str, npt.NDArray[Any]], judged: Judged, depth: int
) -> tuple[PoolDepth, ...]:
    """The pools of depth 1 to `depth` of the runs, each pair counted once.

    A pair enters at its best rank over the runs. Sorts all predictions once.
    """
    codes, ranks = _best_ranks(runs, judged, depth)
    gains = gains_of(codes, judged)
    edges = np.arange(1, depth + 2) - 0.5

    def grown(kept: npt.NDArray[np.bool_]) -> list[int]:
        found: list[int] = np.cumsum(np.histogram(ranks[kept], edges)[0]).tolist()
        return found

    everything = np.ones(len(codes), np.bool_)
    columns = (grown(kept) for kept in (everything, gains >= 0, gains >= 1))
    return tuple(
        PoolDepth(at, *counts) for at, counts in enumerate(zip(*columns, strict=True), start=1)
    )


def _best_ranks(
    runs: Mapping[str, npt.NDArray[Any]], judged: Judged, depth: int
) -> tuple[IntArray, IntArray]:
    """Different pairs of the runs' top `depth`, ascending by code, and their best ranks from 1."""
    if depth < 1:
        raise ValueError("the depth of a pool must be at least 1")
    keys = [np.empty(0, np.int64)]
    for ranked in runs.values():
        check_ranked(ranked, judged)
        top = ranked[:, :depth].astype(np.int64)
        codes = judged.space.encode(np.arange(len(top))[:, None], top)
        # One number to sort by: the pair, and within it the rank.
        keys.append((codes * depth + np.arange(top.shape[1]))[top >= 0])
    ordered = np.sort(np.concatenate(keys))
    codes, ranks = np.divmod(ordered, depth)
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    return codes[first], ranks[first] + 1
