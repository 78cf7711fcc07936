"""The golden input in plain Python: dictionaries and sets of keys, without Hearth's code."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

INPUT = Path(__file__).parent / "input"
RUNS = {"blind": "blind.trec", "frame": "frame.json", "words": "words.trec"}

Pair = tuple[str, str]  # caption, video
Lists = dict[str, list[str]]  # videos by caption, best first
Qrels = dict[str, dict[str, int]]  # gain by caption and video


@dataclass(frozen=True)
class World:
    """A benchmark with its runs and judgments.

    captions: texts by key. original: the original positives, in the order of the file.
    judgments: pair, annotator and label, in the order of the file.
    """

    videos: list[str]
    captions: dict[str, str]
    original: list[Pair]
    runs: dict[str, Lists]
    judgments: list[tuple[Pair, str, int]]

    @cached_property
    def labels_of(self) -> dict[Pair, list[int]]:
        return gathered(self.judgments)

    @cached_property
    def by_original(self) -> Qrels:
        return as_qrels(dict.fromkeys(self.original, 1))

    @cached_property
    def by_labels(self) -> Qrels:
        """Return the settled labels. Original positives count as relevant, whatever their label."""
        return as_qrels(self.settled | dict.fromkeys(self.original, 1))

    @cached_property
    def by_labels_only(self) -> Qrels:
        return as_qrels(self.settled)

    @cached_property
    def settled(self) -> dict[Pair, int]:
        return settled(self.labels_of)

    @cached_property
    def words(self) -> list[int]:
        return [len(text.split()) for text in self.captions.values()]

    @cached_property
    def first_videos(self) -> dict[str, str]:
        """Return the first original positive of each caption, in the order of the videos."""
        found = {}
        for caption in self.captions:
            own = {video for key, video in self.original if key == caption}
            found[caption] = next(video for video in self.videos if video in own)
        return found

    def cut(self, depth: int) -> dict[str, Lists]:
        return {name: cut(lists, depth) for name, lists in self.runs.items()}


def gathered(judgments: list[tuple[Pair, str, int]]) -> dict[Pair, list[int]]:
    labels: dict[Pair, list[int]] = defaultdict(list)
    for pair, _, label in judgments:
        labels[pair].append(label)
    return dict(labels)


def settled(labels_of: dict[Pair, list[int]]) -> dict[Pair, int]:
    """Return the majority label of each pair. Pairs in conflict are left out."""
    return {
        pair: int(2 * sum(labels) > len(labels))
        for pair, labels in labels_of.items()
        if 2 * sum(labels) != len(labels)
    }


def as_qrels(labels: dict[Pair, int]) -> Qrels:
    qrels: Qrels = defaultdict(dict)
    for (caption, video), label in labels.items():
        qrels[caption][video] = label
    return dict(qrels)


def cut(lists: Lists, depth: int) -> Lists:
    return {caption: videos[:depth] for caption, videos in lists.items()}


def read_world() -> World:
    captions, original = {}, []
    for key, text, video in _rows("captions.csv"):
        captions[key] = text
        original.append((key, video))
    judgments = [
        ((caption, video), annotator, int(label))
        for caption, video, annotator, label in _rows("judgments.csv")
    ]
    # A benchmark numbers its videos in the order of videos.csv.
    videos = [row[0] for row in _rows("videos.csv")]
    runs = {name: _read_run(INPUT / file) for name, file in RUNS.items()}
    return World(videos, captions, original, runs, judgments)


def _rows(name: str) -> list[list[str]]:
    with (INPUT / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def _read_run(path: Path) -> Lists:
    """Read a run.

    A TREC file is sorted by score, then by the rank column, then by the video's key. A JSON file
    contains the lists in their order.
    """
    if path.suffix == ".json":
        lists: Lists = json.loads(path.read_text())
        return lists
    found: dict[str, list[tuple[float, int, str]]] = defaultdict(list)
    for line in path.read_text().splitlines():
        caption, _, video, rank, score, _ = line.split()
        found[caption].append((-float(score), int(rank), video))
    return {caption: [video for *_, video in sorted(rows)] for caption, rows in found.items()}
