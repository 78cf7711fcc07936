"""A benchmark of three captions and three videos, small enough to order by hand.

Numbers and keys are in opposite orders, so that a test fails if one is used as the other. The
first two captions have the same text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pooling.core.ordering import RunData
from pooling.core.readers.runs import read_run

QUERIES = {"q2": 0, "q1": 1, "q0": 2}
VIDEOS = {"vC": 0, "vB": 1, "vA": 2}
TEXTS = ["a red shape", "a red shape", "a große Katze 🐈"]
ORIGINAL = {0: [0], 1: [1], 2: [2]}


def write(folder: Path, content: str | bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path, **options: Any) -> RunData:
    options = {"texts": TEXTS, "original": ORIGINAL, "source": "a.run"} | options
    return read_run(path, query_numbers=QUERIES, video_numbers=VIDEOS, **options)


def lists(run: RunData) -> dict[int, list[tuple[int, float]]]:
    """Return the lists of a run as {query number: [(video number, score), ...]}."""
    pairs = list(zip(run.videos.tolist(), run.scores.tolist(), strict=True))
    bounds = run.offsets.tolist()
    return {
        query: pairs[bounds[at] : bounds[at + 1]]
        for at, query in enumerate(run.query_numbers.tolist())
    }
