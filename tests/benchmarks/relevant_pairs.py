"""Time and memory of potentially relevant pairs of as many captions as Charades-STA has.

    python -m tests.benchmarks.relevant_pairs [--data FOLDER] [--tiny] [--json]

The embeddings are seeded random vectors of 384 numbers. With --data, the captions are those of the
test split. The exit code is 1 if the time or the memory exceeds its limit. The program uses no
Django and no database.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pooling.core.arrays import Float32s, Int64s
from pooling.core.equal_texts import EXACT, first_equal
from pooling.core.proxies.embeddings import unit_vectors
from pooling.relevant_pairs.core.detection import detect, fill_confidence, with_equal_texts
from pooling.relevant_pairs.core.phrases import Detector, parts_of_captions

LIMIT_MS, MEMORY_MB = 20_000, 1024
THRESHOLD = 0.5
WORDS = (
    "person man woman opens closes holds throws eats door book bag cup towel light phone".split()
)


def made_captions(n_captions: int, n_texts: int) -> list[str]:
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS, 6)) + f" {number}." for number in range(n_texts)]
    return texts + [texts[place] for place in rng.integers(n_texts, size=n_captions - n_texts)]


def read_captions(folder: Path) -> list[str]:
    with gzip.open(folder / "moments/charades_sta_test.txt.gz", "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").partition("##")[2] for line in lines]


def vectors_of(texts: Sequence[str]) -> Float32s:
    """Return vectors of length 1; many have a cosine above the threshold."""
    rng = np.random.default_rng(2)
    common = rng.normal(size=(40, 384))[rng.integers(40, size=len(texts))]
    return unit_vectors((common + rng.normal(size=(len(texts), 384))).astype(np.float32))


def measure(captions: Sequence[str], videos: Int64s) -> list[dict[str, float | int | str]]:
    equal = first_equal(captions, EXACT)
    texts = [captions[place] for place in np.unique(equal)]
    rows: list[dict[str, float | int | str]] = []
    for detector in Detector:
        begun = time.perf_counter()
        parts = parts_of_captions(texts, detector)
        tagged = time.perf_counter()
        vectors = vectors_of(parts.texts)
        made = time.perf_counter()
        detected = with_equal_texts(detect(parts, vectors, THRESHOLD), equal)
        out = np.zeros((len(captions), int(videos.max()) + 1), np.float16)
        fill_confidence(out, detected, equal, (np.arange(len(captions)), videos))
        seconds = time.perf_counter() - made + tagged - begun
        rows.append(
            {
                "detector": str(detector),
                "captions": len(captions),
                "texts": len(texts),
                "parts": len(parts.texts),
                "detected": len(detected),
                "ms": round(seconds * 1000),
                "limit_ms": LIMIT_MS,
            }
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure potentially relevant pairs.")
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--tiny", action="store_true", help="30 captions, for a test")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    captions = made_captions(30, 20) if arguments.tiny else made_captions(3720, 2860)
    if arguments.data:
        captions = read_captions(arguments.data)
    videos = np.sort(
        np.random.default_rng(3).integers(min(1334, len(captions)), size=len(captions))
    )
    rows = measure(captions, videos)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    report = {"rows": rows, "memory_mb": memory, "limit_mb": MEMORY_MB}
    if arguments.json:
        print(json.dumps(report))
    else:
        for row in rows:
            print(", ".join(f"{name} {value}" for name, value in row.items()))
        print(f"memory {memory:,} MB, limit {MEMORY_MB:,} MB")
    return int(memory > MEMORY_MB or any(row["ms"] > LIMIT_MS for row in rows))


if __name__ == "__main__":
    sys.exit(main())
