"""Runs of five phrasings of 200 captions of MSR-VTT, their fusion, and worked examples."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pooling.core.sentences import embed, is_installed
from pooling.phrasings.core.fusion import Method, Norm, Rule, fuse, oracle
from pooling.phrasings.core.selection import Selector, select
from pooling.scenes.core.segmentation import segment
from tests.reference.figures import Figure, Options, compared
from tests.reference.fusion import lists_of, recall

RUNS = ("p0", "p1", "p2", "p3", "p4")
RULES = {
    "CombSUM raw (mean similarity)": Rule(Method.COMBSUM, Norm.NONE),
    "CombSUM min-max": Rule(Method.COMBSUM),
    "CombMNZ min-max": Rule(Method.COMBMNZ),
    "RRF k=60": Rule(Method.RRF),
    "vote plurality": Rule(Method.PLURALITY),
    "vote bucklin": Rule(Method.BUCKLIN),
}
VECTORS = np.array(
    [[1, 0, 0], [0.96, 0.28, 0], [0.8, 0.6, 0], [0.8, 0, 0.6], [0.6, 0.64, 0.48], [0.36, 0.48, 0.8]]
)
SELECTED = {(Selector.FQS, 2): "afc", (Selector.FQS, 5): "afcdeb", (Selector.KDPP, 3): "afc"}
FRAMES = np.array([[0], [0], [0], [0], [1], [1], [1], [5], [5], [5], [5], [5]])
COSTS = {
    1: ([4, 7], [5.222222, 0.288062, 0.232647, 0.298287, 0.349769]),
    5: ([7], [5.222222, 0.868879, 1.163233, 1.491434, 1.748844]),
}


def figures(options: Options) -> Iterator[Figure]:
    folder = options.data / "phrasings"
    expected = json.loads((folder / "measures.json").read_text(encoding="utf-8"))
    with gzip.open(folder / "phrasings.csv.gz", "rt", encoding="utf-8") as lines:
        own = {row["query_id"]: row["video_id"] for row in csv.DictReader(lines)}
    runs = [_run(folder / f"{name}.run.gz") for name in RUNS]
    keys = sorted(
        {*own.values(), *(key for run in runs for found in run.values() for key in found)}
    )
    right = [keys.index(key) for key in own.values()]
    lists = [lists_of(run, list(own), keys) for run in runs]
    positives = np.arange(len(right)) * len(keys) + np.array(right)
    ranked = {
        **dict(zip(RUNS, lists, strict=True)),
        **{name: fuse(lists, rule) for name, rule in RULES.items()},
        "vote plurality, p0-p2": fuse(lists[:3], RULES["vote plurality"]),
        "oracle": oracle(lists, positives),
    }
    for name, found in ranked.items():
        yield from compared(f"phrasings, {name}", expected[name], recall(found, right), 1e-9)
    yield from _sentences(folder / "minilm_10.expected.json")
    yield from _selection()
    yield from _segmentation()


def _run(path: Path) -> dict[str, dict[str, float]]:
    """Return the scores of a TREC run."""
    run: dict[str, dict[str, float]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            query, _, video, _, score, _ = line.split()
            run.setdefault(query, {})[video] = float(score)
    return run


def _sentences(file: Path) -> Iterator[Figure]:
    """Compare ten sentences by their cosines and their first eight dimensions."""
    expected = json.loads(file.read_text(encoding="utf-8"))
    skipped = "" if is_installed() else "run make install-embeddings"
    found = embed(expected["sentences"]) if not skipped else np.zeros((10, 384), np.float32)
    differences = {
        "cosines": np.abs(found @ found.T - expected["cosines"]).max(),
        "first eight dimensions": np.abs(found[:, :8] - expected["first8"]).max(),
    }
    for name, value in differences.items():
        source = f"sentence embeddings, {expected['model']}"
        yield Figure(source, f"{name}, largest difference", 0.0, float(value), 1e-5, skipped)


def _selection() -> Iterator[Figure]:
    for (selector, count), expected in SELECTED.items():
        found = "".join("abcdef"[number] for number in select(VECTORS, count, selector))
        yield Figure("phrasings, selection", f"{selector}, {count} asked for", expected, found)


def _segmentation() -> Iterator[Figure]:
    for steady, (changes, costs) in COSTS.items():
        found = segment(FRAMES, 4, steady)
        source = f"scenes, worked example with vmax {steady}"
        yield Figure(source, "change points", changes, list(found.changes))
        for number, (cost, value) in enumerate(zip(costs, found.costs, strict=True)):
            yield Figure(source, f"cost of {number}", cost, value, 5e-7)
