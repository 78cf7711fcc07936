"""Runs as TREC files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from pooling.core.arrays import Float32s, Int32s

# The magnitude of the lowest float32 in the order of `strictly_decreasing`.
_FLOAT32_MAX = int(np.array(np.finfo(np.float32).max).view(np.int32))


def trec_lines(
    lists: Iterable[tuple[str, Int32s, Float32s]],
    item_keys: Sequence[str],
    tag: str,
    *,
    is_raw: bool = False,
) -> Iterator[str]:
    """Yield the TREC lines of each list as one string.

    lists: the key of each row of a run, the numbers of its items (best first) and their scores.
    Importing the lines gives the same lists in the same order. A score is the shortest decimal that
    reads back as the same float32. Equal scores are lowered as little as possible, because tools
    like trec_eval ignore the rank column. is_raw: leave them equal. White space in the tag becomes
    "_", because it would separate columns.
    """
    tag = re.sub(r"\s+", "_", tag.strip()) or "run"
    for key, items, scores in lists:
        written = scores if is_raw else strictly_decreasing(scores)
        rows = zip(items.tolist(), map(str, written), strict=True)
        yield "".join(
            f"{key} Q0 {item_keys[item]} {rank} {score} {tag}\n"
            for rank, (item, score) in enumerate(rows, start=1)
        )


def strictly_decreasing(scores: Float32s) -> Float32s:
    """Return the scores of a list, best first, each below the one before it; float32 [n].

    A score that is not lower than the one before it becomes the next lower float32. If there is
    none, because the scores are near the lowest float32, the result is n, n - 1, ..., 1.
    """
    if (scores[1:] < scores[:-1]).all():
        return scores
    # The bits of a float32, without its sign, order all numbers as integers. 0.0 and -0.0 are 0.
    bits = scores.view(np.int32)
    orders = np.where(bits < 0, -(bits & np.int32(0x7FFFFFFF)).astype(np.int64), bits)
    places = np.arange(len(scores))
    lowered = np.minimum.accumulate(orders + places) - places
    if lowered.min() < -_FLOAT32_MAX:
        return np.arange(len(scores), 0, -1, dtype=np.float32)
    found = np.abs(lowered).astype(np.int32).view(np.float32)
    return np.where(lowered < 0, -found, found).astype(np.float32)
