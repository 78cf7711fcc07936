"""Times and memory of find and focus, with as many paragraphs as ActivityNet Captions has.

    python -m tests.benchmarks.focus [--tiny] [--json]

Each of 4,917 paragraphs has 4 sentences, and each of the first 100 videos of its list 20 clips. The
similarities are drawn. The exit code is 1 if a time or the memory exceeds its limit. The program
uses no Django, no database and one thread.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from hearth.shared.progress import no_progress
from pooling.core.lines import SourceFile
from pooling.core.pair_space import PairSpace
from pooling.paragraphs.core.focusing import Focus, List, focus_lists
from pooling.paragraphs.core.similarities import (
    SimilaritiesOf,
    StoredSimilarities,
    read_similarities,
)
from tests.benchmarks.report import Report, print_table

MEMORY_MB = 512
LIMIT_MS = 60_000
FULL, TINY = (4917, 100), (12, 5)
SENTENCES, CLIPS = 4, 20


def lists_of(paragraphs: int, first: int) -> Iterator[List]:
    """Yield lists of twice as many videos as are focused, with descending scores."""
    rng = np.random.default_rng(1)
    depth = min(2 * first, paragraphs)
    for row in range(paragraphs):
        videos = rng.choice(paragraphs, depth, replace=False).astype(np.int32)
        yield row, videos, np.sort(rng.random(depth, np.float32))[::-1]


def write_lines(path: Path, paragraphs: int, first: int) -> None:
    rng = np.random.default_rng(2)
    # The numbers of a line are one of a few drawn texts, because drawing them all takes minutes.
    drawn = [
        json.dumps(np.round(rng.normal(0.2, 0.3, (SENTENCES, CLIPS)), 4).tolist())
        for _ in range(1000)
    ]
    clips = json.dumps([[round(3.7 * n, 2), round(3.7 * n + 9.1, 2)] for n in range(CLIPS)])
    with path.open("w") as out:
        for row, videos, _ in lists_of(paragraphs, first):
            for place, video in enumerate(videos[:first].tolist()):
                r = drawn[(row * first + place) % len(drawn)]
                line = f'"paragraph": "p{row}", "video": "v{video}", "clips": {clips}, "r": {r}'
                out.write(f"{{{line}}}\n")


def measure(paragraphs: int, first: int) -> Report:
    report = Report()
    group = f"{paragraphs:,} x {first} x ({SENTENCES} x {CLIPS})"
    space = PairSpace(paragraphs, paragraphs)
    with tempfile.TemporaryDirectory() as folder:
        lines, values, index = (Path(folder, name) for name in ("r.jsonl", "values", "index.npy"))
        write_lines(lines, paragraphs, first)
        numbers = {kind: {f"{kind}{n}": n for n in range(paragraphs)} for kind in "pv"}
        shape = SimilaritiesOf(numbers["p"], numbers["v"], [SENTENCES] * paragraphs)

        def read() -> None:
            with values.open("wb") as out:
                found = read_similarities(SourceFile.at(lines), shape, out)
            np.save(index, found.index)

        report.time(group, "reading the similarities", read, 1, LIMIT_MS)
        stored = StoredSimilarities.at(index, values)
        for matches in (1, 3):

            def focus(focus: Focus = Focus(first, matches)) -> None:  # noqa: B008
                lists = lists_of(paragraphs, first)
                focus_lists(lists, stored, space, focus, no_progress, paragraphs)

            report.time(group, f"focusing, u_max {matches}", focus, 1, LIMIT_MS)
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description="Times of find and focus.")
    parser.add_argument("--tiny", action="store_true", help="few paragraphs, to test the program")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    report = measure(*(TINY if arguments.tiny else FULL))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report.notes.append(f"peak memory: {peak:,.0f} MB (limit {MEMORY_MB:,} MB)")
    if arguments.json:
        print(json.dumps(asdict(report)))
    else:
        print_table(report)
    is_fast = all(row.limit is None or row.ms < row.limit for row in report.rows)
    return 0 if is_fast and peak < MEMORY_MB else 1


if __name__ == "__main__":
    sys.exit(main())
