"""Runs as TREC files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pooling.core.arrays import Float32s, Int32s


def trec_lines(
    lists: Iterable[tuple[str, Int32s, Float32s]], item_keys: Sequence[str], tag: str
) -> Iterator[str]:
    """Yield the TREC lines of each list as one string.

    lists: the key of each row of a run, the numbers of its items (best first) and their scores.
    Importing the lines gives the same lists in the same order. A score is the shortest decimal that
    reads back as the same float32, and the rank column orders equal scores. White space in the tag
    becomes "_", because it would separate columns.
    """
    tag = re.sub(r"\s+", "_", tag.strip()) or "run"
    for key, items, scores in lists:
        rows = zip(items.tolist(), map(str, scores), strict=True)
        yield "".join(
            f"{key} Q0 {item_keys[item]} {rank} {score} {tag}\n"
            for rank, (item, score) in enumerate(rows, start=1)
        )
