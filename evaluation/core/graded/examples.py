"""Choice of example pairs on which proxies differ, with each query and each item at most once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.graded.rankings import Matrix, blocks

# Random numbers up to this value decide between equal differences. Two values in half precision
# that are not equal almost always differ by more.
_TIE: Final = 1e-4


def widest_spreads(
    proxies: Sequence[Matrix],
    queries: IntArray,
    skipped: tuple[IntArray, IntArray],
    count: int,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Return the pairs with the largest difference between the values of the proxies.

    proxies: [n_queries, n_items] each. queries: the queries to choose from, int64, ascending.
    skipped: queries and items of pairs that must not be chosen. Returns the queries and the items,
    at most `count`, the largest difference first. Equal differences are in random order. For each
    query, only the item with its largest difference is a candidate.
    """
    n_items = proxies[0].shape[1]
    place = np.full(proxies[0].shape[0], -1)
    place[queries] = np.arange(len(queries))
    rows, columns = place[skipped[0]], skipped[1]
    items = np.zeros(len(queries), np.int64)
    spreads = np.zeros(len(queries))
    for block in blocks((len(queries), n_items)):
        values = [proxy[queries[block]].astype(np.float32) for proxy in proxies]
        spread = np.maximum.reduce(values) - np.minimum.reduce(values)
        inside = (rows >= block.start) & (rows < block.stop)
        spread[rows[inside] - block.start, columns[inside]] = -1
        spread += _TIE * rng.random(spread.shape, np.float32)
        items[block] = spread.argmax(axis=1)
        spreads[block] = spread.max(axis=1, initial=-1)
    chosen = first_distinct(np.argsort(-spreads), queries, items, count)
    chosen = chosen[spreads[chosen] > 2 * _TIE]
    return queries[chosen], items[chosen]


def highest(
    scores: FloatArray, queries: IntArray, items: IntArray, count: int, rng: np.random.Generator
) -> IntArray:
    """Return the indices of the pairs with the highest scores, int64, at most `count`.

    scores, queries, items: [n]. No query or item is repeated. Equal scores are in random order.
    """
    order = np.lexsort((rng.random(len(scores)), -scores))
    return first_distinct(order, queries, items, count)


def first_distinct(order: IntArray, queries: IntArray, items: IntArray, count: int) -> IntArray:
    """Return the first pairs in `order` without a repeated query or item, at most `count`.

    order: int64, indices into `queries` and `items`. The result has such indices, too.
    """
    found: list[int] = []
    used: set[tuple[str, int]] = set()
    for number in order.tolist():
        if len(found) == count:
            break
        pair = {("query", int(queries[number])), ("item", int(items[number]))}
        if not used & pair:
            found.append(number)
            used |= pair
    return np.array(found, np.int64)
