"""Training data from a proxy: pairs at or above a threshold, and triplets.

A triplet has an anchor, a positive at or above the threshold, and a negative below it. Wray et al.
(CVPR 2021, section 5) train with such triplets at thresholds from 0.1 to 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from pooling.core.arrays import Int64s
from pooling.core.hashing import mix
from pooling.core.proxies.distribution import as_stored
from pooling.core.proxies.word_sets import Matrix

_BLOCK_CELLS: Final = 1 << 20


def positive_pairs(values: Matrix, threshold: float) -> Iterator[tuple[Int64s, Int64s, Matrix]]:
    """Yield the rows, columns and values of the pairs at or above the threshold, part by part.

    values: [n_rows, n_columns]. The pairs are in the order of their rows and then of their columns.
    """
    for start, block in _blocks(values):
        rows, columns = np.nonzero(block >= as_stored(threshold))
        yield rows + start, columns, block[rows, columns]


def triplets(
    values: Matrix, threshold: float, negatives: int, seed: int
) -> Iterator[tuple[Int64s, Int64s, Int64s]]:
    """Yield the rows of anchors, and the columns of positives and negatives, part by part.

    values: [n_rows, n_columns]. For each positive of a row, a hash of the pair and the seed draws
    `negatives` of the row's columns below the threshold, with replacement. A row without a
    positive or without a negative has no triplet.
    """
    width = values.shape[1]
    for start, block in _blocks(values):
        is_positive = block >= as_stored(threshold)
        for row in np.flatnonzero(is_positive.any(axis=1) & ~is_positive.all(axis=1)):
            found, others = np.flatnonzero(is_positive[row]), np.flatnonzero(~is_positive[row])
            anchor = start + int(row)
            places = ((anchor * width + found)[:, None] * negatives + np.arange(negatives)).ravel()
            drawn = others[(mix(places, seed) % np.uint64(len(others))).astype(np.int64)]
            yield np.full(len(drawn), anchor), np.repeat(found, negatives), drawn


def _blocks(values: Matrix) -> Iterator[tuple[int, Matrix]]:
    step = max(1, _BLOCK_CELLS // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        yield start, np.asarray(values[start : start + step])
