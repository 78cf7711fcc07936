"""Time and memory of the three tasks of TVR, for as many queries and moments as TVR has.

    python -m tests.benchmarks.moments [--data FOLDER] [--tiny] [--json]

All three tasks (VCMR, SVMR and VR) are scored for 10,895 queries with 100 moments each, by the
original spans, and again with the spans of people and the upper bounds. The moments are seeded.
With --data, the truth is that of TVR's validation split. The official evaluator takes about 60 s
for each task on the same number of moments. The exit code is 1 if a time or the memory exceeds its
limit. The program uses no Django and no database.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.moments.lists import MomentTruth
from evaluation.core.moments.scoring import score_moments
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists
from pooling.moments.core.spans import Spans

LIMIT_MS, MEMORY_MB = 1_000, 1024
DEPTH = 100
CUTOFFS = (1, 5, 10, 100)
MEASURES = [
    *(f"{task}@{k}(tIoU>={t})" for task in ("VCMR", "SVMR") for t in (0.5, 0.7) for k in CUTOFFS),
    *(f"VR@{k}" for k in CUTOFFS),
]
Truth = tuple[IntArray, FloatArray, FloatArray]
"""The video, the start and the end of each query's moment."""


def made_truth(n_queries: int, n_videos: int) -> Truth:
    rng = np.random.default_rng(1)
    starts = np.round(rng.uniform(0, 60, n_queries), 2)
    return rng.integers(n_videos, size=n_queries), starts, starts + rng.integers(1, 30, n_queries)


def read_truth(folder: Path) -> Truth:
    with gzip.open(folder / "moments/tvr_val_release.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    numbers: dict[str, int] = {}
    videos = [numbers.setdefault(row["vid_name"], len(numbers)) for row in rows]
    starts, ends = np.array([row["ts"] for row in rows], np.float64).T
    return np.array(videos), starts, ends


def made_lists(truth: Truth, n_videos: int) -> RankedLists:
    """Return lists in which every fourth moment is near that of the truth."""
    videos, starts, ends = truth
    rng = np.random.default_rng(2)
    shape = (len(videos), DEPTH)
    items = rng.integers(n_videos, size=shape)
    near = rng.random(shape) < 0.25
    items[near] = np.broadcast_to(videos[:, None], shape)[near]
    first = np.maximum(0, starts[:, None] + rng.normal(0, 5, shape))
    last = np.maximum(first, ends[:, None] + rng.normal(0, 5, shape))
    times: dict[str, Any] = {"starts": first.astype(np.float32), "ends": last.astype(np.float32)}
    return RankedLists.of(items.astype(np.int32), n_videos, **times)


def measure(truth: Truth) -> list[dict[str, float | int | str]]:
    videos, starts, ends = truth
    n_queries, n_videos = len(videos), int(videos.max()) + 1
    space = PairSpace(n_queries, n_videos)
    home = space.encode(np.arange(n_queries), videos)
    original = MomentTruth(space, home, Spans.of(home, starts, ends))
    lists = made_lists(truth, n_videos)
    # People judged the first ten moments of each list, and located every third pair.
    codes = np.unique(lists.top(10).codes)
    people = Spans.of(codes[::3], np.full(len(codes[::3]), 2.5), np.full(len(codes[::3]), 9.5))
    judged = Judged(codes, np.isin(codes, people.codes).astype(np.int8), n_queries, n_videos)
    corrected = replace(original, people=people, judged=judged)
    measures = [parse_measure(text) for text in MEASURES]
    steps: dict[str, Callable[[], object]] = {
        "original spans": lambda: score_moments(lists, original, measures),
        "spans of people, with bounds": lambda: score_moments(
            lists, corrected, measures, bounds=True
        ),
    }
    rows: list[dict[str, float | int | str]] = []
    for name, score in steps.items():
        begun = time.perf_counter()
        score()
        ms = round((time.perf_counter() - begun) * 1000)
        # The bounds are a second scoring of the same lists.
        limit = LIMIT_MS if name == "original spans" else 3 * LIMIT_MS
        shape = {"queries": n_queries, "moments": DEPTH, "measures": len(measures)}
        rows.append({"scored by": name, **shape, "ms": ms, "limit_ms": limit})
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the scoring of moments.")
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--tiny", action="store_true", help="50 queries, for a test")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    truth = made_truth(50, 20) if arguments.tiny else made_truth(10_895, 2_179)
    if arguments.data:
        truth = read_truth(arguments.data)
    rows = measure(truth)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    report = {"rows": rows, "memory_mb": memory, "limit_mb": MEMORY_MB}
    if arguments.json:
        print(json.dumps(report))
    else:
        for row in rows:
            print(", ".join(f"{name} {value}" for name, value in row.items()))
        print(f"memory {memory:,} MB, limit {MEMORY_MB:,} MB")
    return int(memory > MEMORY_MB or any(row["ms"] > row["limit_ms"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
