"""Gold items of the demo, for training and as control pairs."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.demo.benchmark import DemoBenchmark
from evaluation.demo.explaining import explain


@dataclass(frozen=True, slots=True)
class GoldPair:
    """A gold item: the numbers of caption and video, the correct answer and its explanation."""

    caption: int
    video: int
    is_relevant: bool
    explanation: str


def choose_gold(
    demo: DemoBenchmark, count: int, *, seed: int, without: Collection[tuple[int, int]] = ()
) -> list[GoldPair]:
    """Return `count` pairs in shuffled order. Half are relevant. The others fail one demand.

    Each pair has a different caption. There are fewer pairs if too few captions have a suitable
    video. without: pairs of caption and video to avoid.
    """
    rng = random.Random(seed)
    near = _nearly_true(demo)
    wanted = {True: count // 2, False: count - count // 2}
    chosen: list[GoldPair] = []
    for caption in rng.sample(range(len(demo.captions)), len(demo.captions)):
        # Each caption is used for the answer that needs more items: relevant or not relevant.
        is_relevant = wanted[True] >= wanted[False]
        suitable = (demo.truth if is_relevant else near)[caption]
        videos = [v for v in np.flatnonzero(suitable).tolist() if (caption, v) not in without]
        if videos and wanted[is_relevant]:
            chosen.append(_gold_pair(demo, caption, rng.choice(videos)))
            wanted[is_relevant] -= 1
    return rng.sample(chosen, len(chosen))


def _nearly_true(demo: DemoBenchmark) -> NDArray[np.bool_]:
    """Return whether exactly one demand of the caption is unmet, bool [captions, videos]."""
    demands = np.array([caption.meaning.demands() for caption in demo.captions])
    unmet: NDArray[np.bool_] = np.rint((1 - demo.met) * demands[:, np.newaxis]) == 1
    return unmet


def _gold_pair(demo: DemoBenchmark, caption: int, video: int) -> GoldPair:
    explanation = explain(demo.captions[caption].meaning, demo.scenes[video])
    return GoldPair(caption, video, bool(demo.truth[caption, video]), explanation)
