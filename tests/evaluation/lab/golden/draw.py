"""Draw the input of the golden tables from the demo benchmark.

python -m tests.evaluation.lab.golden.draw

The input is stored in the repository. With another input, the expected tables must be rebuilt. The
input has the difficulties of real files: captions that a run leaves out, short lists, equal scores
(ordered by the rank column or only by the keys), pairs with up to four labels that differ or are in
conflict, original positives judged not relevant, and labels of pairs that no run contains.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.demo.annotators import make_annotators
from evaluation.demo.benchmark import DemoBenchmark, make_benchmark
from evaluation.demo.systems import score_systems

FOLDER = Path(__file__).parent / "input"
VIDEOS, CAPTIONS, DEPTH = 48, 240, 12
POOLED = 6  # depth to which the ranked lists are judged
# The weight of each number of labels that a pair can have.
LABELS = {0: 10, 1: 60, 2: 20, 3: 7, 4: 3}
# Share of inverted labels, in addition to the mistakes of the simulated annotators.
FLIPPED = 0.06

Lists = dict[str, list[tuple[str, float]]]


def main() -> None:
    rng = random.Random(20)
    demo = make_benchmark(5, n_videos=VIDEOS, n_captions=CAPTIONS)
    FOLDER.mkdir(exist_ok=True)
    _write(FOLDER / "videos.csv", "video_id", [[key] for key in demo.video_keys])
    _write(FOLDER / "captions.csv", "caption_id,caption,video_id", _captions(demo, rng))
    runs = {name: _lists(demo, scores, rng) for name, scores in score_systems(demo).items()}
    _write_trec(FOLDER / "blind.trec", runs["colour-blind"], rng, with_ranks=False)
    plain = {key: [video for video, _ in row] for key, row in runs["still-frame"].items()}
    (FOLDER / "frame.json").write_text(json.dumps(plain, indent=0) + "\n")
    _write_trec(FOLDER / "words.trec", runs["bag-of-words"], rng, with_ranks=True)
    labels = _judgments(demo, runs.values(), rng)
    _write(FOLDER / "judgments.csv", "caption_id,video_id,annotator,label", labels)


def _captions(demo: DemoBenchmark, rng: random.Random) -> list[list[str]]:
    """Return the captions. A tenth of those that match other videos have two original positives."""
    rows = []
    for number, caption in enumerate(demo.captions):
        rows.append([caption.key, caption.text, demo.video_keys[caption.source]])
        others = [int(v) for v in np.flatnonzero(demo.truth[number]) if v != caption.source]
        if others and rng.random() < 0.1:
            rows.append([caption.key, caption.text, demo.video_keys[rng.choice(others)]])
    return rows


def _lists(demo: DemoBenchmark, scores: Any, rng: random.Random) -> Lists:
    """Return lists with scores of one decimal, many of them equal. A tenth is absent or short."""
    lists = {}
    for caption, row in zip(demo.captions, scores.tolist(), strict=True):
        rounded = [(key, round(score, 1)) for key, score in zip(demo.video_keys, row, strict=True)]
        rng.shuffle(rounded)
        rounded.sort(key=lambda entry: -entry[1])
        length = rng.choice([0, 1, 3]) if rng.random() < 0.1 else DEPTH
        if length:
            lists[caption.key] = rounded[:length]
    return lists


def _write_trec(path: Path, lists: Lists, rng: random.Random, *, with_ranks: bool) -> None:
    """Write the lines of each caption in random order. Without ranks, the rank is always 1."""
    lines = []
    for key, videos in lists.items():
        ranked = list(enumerate(videos, start=1))
        rng.shuffle(ranked)
        for rank, (video, score) in ranked:
            lines.append(f"{key} Q0 {video} {rank if with_ranks else 1} {score} golden\n")
    path.write_text("".join(lines))


def _judgments(
    demo: DemoBenchmark, runs: Iterable[Lists], rng: random.Random
) -> list[list[str | int]]:
    """Return judgments of the top of all lists and of 60 random pairs, in random order."""
    numbers = {caption.key: number for number, caption in enumerate(demo.captions)}
    pairs = {
        (numbers[key], demo.video_keys.index(video))
        for lists in runs
        for key, videos in lists.items()
        for video, _ in videos[:POOLED]
    }
    pairs |= {(rng.randrange(CAPTIONS), rng.randrange(VIDEOS)) for _ in range(60)}
    people = make_annotators(demo)
    rows: list[list[str | int]] = []
    for caption, video in sorted(pairs):
        count = rng.choices(list(LABELS), weights=list(LABELS.values()))[0]
        for person in rng.sample(people, count):
            label = person.judge(caption, video)[0] ^ (rng.random() < FLIPPED)
            keys = demo.captions[caption].key, demo.video_keys[video]
            rows.append([*keys, person.name.lower(), int(label)])
    rng.shuffle(rows)
    return rows


def _write(path: Path, header: str, rows: Iterable[Sequence[str | int]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([header.split(","), *rows])


if __name__ == "__main__":
    main()
