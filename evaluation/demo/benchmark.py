"""The demo benchmark: scenes, captions about them, and what is true of what."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.demo.captions import MAX_LEVEL, Meaning, demands_met, mean_something, write
from evaluation.demo.shapes import Motion, Scene, draw_scene
from evaluation.demo.wording import Author

DEFAULT_SEED = 2
"""Chosen among the first eight, of which three do: here the best system by the original positives
alone is not the best by complete labels, which is what the demo is to show."""

_LEVEL_WEIGHTS = (6, 19, 30, 20, 14, 11)
_TRIES_PER_LEVEL = 20
_MOTION_TAGS = {
    Motion.SPINS: "something spins",
    Motion.GROWS: "something grows",
    Motion.STILL: "something stands still",
}


@dataclass(frozen=True, slots=True)
class Caption:
    """One query: written about the video numbered `source`, its only original positive."""

    key: str
    text: str
    source: int
    meaning: Meaning


@dataclass(frozen=True, slots=True, eq=False)
class DemoBenchmark:
    """Captions and videos in the order of their numbers.

    `met` [captions, videos] is the share of what a caption says that is so in a video,
    float32 in 0..1; `truth` [captions, videos], bool, is where all of it is so.
    """

    seed: int
    scenes: tuple[Scene, ...]
    video_keys: tuple[str, ...]
    captions: tuple[Caption, ...]
    met: NDArray[np.float32]
    truth: NDArray[np.bool_]

    def sources(self) -> NDArray[np.intp]:
        """The original positive of each caption, [captions]."""
        return np.array([caption.source for caption in self.captions], dtype=np.intp)


def make_benchmark(
    seed: int = DEFAULT_SEED, *, n_videos: int = 72, n_captions: int = 360
) -> DemoBenchmark:
    """The benchmark of this seed; captions are spread evenly over the videos.

    No two captions have the same text.
    """
    rng = random.Random(seed)
    scenes = tuple(draw_scene(rng) for _ in range(n_videos))
    keys = tuple(f"v{number:03d}" for number in range(n_videos))
    share = [n_captions // n_videos + (i < n_captions % n_videos) for i in range(n_videos)]
    captions: list[Caption] = []
    texts: set[str] = set()
    for number, scene in enumerate(scenes):
        said = _say(rng, scene, share[number], texts)
        captions += [
            Caption(f"{keys[number]}-c{position}", text, number, meaning)
            for position, (meaning, text) in enumerate(said, start=1)
        ]
    met = _met_table(captions, scenes)
    return DemoBenchmark(seed, scenes, keys, tuple(captions), met, met == 1)


def make_train_captions(
    demo: DemoBenchmark, *, n_videos: int = 120, n_captions: int = 600
) -> tuple[str, ...]:
    """Captions about other scenes, as a system may have been trained on: none comes twice, but
    some are captions of the benchmark, too."""
    rng = random.Random(f"train captions beside {demo.seed}")
    texts: set[str] = set()
    said = [
        text
        for _ in range(n_videos)
        for _, text in _say(rng, draw_scene(rng), n_captions // n_videos, texts)
    ]
    return tuple(said)


def tags_of_scene(scene: Scene) -> tuple[str, ...]:
    """How many shapes there are, and what a single frame does not show of them."""
    shapes = ("one shape", "two shapes", "three shapes")[len(scene.figures) - 1]
    motions = {figure.motion for figure in scene.figures}
    return (shapes, *(tag for motion, tag in _MOTION_TAGS.items() if motion in motions))


def _say(
    rng: random.Random, scene: Scene, how_many: int, texts: set[str]
) -> list[tuple[Meaning, str]]:
    """Different meanings with texts not yet in `texts`, which grows."""
    author = Author(rng)
    said: dict[Meaning, str] = {}
    while len(said) < how_many:
        level = rng.choices(range(MAX_LEVEL + 1), weights=_LEVEL_WEIGHTS)[0]
        meaning, text = _say_one(rng, scene, level, author, said, texts)
        said[meaning] = text
        texts.add(text)
    return list(said.items())


def _say_one(
    rng: random.Random,
    scene: Scene,
    level: int,
    author: Author,
    said: dict[Meaning, str],
    texts: set[str],
) -> tuple[Meaning, str]:
    # The general captions run out first, so more is told after some tries.
    tries = 0
    while True:
        meaning = mean_something(rng, scene, min(level + tries // _TRIES_PER_LEVEL, MAX_LEVEL))
        text = write(meaning, author)
        if meaning not in said and text not in texts:
            return meaning, text
        tries += 1


def _met_table(captions: list[Caption], scenes: tuple[Scene, ...]) -> NDArray[np.float32]:
    table = np.empty((len(captions), len(scenes)), dtype=np.float32)
    for row, caption in enumerate(captions):
        demands = caption.meaning.demands()
        table[row] = [demands_met(caption.meaning, scene) / demands for scene in scenes]
    return table
