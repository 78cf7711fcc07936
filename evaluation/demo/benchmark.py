"""The demo benchmark: scenes, captions about them, and the truth of each pair."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.demo.captions import MAX_LEVEL, Meaning, demands_met, draw_meaning, write
from evaluation.demo.shapes import Motion, Scene, draw_scene
from evaluation.demo.wording import Author

DEFAULT_SEED = 2
"""With this seed, the best system by the original positives is not the best by complete labels,
which the demo demonstrates. Three of the first eight seeds have this property."""

_LEVEL_WEIGHTS = (6, 19, 30, 20, 14, 11)
_TRIES_PER_LEVEL = 20
_MOTION_TAGS = {
    Motion.SPINS: "something spins",
    Motion.GROWS: "something grows",
    Motion.STILL: "something stands still",
}


@dataclass(frozen=True, slots=True)
class Caption:
    """A caption written about the video with the number `source`, its only original positive."""

    key: str
    text: str
    source: int
    meaning: Meaning


@dataclass(frozen=True, slots=True, eq=False)
class DemoBenchmark:
    """Captions and videos in the order of their numbers.

    met: the share of a caption's demands that a video meets, float32 [captions, videos] in [0, 1].
    truth: whether all demands are met, bool [captions, videos].
    """

    seed: int
    scenes: tuple[Scene, ...]
    video_keys: tuple[str, ...]
    captions: tuple[Caption, ...]
    met: NDArray[np.float32]
    truth: NDArray[np.bool_]

    def sources(self) -> NDArray[np.intp]:
        """Return the number of each caption's original positive, [captions]."""
        return np.array([caption.source for caption in self.captions], dtype=np.intp)


def make_benchmark(
    seed: int = DEFAULT_SEED, *, n_videos: int = 72, n_captions: int = 360
) -> DemoBenchmark:
    """Return the benchmark of this seed. All videos have about the same number of captions.

    No two captions have the same text.
    """
    rng = random.Random(seed)
    scenes = tuple(draw_scene(rng) for _ in range(n_videos))
    keys = tuple(f"v{number:03d}" for number in range(n_videos))
    share = [n_captions // n_videos + (i < n_captions % n_videos) for i in range(n_videos)]
    captions: list[Caption] = []
    texts: set[str] = set()
    for number, scene in enumerate(scenes):
        written = _write_captions(rng, scene, share[number], texts)
        captions += [
            Caption(f"{keys[number]}-c{position}", text, number, meaning)
            for position, (meaning, text) in enumerate(written, start=1)
        ]
    met = _met_table(captions, scenes)
    return DemoBenchmark(seed, scenes, keys, tuple(captions), met, met == 1)


def make_train_captions(
    demo: DemoBenchmark, *, n_videos: int = 120, n_captions: int = 600
) -> tuple[str, ...]:
    """Return captions about other scenes, as training data of a system.

    No text occurs twice, but some texts are also captions of the benchmark.
    """
    rng = random.Random(f"train captions beside {demo.seed}")
    texts: set[str] = set()
    written = [
        text
        for _ in range(n_videos)
        for _, text in _write_captions(rng, draw_scene(rng), n_captions // n_videos, texts)
    ]
    return tuple(written)


def tags_of_scene(scene: Scene) -> tuple[str, ...]:
    """Return tags for the number of shapes and for motions that a single frame does not show."""
    shapes = ("one shape", "two shapes", "three shapes")[len(scene.figures) - 1]
    motions = {figure.motion for figure in scene.figures}
    return (shapes, *(tag for motion, tag in _MOTION_TAGS.items() if motion in motions))


def _write_captions(
    rng: random.Random, scene: Scene, count: int, texts: set[str]
) -> list[tuple[Meaning, str]]:
    """Return different meanings with texts that are not in `texts`, and add these texts to it."""
    author = Author(rng)
    written: dict[Meaning, str] = {}
    while len(written) < count:
        level = rng.choices(range(MAX_LEVEL + 1), weights=_LEVEL_WEIGHTS)[0]
        meaning, text = _write_caption(rng, scene, level, author, written, texts)
        written[meaning] = text
        texts.add(text)
    return list(written.items())


def _write_caption(
    rng: random.Random,
    scene: Scene,
    level: int,
    author: Author,
    written: dict[Meaning, str],
    texts: set[str],
) -> tuple[Meaning, str]:
    # General captions run out first, so the level of detail rises after some tries.
    tries = 0
    while True:
        meaning = draw_meaning(rng, scene, min(level + tries // _TRIES_PER_LEVEL, MAX_LEVEL))
        text = write(meaning, author)
        if meaning not in written and text not in texts:
            return meaning, text
        tries += 1


def _met_table(captions: list[Caption], scenes: tuple[Scene, ...]) -> NDArray[np.float32]:
    table = np.empty((len(captions), len(scenes)), dtype=np.float32)
    for row, caption in enumerate(captions):
        demands = caption.meaning.demands()
        table[row] = [demands_met(caption.meaning, scene) / demands for scene in scenes]
    return table
