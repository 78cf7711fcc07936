"""Fusion of the ranked lists that several phrasings or systems return for a query.

The scores are those of ranx 0.3.21, rounded to 12 decimal places. Ties are broken by the key of the
item, where ranx leaves the order to an unstable sort.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Bools, Float64s, Int32s, Int64s
from pooling.core.ranked_lists import NO_ITEM, RankedLists

# Queries are fused in blocks whose cells fit into the cache of a processor core.
_BLOCK_CELLS: Final = 1 << 18
# The smallest divisor of a normalisation. A list of equal scores becomes 0.
_LEAST: Final = 1e-9
FUSING: Final = "fusing lists"


class Method(StrEnum):
    COMBSUM = "combsum"
    COMBMNZ = "combmnz"
    COMBANZ = "combanz"
    COMBMED = "combmed"
    COMBMAX = "combmax"
    COMBMIN = "combmin"
    RRF = "rrf"
    RBC = "rbc"
    BORDA = "borda"
    ISR = "isr"
    LOG_ISR = "log_isr"
    LOGN_ISR = "logn_isr"
    PLURALITY = "plurality"
    BUCKLIN = "bucklin"

    @property
    def label(self) -> str:
        return _TITLES[self]


_TITLES: Final = {
    Method.COMBSUM: "CombSUM",
    Method.COMBMNZ: "CombMNZ",
    Method.COMBANZ: "CombANZ",
    Method.COMBMED: "CombMED",
    Method.COMBMAX: "CombMAX",
    Method.COMBMIN: "CombMIN",
    Method.RRF: "RRF",
    Method.RBC: "RBC",
    Method.BORDA: "Borda",
    Method.ISR: "ISR",
    Method.LOG_ISR: "Log_ISR",
    Method.LOGN_ISR: "LogN_ISR",
    Method.PLURALITY: "Plurality vote",
    Method.BUCKLIN: "Bucklin vote",
}


class Norm(StrEnum):
    """How the scores of each list are scaled before they are combined.

    r is the rank from 1, n the length of the list, and C the number of items in any list.
    """

    NONE = "none"
    MIN_MAX = "min-max"
    """(x - min) / (max - min)"""
    MAX = "max"
    """x / max, which is wrong for negative scores"""
    SUM = "sum"
    """(x - min) / sum of (x - min)"""
    ZMUV = "zmuv"
    """(x - mean) / standard deviation"""
    RANK = "rank"
    """1 - (r - 1) / n"""
    BORDA = "borda"
    """1 - (r - 1) / C, and 0.5 - (n - 1) / 2C for an item that the list does not hold"""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of fusion. k belongs to RRF, phi to RBC, sigma to LogN_ISR, norm to CombSUM etc."""

    method: Method
    norm: Norm = Norm.MIN_MAX
    k: float = 60
    phi: float = 0.8
    sigma: float = 0.01

    @property
    def options(self) -> dict[str, str | float]:
        """The parameters that the method uses."""
        if self.method in _COMBINE:
            return {"norm": str(self.norm)}
        names = {Method.RRF: "k", Method.RBC: "phi", Method.LOGN_ISR: "sigma"}
        return {name: getattr(self, name) for m, name in names.items() if m is self.method}

    @property
    def needs_scores(self) -> bool:
        return self.method in _COMBINE and self.norm not in (Norm.RANK, Norm.BORDA)

    def __str__(self) -> str:
        if self.method in _COMBINE:
            return f"{self.method.label} {self.norm}"
        return " ".join([self.method.label, *(f"{n}={v:g}" for n, v in self.options.items())])


def fuse(
    lists: Sequence[RankedLists],
    rule: Rule,
    *,
    depth: int | None = None,
    places: Int64s | None = None,
    progress: Progress = no_progress,
) -> RankedLists:
    """Return one list per query, with scores of float64, best first.

    lists: the lists of each phrasing or system. The first one is the original phrasing, which
        decides ties of votes. An empty or missing list of a query is left out of its fusion.
    depth: the length at which fused lists are cut. None: all items of all lists.
    places: int64 [n_items], the place of each item if the keys of the items are sorted. It decides
        ties. None: items are numbered in the order of their keys.

    Votes have no scores, so the score is the number of items from this one to the last one. Raises
    ValueError if lists do not belong together, lack scores, or contain moments.
    """
    _check(lists, rule)
    queries = np.unique(np.concatenate([part.query_numbers for part in lists]))
    n_items = lists[0].n_items
    places = np.arange(n_items) if places is None else places
    widest = max(part.depth for part in lists)
    step = max(1, _BLOCK_CELLS // max(1, widest * len(lists)))
    item_at = np.argsort(places)
    blocks: list[tuple[npt.NDArray[Any], Float64s]] = []
    for start in range(0, len(queries), step):
        progress(start, len(queries), FUSING)
        block = _Block.of(lists, queries[start : start + step], widest, places, rule.needs_scores)
        blocks.append(block.ranked(_score(block, rule), item_at, depth))
    width = max((items.shape[1] for items, _ in blocks), default=0)
    return RankedLists(
        _joined([items for items, _ in blocks], width, NO_ITEM, np.int32),
        n_items,
        queries=_unless_all(queries),
        scores=_joined([scores for _, scores in blocks], width, 0, np.float64),
    )


def oracle(lists: Sequence[RankedLists], positives: Int64s) -> RankedLists:
    """Return for each query the list that ranks one of its positives highest.

    positives: pair codes, int64 [n], ascending. Of equally good lists the first one is taken. This
    looks at the answers, so it is an upper bound and no rule that a system could follow.
    """
    _check(lists, Rule(Method.RRF))
    queries = np.unique(np.concatenate([part.query_numbers for part in lists]))
    best, chosen = np.full(len(queries), np.inf), np.zeros(len(queries), np.int64)
    for number, part in enumerate(lists):
        rows = np.searchsorted(queries, part.query_numbers)
        hits = np.isin(part.codes, positives) & part.is_item
        # A list without a positive is better than no list.
        missed = np.where(part.lengths > 0, part.depth + len(lists) * 1e9, np.inf)
        rank = np.where(hits.any(axis=1), hits.argmax(axis=1), missed) if part.depth else missed
        better = rank < best[rows]
        best[rows[better]], chosen[rows[better]] = rank[better], number
    items = np.full((len(queries), max(part.depth for part in lists)), NO_ITEM, np.int32)
    for number, part in enumerate(lists):
        rows = np.searchsorted(queries, part.query_numbers)
        taken = chosen[rows] == number
        items[rows[taken], : part.depth] = part.items[taken]
    return RankedLists(items, lists[0].n_items, queries=_unless_all(queries))


def _unless_all(queries: Int64s) -> Int64s | None:
    """Return None if list i belongs to query i."""
    return None if np.array_equal(queries, np.arange(len(queries))) else queries


def _check(lists: Sequence[RankedLists], rule: Rule) -> None:
    if not lists:
        raise ValueError("fusion needs at least one run")
    if len({part.n_items for part in lists}) > 1:
        raise ValueError("the runs rank different numbers of items")
    for part in lists:
        if part.starts is not None:
            raise ValueError("runs of moments cannot be fused")
        if rule.needs_scores and part.scores is None:
            raise ValueError(f"{rule} needs the scores of the runs")
        if part.queries is not None and np.any(np.diff(part.queries) <= 0):
            raise ValueError("a run has several lists for a query: fuse one list per phrasing")


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Some queries with their candidates: the items that any of the L lists holds.

    lengths: int64 [n queries, L]. scores: float64 [n queries, L, depth], 0 at the padding, or None.
    row: int64 [n], ascending, the query of each candidate. place: int64 [n], its place.
    ranks: int32 [L, n], from 1, or 0 if the list does not hold the candidate. cells, slots: int64
    [m], the places of each held item in the flat arrays of scores and of ranks.
    """

    lengths: Int64s
    scores: Float64s | None
    row: Int64s
    place: Int64s
    ranks: Int32s
    cells: Int64s
    slots: Int64s

    @classmethod
    def of(
        cls,
        lists: Sequence[RankedLists],
        queries: Int64s,
        width: int,
        places: Int64s,
        needs_scores: bool,
    ) -> _Block:
        shape = (len(queries), len(lists), width)
        items = np.full(shape, NO_ITEM, np.int64)
        scores = np.zeros(shape) if needs_scores else None
        for number, part in enumerate(lists):
            own = part.query_numbers
            first, last = np.searchsorted(own, [queries[0], queries[-1] + 1])
            rows = np.searchsorted(queries, own[first:last])
            items[rows, number, : part.depth] = part.items[first:last]
            if scores is not None and part.scores is not None:
                held = part.is_item[first:last]
                scores[rows, number, : part.depth] = np.where(held, part.scores[first:last], 0)
        lengths = np.count_nonzero(items >= 0, axis=2)
        return cls(lengths, scores, *_candidates(items, places))

    @property
    def n_lists(self) -> Int64s:
        """The number of lists of each candidate's query."""
        return np.asarray(np.count_nonzero(self.lengths, axis=1)[self.row], np.int64)

    @property
    def n_candidates(self) -> Int64s:
        """The number of candidates of each query."""
        return np.asarray(np.bincount(self.row, minlength=len(self.lengths)), np.int64)

    @property
    def holding(self) -> Int64s:
        """The number of lists that hold each candidate."""
        return np.asarray(np.count_nonzero(self.ranks, axis=0), np.int64)

    def by_rank(self, values: Float64s) -> Float64s:
        """Return values[rank] of each candidate and list, [L, n]. values[0]: without a rank."""
        return values[self.ranks]

    def absent(self, values: Float64s | Int64s) -> Any:
        """Return a value of each query and list, [n queries, L], as [L, n], 0 without a list."""
        return np.where(self.lengths > 0, values, 0).T[:, self.row]

    def ranked(
        self, keys: Float64s, item_at: Int64s, depth: int | None
    ) -> tuple[npt.NDArray[np.int32], Float64s]:
        """Return the items and scores of each query.

        keys: scores, or integers of votes, of which the lowest is best.
        """
        counts = self.n_candidates
        width = int(counts.max(initial=0))
        column = np.arange(len(self.row)) - np.repeat(np.cumsum(counts) - counts, counts)
        is_vote = keys.dtype.kind == "i"
        padded = np.full((len(counts), width), np.iinfo(np.int64).max if is_vote else np.inf)
        padded = padded.astype(keys.dtype)
        # Sums in another order differ by rounding, which must not decide ties.
        padded[self.row, column] = keys if is_vote else -np.round(keys, 12)
        places = np.zeros((len(counts), width), np.int64)
        places[self.row, column] = self.place
        order = _stable_order(padded)[:, :depth]
        held = np.arange(order.shape[1]) < counts[:, None]
        items = np.where(held, item_at[np.take_along_axis(places, order, axis=1)], NO_ITEM)
        if is_vote:
            scores = counts[:, None] - np.arange(order.shape[1])
        else:
            scores = -np.take_along_axis(padded, order, axis=1)
        return items.astype(np.int32), np.where(held, scores, 0.0)


def _candidates(items: Int64s, places: Int64s) -> tuple[Int64s, Int64s, Int32s, Int64s, Int64s]:
    """Return the row, place, ranks, cells and slots of the candidates, ordered by row and place.

    The place of an item and its cell are packed into one integer, because numpy sorts integers
    several times faster than it finds the order of an array.
    """
    n_queries, n_lists, width = items.shape
    bits = int(n_lists * width).bit_length()
    kind: Any = np.int32 if (len(places) + 1) << bits < 1 << 31 else np.int64
    place = np.where(items >= 0, places[items], len(places)).reshape(n_queries, -1).astype(kind)
    packed = place << kind(bits) | np.arange(n_lists * width, dtype=kind)
    packed.sort(axis=1)
    place = packed >> kind(bits)
    held = place < len(places)
    is_first = np.ones(place.shape, np.bool_)
    is_first[:, 1:] = place[:, 1:] != place[:, :-1]
    rows, columns = np.nonzero(is_first & held)
    candidate = np.cumsum(is_first[held]) - 1
    cell = (packed[held] & kind((1 << bits) - 1)).astype(np.int64)
    number = cell // width
    slots = number * len(rows) + candidate
    ranks = np.zeros(n_lists * len(rows), np.int32)
    ranks[slots] = cell - number * width + 1
    cells = rows[candidate] * (n_lists * width) + cell
    found = place[rows, columns].astype(np.int64)
    return rows, found, ranks.reshape(n_lists, len(rows)), cells, slots


def _stable_order(keys: npt.NDArray[Any]) -> Int64s:
    """Return the order of each row, ascending, of equal keys the first one first.

    A stable sort of numbers takes several times longer than two unstable ones.
    """
    order = np.argsort(keys, axis=1)
    ordered = np.take_along_axis(keys, order, axis=1)
    level = np.zeros(keys.shape, np.int64)
    np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1, out=level[:, 1:])
    bits = int(keys.shape[1]).bit_length()
    packed = level << bits | order
    packed.sort(axis=1)
    return np.asarray(packed & ((1 << bits) - 1), np.int64)


def _joined(parts: list[Any], width: int, padding: int, kind: Any) -> Any:
    joined = np.full((sum(map(len, parts)), width), padding, kind)
    start = 0
    for part in parts:
        joined[start : start + len(part), : part.shape[1]] = part
        start += len(part)
    return joined


# --- Scores of a block ---------------------------------------------------------------------------


def _score(block: _Block, rule: Rule) -> Any:
    """Return the key of each candidate: its score, or the order of a vote as an integer."""
    if rule.method is Method.PLURALITY:
        return _plurality(block)
    if rule.method is Method.BUCKLIN:
        return _bucklin(block)
    if rule.method is Method.BORDA:
        return _borda(block)
    if rule.method in _COMBINE:
        values, has_value = _normed(block, rule.norm)
        return _COMBINE[rule.method](values, has_value)
    ranks = np.arange(block.ranks.max(initial=0) + 1, dtype=np.float64)
    return _by_rank(block, rule, np.maximum(ranks, 1))


def _by_rank(block: _Block, rule: Rule, ranks: Float64s) -> Float64s:
    """Return the scores of a rule that weights ranks. ranks: from 1, at their own index."""
    if rule.method is Method.RRF:
        weights = 1 / (rule.k + ranks)
    elif rule.method is Method.RBC:
        weights = (1 - rule.phi) * rule.phi ** (ranks - 1)
    else:
        weights = 1 / ranks**2
    weights[0] = 0
    total: Float64s = block.by_rank(weights).sum(axis=0)
    if rule.method is Method.ISR:
        total *= block.holding
    elif rule.method is Method.LOG_ISR:
        total *= np.log(block.holding)
    elif rule.method is Method.LOGN_ISR:
        total *= np.log(block.holding + rule.sigma)
    return total


def _borda(block: _Block) -> Float64s:
    """Return the points of Borda. They are counted in halves, so that they are exact."""
    n_candidates = block.n_candidates[:, None]
    absent = block.absent(n_candidates - block.lengths + 1)
    held = 2 * (block.n_candidates[block.row] - block.ranks + 1)
    return np.asarray(np.where(block.ranks > 0, held, absent).sum(axis=0) / 2, np.float64)


def _normed(block: _Block, norm: Norm) -> tuple[Float64s, Bools]:
    """Return the values of each candidate in each list, [L, n], and whether it has one."""
    has_rank = block.ranks > 0
    if norm is Norm.BORDA:
        n_candidates = block.n_candidates[block.row]
        absent = block.absent(0.5 - (block.lengths - 1) / (2 * block.n_candidates[:, None]))
        values = np.where(has_rank, 1 - (block.ranks - 1) / n_candidates, absent)
        return values, block.absent(block.lengths) > 0
    if norm is Norm.RANK:
        lengths = np.maximum(block.lengths.T[:, block.row], 1)
        return np.where(has_rank, 1 - (block.ranks - 1) / lengths, 0), has_rank
    if block.scores is None:
        raise ValueError("the lists have no scores")
    scaled = _scaled(block.scores, block.lengths, norm)
    values = np.zeros(block.ranks.size)
    values[block.slots] = scaled.reshape(-1)[block.cells]
    return values.reshape(block.ranks.shape), has_rank


def _scaled(scores: Float64s, lengths: Int64s, norm: Norm) -> Float64s:
    """Return the normalised scores, [n queries, L, depth]. The padding has no meaning."""
    if norm is Norm.NONE:
        return scores
    held = np.arange(scores.shape[2]) < lengths[:, :, None]
    highest = np.max(scores, axis=2, where=held, initial=-np.inf, keepdims=True)
    if norm is Norm.MAX:
        return np.asarray(scores / np.maximum(highest, _LEAST), np.float64)
    if norm is Norm.ZMUV:
        count = np.maximum(lengths, 1)[:, :, None]
        mean = scores.sum(axis=2, keepdims=True) / count
        centred = np.where(held, scores - mean, 0)
        deviation = np.sqrt((centred**2).sum(axis=2, keepdims=True) / count)
        return np.asarray(centred / np.maximum(deviation, _LEAST), np.float64)
    lowest = np.min(scores, axis=2, where=held, initial=np.inf, keepdims=True)
    above = np.where(held, scores - lowest, 0)
    divisor = highest - lowest if norm is Norm.MIN_MAX else above.sum(axis=2, keepdims=True)
    return np.asarray(above / np.maximum(divisor, _LEAST), np.float64)


def _median(values: Float64s, has_value: Bools) -> Float64s:
    ordered = np.sort(np.where(has_value, values, np.inf), axis=0)
    count = np.count_nonzero(has_value, axis=0)
    columns = np.arange(values.shape[1])
    middle = ordered[(count - 1) // 2, columns] + ordered[count // 2, columns]
    return np.asarray(middle / 2, np.float64)


_COMBINE: Final[dict[Method, Callable[[Float64s, Bools], Any]]] = {
    Method.COMBSUM: lambda values, has: values.sum(axis=0),
    Method.COMBMNZ: lambda values, has: values.sum(axis=0) * has.sum(axis=0),
    Method.COMBANZ: lambda values, has: values.sum(axis=0) / has.sum(axis=0),
    Method.COMBMED: _median,
    Method.COMBMAX: lambda values, has: np.where(has, values, -np.inf).max(axis=0),
    Method.COMBMIN: lambda values, has: np.where(has, values, np.inf).min(axis=0),
}


def _plurality(block: _Block) -> Int64s:
    """Order by the number of lists with the item at rank 1, the mean rank, the original's rank."""
    firsts = np.count_nonzero(block.ranks == 1, axis=0)
    return _lexicographic([block.n_lists - firsts, *_mean_and_original(block)])


def _bucklin(block: _Block) -> Int64s:
    """Order by the depth at which more than half of the lists hold the item.

    Then by the number of lists that hold it by then, and as plurality does. Items that a minority
    holds come after all others, by their mean rank.
    """
    never = block.lengths.max(initial=0) + 1
    ranks = np.where(block.ranks > 0, block.ranks, never)
    depth = np.sort(ranks, axis=0)[block.n_lists // 2, np.arange(ranks.shape[1])]
    holding = np.where(depth < never, np.count_nonzero(ranks <= depth, axis=0), 0)
    return _lexicographic([depth, block.n_lists - holding, *_mean_and_original(block)])


def _mean_and_original(block: _Block) -> list[Int64s]:
    """Return the sum of the ranks, and the rank in the original.

    An item that a list does not hold has the rank after its last one.
    """
    ranks = np.where(block.ranks > 0, block.ranks, block.absent(block.lengths + 1))
    return [ranks.sum(axis=0), ranks[0]]


def _lexicographic(keys: list[Int64s]) -> Int64s:
    """Return one integer per candidate that orders candidates by the first key, then the next."""
    sizes = [int(key.max(initial=0)) + 1 for key in keys]
    if np.prod(np.array(sizes, np.float64)) >= 2**62:
        raise ValueError("the lists are too long to count votes")
    joined = np.zeros(len(keys[0]), np.int64)
    for key, size in zip(keys, sizes, strict=True):
        joined = joined * size + key
    return joined
