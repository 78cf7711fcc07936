"""Strata of a pool, and what they tell about ranked lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists
from pooling.core.strata import Stratum

NEEDS_STRATA = "a pool with strata, and text-to-video runs"


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """The pairs of the strata of a pool.

    codes: int64 [M], ascending. stratum: int16 [M]. drawn: bool [M], the pairs that were to be
    judged; the label of another pair of a stratum is not used. n: the number of strata. known:
    int64 [K], ascending, pairs whose labels do not depend on the draw, such as original positives;
    they belong to no stratum.
    """

    codes: IntArray
    stratum: npt.NDArray[np.int16]
    drawn: BoolArray
    n: int
    known: IntArray

    @classmethod
    def of(cls, strata: Sequence[Stratum], known: IntArray) -> Strata:
        none = np.empty(0, np.int64)
        codes = np.concatenate([none, *(one.codes for one in strata)])
        order = np.argsort(codes, kind="stable")
        stratum = np.repeat(np.arange(len(strata)), [len(one.codes) for one in strata])
        drawn = np.concatenate([none.astype(np.bool_), *(one.drawn for one in strata)])
        return cls(codes[order], stratum[order].astype(np.int16), drawn[order], len(strata), known)

    def without_known(self) -> Strata:
        kept = ~np.isin(self.codes, self.known, assume_unique=True)
        return replace(
            self,
            codes=self.codes[kept],
            stratum=self.stratum[kept],
            drawn=self.drawn[kept],
            known=self.known[:0],
        )


@dataclass(frozen=True, slots=True, eq=False)
class StratifiedLists:
    """A block of B lists, and the strata of their videos.

    stratum: int64 [B, depth]. The number S stands for judged pairs outside of all strata, and -1
    for videos that were not pooled. judged, relevant: bool [B, depth], the pairs that count as
    judged, and the relevant ones among them. weights: float64 [B, S + 1], by how many pairs of its
    stratum a judged pair stands for. n_relevant: float64 [B], the estimated relevant pairs.
    """

    stratum: IntArray
    judged: BoolArray
    relevant: BoolArray
    weights: FloatArray
    n_relevant: FloatArray

    def rows(self, rows: slice) -> StratifiedLists:
        return StratifiedLists(
            self.stratum[rows],
            self.judged[rows],
            self.relevant[rows],
            self.weights[rows],
            self.n_relevant[rows],
        )


def stratify(
    lists: RankedLists,
    strata: Strata,
    gains: GainArray,
    labels: tuple[IntArray, GainArray],
    rel: int,
) -> StratifiedLists:
    """Return all lists with their strata.

    gains: [n_queries, depth], those of the listed videos. labels: the codes and gains of all judged
    pairs, [J] each, ascending. rel: the lowest gain of a positive.
    """
    strata = strata.without_known()
    space = PairSpace(len(lists), lists.n_items)
    place, is_inside = _places(strata.codes, lists.codes)
    is_inside &= lists.is_item
    stratum = np.full(lists.items.shape, -1, np.int64)
    stratum[is_inside] = strata.stratum[place[is_inside]]
    is_outside = ~is_inside & (gains >= 0)
    stratum[is_outside] = strata.n
    judged = is_outside.copy()
    judged[is_inside] = strata.drawn[place[is_inside]] & (gains[is_inside] >= 0)

    codes, gain = labels
    at, is_known = _places(strata.codes, codes)
    number = np.full(len(codes), strata.n, np.int64)
    number[is_known] = strata.stratum[at[is_known]]
    counts = np.ones(len(codes), np.bool_)
    counts[is_known] = strata.drawn[at[is_known]]
    shape = (len(lists), strata.n + 1)
    cell = space.queries(codes) * shape[1] + number
    n_judged = _count(cell[counts], shape)
    found = _count(cell[counts & (gain >= rel)], shape)
    sizes = _count(space.queries(strata.codes) * shape[1] + strata.stratum, shape)
    sizes[:, strata.n] = n_judged[:, strata.n]
    weights = np.divide(sizes, n_judged, out=np.zeros(shape), where=n_judged > 0)
    return StratifiedLists(
        stratum, judged, judged & (gains >= rel), weights, (weights * found).sum(axis=1)
    )


def _places(known: IntArray, codes: IntArray) -> tuple[IntArray, BoolArray]:
    """Return the place of each code among the known ones, and whether it is one of them."""
    if not len(known):
        return np.zeros(codes.shape, np.int64), np.zeros(codes.shape, np.bool_)
    place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    return place, known[place] == codes


def _count(cells: IntArray, shape: tuple[int, int]) -> FloatArray:
    counts = np.bincount(cells, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)
