"""Recall of five runs of MSR-VTT, one for each phrasing of 200 captions."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator

import numpy as np

from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from pooling.core.ranked_lists import RankedLists
from tests.reference.figures import Figure, Options, compared

DEPTH = 30
# What papers on video retrieval call R@k is C@k here.
MEASURES = {f"R@{k}": parse_measure(f"C@{k}") for k in (1, 5, 10)}


def figures(options: Options) -> Iterator[Figure]:
    folder = options.data / "phrasings"
    expected = json.loads((folder / "measures.json").read_text(encoding="utf-8"))
    with gzip.open(folder / "phrasings.csv.gz", "rt", encoding="utf-8") as lines:
        own = {row["query_id"]: row["video_id"] for row in csv.DictReader(lines)}
    for name in ("p0", "p1", "p2", "p3", "p4"):
        with gzip.open(folder / f"{name}.run.gz", "rt", encoding="utf-8") as lines:
            found = _recall([line.split() for line in lines], own)
        yield from compared(f"phrasings, run {name}", expected[name], found, 1e-9)


def _recall(lines: list[list[str]], own: dict[str, str]) -> dict[str, float]:
    """Return the recall of a run in %. lines: caption, Q0, video, rank, score and tag."""
    queries = {key: number for number, key in enumerate(own)}
    videos = {key: number for number, key in enumerate({*own.values(), *(x[2] for x in lines)})}
    ranked = np.full((len(queries), DEPTH), -1, np.int32)
    for line in lines:
        ranked[queries[line[0]], int(line[3]) - 1] = videos[line[2]]
    judged = Judged.from_pairs(
        list(range(len(own))),
        [videos[key] for key in own.values()],
        [1] * len(own),
        n_queries=len(queries),
        n_videos=len(videos),
    )
    scores = score_run(RankedLists.of(ranked, len(videos)), judged, MEASURES.values())
    return {name: 100 * (scores.mean(m).value or 0) for name, m in MEASURES.items()}
