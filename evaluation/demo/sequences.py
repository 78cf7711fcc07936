"""Videos in which one action follows another, and paragraphs that describe three of them.

Their sentences and paragraphs are two benchmarks. Annotators judge the sentences, a run finds
videos, and matching its sentences and clips focuses on them.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotation.selectors.campaigns import campaigns_of
from annotation.services import OFTEN_TWICE, open_campaign
from evaluation.demo.annotators import SimulatedAnnotator
from evaluation.demo.files import write_trec
from evaluation.demo.people import judge_pairs
from evaluation.demo.render import FRAME_RATE, render_frame, write_frames
from evaluation.demo.shapes import Background, Colour, Figure, Form, Motion, Scene, Size
from evaluation.demo.systems import Scores
from evaluation.release.services import publish_label_set
from evaluation.release.services.paragraphs import settle_paragraphs
from hearth.accounts.actors import OPERATOR
from hearth.shared.progress import Progress
from pooling.core.lines import SourceFile
from pooling.core.pool_options import PoolOptions
from pooling.models import Benchmark
from pooling.paragraphs.actions import AddParagraphs, FocusRun, ImportClips
from pooling.paragraphs.services.clip_sets import import_clips
from pooling.paragraphs.services.focusing import focus_run
from pooling.paragraphs.services.joining import add_paragraphs
from pooling.services import Details, ImportFiles, build_pool, import_benchmark, import_run

SENTENCES, PARAGRAPHS = "moving-sequences-sentences", "moving-sequences"
SYSTEM, OF_SENTENCES = "bag-of-actions", "words"
SECONDS = 2.0
"""The length of an action."""

_ACTIONS = tuple(
    Figure(form, colour, Size.LARGE, motion, 1, 1)
    for form, colour, motion in (
        (Form.SQUARE, Colour.RED, Motion.RIGHT),
        (Form.STAR, Colour.BLUE, Motion.SPINS),
        (Form.CIRCLE, Colour.GREEN, Motion.GROWS),
        (Form.SQUARE, Colour.RED, Motion.SPINS),
        (Form.TRIANGLE, Colour.PURPLE, Motion.UP),
        (Form.STAR, Colour.BLUE, Motion.BOUNCES),
        (Form.CIRCLE, Colour.GREEN, Motion.LEFT),
    )
)
# The actions of each video. The first three videos have paragraphs. The fourth one shows all of the
# first paragraph in another order, so it is relevant, too.
_VIDEOS = ((0, 1, 2), (3, 0, 5), (1, 5, 6), (2, 0, 1), (3, 1, 6), (4, 2, 5))
_DESCRIBED = 3
_TIMES = np.linspace(0, 1, int(SECONDS * FRAME_RATE)).tolist()
_CLIPS = 5  # clips of a video; each is as long as an action
_BLUR = 0.2  # standard deviation of the errors of similarities
# With this seed, focusing ranks two right videos first that the run does not, and matching repairs
# a confusion of two sentences.
_SEED = 20
_LATE = 0.5  # seconds
_LEFT = 9  # labels that are left for people who try the demo


@dataclass(frozen=True, slots=True)
class SequenceFiles:
    captions: Path
    videos: Path
    media: Path
    sentences: Path
    run: Path
    similarities: Path
    proposals: Path
    stamps: Path


def video_key(number: int) -> str:
    return f"s{number}"


def sentences_of(number: int) -> list[str]:
    """Return the sentences about a video, one for each action."""
    actions = (_ACTIONS[action] for action in _VIDEOS[number])
    return [f"A {each.colour} {each.form} {each.motion}." for each in actions]


def truth() -> NDArray[np.bool_]:
    """Return whether a video shows the action of a sentence, bool [sentences, videos]."""
    described = chain.from_iterable(_VIDEOS[:_DESCRIBED])
    return np.array([[action in each for each in _VIDEOS] for action in described])


def clips() -> list[list[float]]:
    """Return the clips of a video: the actions, and between them half of one and half of another.

    Their times are in seconds.
    """
    return [[SECONDS / 2 * n, SECONDS / 2 * n + SECONDS] for n in range(_CLIPS)]


def similarities(paragraph: int, video: int, rng: random.Random) -> list[list[float]]:
    """Return r of each sentence and clip: how much of the action is seen, and how alike it is."""
    return [
        [
            round(sum(_likeness(action, seen) for seen in shown) / 2 + rng.gauss(0, _BLUR), 4)
            for shown in _shown(video)
        ]
        for action in _VIDEOS[paragraph]
    ]


def _shown(video: int) -> Iterator[tuple[int, int]]:
    """Yield the actions in the first and the second half of each clip."""
    halves = [action for action in _VIDEOS[video] for _ in range(2)]
    return pairwise(halves)


def _likeness(action: int, seen: int) -> float:
    one, other = _ACTIONS[action], _ACTIONS[seen]
    is_same = (one.form is other.form, one.colour is other.colour, one.motion is other.motion)
    return 0.9 if all(is_same) else 0.3 * sum(is_same)


def write_sequences(folder: Path) -> SequenceFiles:
    """Write videos, sentences with their spans, runs and similarities into a folder."""
    files = SequenceFiles(
        captions=folder / "sentences.json",
        videos=folder / "videos.csv",
        media=folder / "media",
        sentences=folder / "sentences.trec",
        run=folder / "paragraphs.trec",
        similarities=folder / "similarities.jsonl",
        proposals=folder / "proposals.json",
        stamps=folder / "second-person.json",
    )
    files.media.mkdir(parents=True, exist_ok=True)
    keys = [video_key(number) for number in range(len(_VIDEOS))]
    for key, actions in zip(keys, _VIDEOS, strict=True):
        scenes = (Scene((_ACTIONS[action],), Background.WHITE) for action in actions)
        frames = (render_frame(scene, time) for scene in scenes for time in _TIMES)
        write_frames(frames, files.media / f"{key}.mp4")
    with files.videos.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([("video_id", "file"), *((k, f"{k}.mp4") for k in keys)])
    stamps = [[SECONDS * n, SECONDS * (n + 1)] for n in range(len(_VIDEOS[0]))]
    described = {
        key: {
            "duration": SECONDS * len(stamps),
            "timestamps": stamps,
            "sentences": sentences_of(number),
        }
        for number, key in enumerate(keys[:_DESCRIBED])
    }
    files.captions.write_text(json.dumps(described, indent=1), encoding="utf-8")
    # A second person sees the first action end later.
    late = [[0, SECONDS + _LATE], [SECONDS + _LATE, 2 * SECONDS], stamps[2]]
    others = {key: {"timestamps": late} for key in described}
    files.stamps.write_text(json.dumps(others), encoding="utf-8")
    proposed = {key: [{"timestamp": clip} for clip in clips()] for key in keys}
    files.proposals.write_text(json.dumps({"results": proposed}), encoding="utf-8")
    _write_runs(files, keys)
    return files


def draw_scores() -> tuple[dict[tuple[int, int], list[list[float]]], Scores]:
    """Return r of each paragraph and video, and the scores S_t [paragraphs, videos]."""
    rng = random.Random(_SEED)
    matrices = {
        (paragraph, video): similarities(paragraph, video, rng)
        for paragraph in range(_DESCRIBED)
        for video in range(len(_VIDEOS))
    }
    means = [np.mean(np.max(r, axis=1)) for r in matrices.values()]
    # The system compares whole texts and videos, so it sees less than the matrices do.
    errors = [[rng.gauss(0, 2 * _BLUR) for _ in _VIDEOS] for _ in range(_DESCRIBED)]
    found = np.abs(np.reshape(means, (_DESCRIBED, -1)) + errors)
    return matrices, found.astype(np.float32)


def _write_runs(files: SequenceFiles, keys: list[str]) -> None:
    matrices, of_paragraphs = draw_scores()
    lines = (
        {"paragraph": keys[paragraph], "video": keys[video], "clips": clips(), "r": r}
        for (paragraph, video), r in matrices.items()
    )
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    files.similarities.write_text(text, encoding="utf-8")
    best = np.array([np.max(r, axis=1) for r in matrices.values()], np.float32)
    of_sentences = best.reshape(_DESCRIBED, len(keys), -1).transpose(0, 2, 1)
    names = [f"{key}#{n}" for key in keys[:_DESCRIBED] for n in range(of_sentences.shape[1])]
    write_trec(files.sentences, of_sentences.reshape(-1, len(keys)), names, keys, tag=OF_SENTENCES)
    write_trec(files.run, of_paragraphs, keys[:_DESCRIBED], keys, tag=SYSTEM)


def add_sequences(folder: Path, people: Sequence[SimulatedAnnotator], progress: Progress) -> None:
    """Store both benchmarks, let people judge the sentences, and focus on the found videos.

    What is stored already stays.
    """
    progress(0, None, "adding paragraphs")
    files = write_sequences(folder)
    sentences = import_benchmark(
        key=SENTENCES,
        files=ImportFiles.of(files.captions, videos=files.videos),
        details=Details(
            name="Moving sequences, sentences (demo)",
            licence="GPL-3.0-or-later",
            description="One action after another, drawn by Hearth. The sentences of three videos.",
        ),
        media_dir=files.media,
        by=OPERATOR,
    ).benchmark
    wanted = AddParagraphs(paragraphs=PARAGRAPHS, name="Moving sequences (demo)")
    found = add_paragraphs(benchmark=sentences, options=wanted, by=OPERATOR).paragraphs.benchmark
    import_run(benchmark=sentences, path=files.sentences, system=OF_SENTENCES, by=OPERATOR)
    import_run(benchmark=found, path=files.run, system=SYSTEM, by=OPERATOR)
    for matches in (1, 2):
        options = FocusRun(
            run=SYSTEM,
            similarities=SourceFile.at(files.similarities),
            k=len(_VIDEOS) - 1,
            matches=matches,
            name=f"{SYSTEM}, u_max {matches}",
        )
        focus_run(benchmark=found, options=options, by=OPERATOR)
    for path in (files.proposals, files.stamps):
        import_clips(
            benchmark=found, options=ImportClips(file=SourceFile.at(path, path.name)), by=OPERATOR
        )
    _judge(sentences, people, progress)
    settle_paragraphs(benchmark=found, by=OPERATOR)
    if not found.label_sets.exists():
        publish_label_set(benchmark=found, by=OPERATOR)


def _judge(sentences: Benchmark, people: Sequence[SimulatedAnnotator], progress: Progress) -> None:
    """Let people judge all groups of sentences but those that are left for the visitor."""
    options = PoolOptions(depth=len(_VIDEOS))
    build_pool(benchmark=sentences, options=options, by=OPERATOR)
    campaign = campaigns_of(sentences).first() or open_campaign(
        benchmark=sentences,
        by=OPERATOR,
        policy=OFTEN_TWICE,
        seed=2,
        name="Moving sequences, round 1",
    )
    right = truth()
    hardness = np.ones(right.shape)
    own = [replace(person, truth=right, hardness=hardness) for person in people[:4]]
    planned = campaign.n_tasks + campaign.n_extra(campaign.n_tasks)
    judge_pairs(campaign, own, up_to=planned - _LEFT, progress=progress)
