"""The demo benchmark as files for import: captions, train captions, videos, tags, runs and gold."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.demo.benchmark import DemoBenchmark, make_train_captions, tags_of_scene
from evaluation.demo.gold import GoldPair
from evaluation.demo.render import render_all
from evaluation.demo.systems import Scores, score_systems

RUN_DEPTH = 50


@dataclass(frozen=True, slots=True)
class BenchmarkFiles:
    """The paths of all files. The keys of `runs` are those of the systems."""

    captions: Path
    videos: Path
    train_captions: Path
    tags: Path
    media: Path
    runs: Mapping[str, Path]


def write_benchmark(
    demo: DemoBenchmark, folder: Path, progress: Callable[[int, int], None] | None = None
) -> BenchmarkFiles:
    """Write captions.csv, videos.csv, train.csv, tags.csv, media/*.mp4 and runs/* into `folder`.

    The folder is created if it is missing. `progress(done, total)` counts the videos, which take
    nearly all of the time.
    """
    files = BenchmarkFiles(
        captions=folder / "captions.csv",
        videos=folder / "videos.csv",
        train_captions=folder / "train.csv",
        tags=folder / "tags.csv",
        media=folder / "media",
        runs={
            "bag-of-words": folder / "runs" / "bag-of-words.trec",
            "colour-blind": folder / "runs" / "colour-blind.json",
            "still-frame": folder / "runs" / "still-frame.npy",
        },
    )
    files.media.mkdir(parents=True, exist_ok=True)
    (folder / "runs").mkdir(exist_ok=True)
    names = [f"{key}.mp4" for key in demo.video_keys]
    render_all(demo.scenes, [files.media / name for name in names], progress)
    write_table(files.videos, ("video_id", "file"), zip(demo.video_keys, names, strict=True))
    rows = ((c.key, c.text, demo.video_keys[c.source]) for c in demo.captions)
    write_table(files.captions, ("caption_id", "caption", "video_id"), rows)
    write_table(files.train_captions, ("caption",), ((text,) for text in make_train_captions(demo)))
    write_table(files.tags, ("video_id", "tag"), _tag_rows(demo))
    _write_runs(demo, files.runs)
    return files


def _tag_rows(demo: DemoBenchmark) -> Iterable[Sequence[str]]:
    for key, scene in zip(demo.video_keys, demo.scenes, strict=True):
        yield from ((key, tag) for tag in tags_of_scene(scene))


def write_trec(
    target: Path,
    scores: Scores,
    caption_keys: Sequence[str],
    video_keys: Sequence[str],
    *,
    tag: str,
    depth: int = RUN_DEPTH,
) -> None:
    """Write a run in TREC format: caption, Q0, video, rank from 1, score, tag; best first."""
    lines = []
    for caption, ranking, row in zip(caption_keys, rank(scores, depth), scores, strict=True):
        for place, video in enumerate(ranking, start=1):
            lines.append(f"{caption} Q0 {video_keys[video]} {place} {row[video]:.5f} {tag}\n")
    _write_text(target, "".join(lines))


def write_json(
    target: Path,
    scores: Scores,
    caption_keys: Sequence[str],
    video_keys: Sequence[str],
    *,
    depth: int = RUN_DEPTH,
) -> None:
    """Write a run as a JSON object from caption key to video keys, best first."""
    rankings = zip(caption_keys, rank(scores, depth), strict=True)
    content = {caption: [video_keys[video] for video in ranking] for caption, ranking in rankings}
    _write_text(target, json.dumps(content, indent=0) + "\n")


def write_npy(target: Path, scores: Scores) -> None:
    """Write the matrix, float32 [captions, videos], in the order of captions.csv and videos.csv."""
    part = target.with_name(f".{target.name}.part")
    with part.open("wb") as file:
        np.save(file, scores, allow_pickle=False)
    part.replace(target)


def write_gold(target: Path, demo: DemoBenchmark, pairs: Iterable[GoldPair]) -> Path:
    """Write gold items in the format of `import_gold`, and return the path."""
    rows = (
        (
            demo.captions[pair.caption].key,
            demo.video_keys[pair.video],
            str(int(pair.is_relevant)),
            pair.explanation,
        )
        for pair in pairs
    )
    write_table(target, ("caption_id", "video_id", "label", "explanation"), rows)
    return target


def rank(scores: Scores, depth: int) -> NDArray[np.intp]:
    """Return video numbers by falling score, [captions, min(depth, videos)]; ties by number."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :depth]


def _write_runs(demo: DemoBenchmark, targets: Mapping[str, Path]) -> None:
    scores = score_systems(demo)
    captions = [caption.key for caption in demo.captions]
    for system, target in targets.items():
        match target.suffix:
            case ".trec":
                write_trec(target, scores[system], captions, demo.video_keys, tag=system)
            case ".json":
                write_json(target, scores[system], captions, demo.video_keys)
            case ".npy":
                write_npy(target, scores[system])


def write_table(target: Path, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    part = target.with_name(f".{target.name}.part")
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
    part.replace(target)


def _write_text(target: Path, text: str) -> None:
    part = target.with_name(f".{target.name}.part")
    part.write_bytes(text.encode())
    part.replace(target)
