"""Simulated annotators: who they are, how often they err and how long they take.

An answer depends on the seed, the person, the caption and the video, and on nothing
else: whoever asks twice, or in another order, gets the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.demo.benchmark import DemoBenchmark
from evaluation.demo.captions import Meaning
from evaluation.demo.shapes import Motion, Relation, Size

NAMES = ("Amina", "Bruno", "Chiara", "Dmitri", "Esra", "Felix", "Grace", "Hiro")

_CAREFUL, _HASTY = 0.01, 0.055  # share of wrong answers on a pair of hardness 1, at both ends
_QUICK, _SLOW = 2.3, 3.9  # median seconds per pair, at both ends
_SPREAD = 0.45  # standard deviation of the logarithm of the seconds
_SHORTEST, _LONGEST = 0.8, 60.0
_MOST_WRONG = 0.4
_PLAIN_MISS = 0.08  # a video that misses a caption by more than one thing is seldom taken for it


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedAnnotator:
    """One person. `error_rate` is the share of wrong answers on pairs of hardness 1.

    `truth` (bool) and `hardness` (float64) are [captions, videos] and shared by all;
    `pace` is the median of the seconds per pair.
    """

    name: str
    number: int
    seed: int
    error_rate: float
    pace: float
    truth: NDArray[np.bool_]
    hardness: NDArray[np.float64]

    def judge(self, caption: int, video: int) -> tuple[int, float]:
        """The label (1 relevant, 0 not) for one pair, and the seconds taken."""
        labels, seconds = self.judge_many([caption], [video])
        return int(labels[0]), float(seconds[0])

    def judge_many(
        self, captions: ArrayLike, videos: ArrayLike
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """Labels and seconds, both [pairs], for pairs given by their numbers, both [pairs]."""
        rows, columns = np.asarray(captions, dtype=np.intp), np.asarray(videos, dtype=np.intp)
        hardness = self.hardness[rows, columns]
        wrong = self._chance(0, rows, columns) < np.minimum(self.error_rate * hardness, _MOST_WRONG)
        seconds = self.pace * np.exp(_SPREAD * self._normal(rows, columns) + 0.1 * (hardness - 1))
        labels = (self.truth[rows, columns] ^ wrong).astype(np.int8)
        return labels, np.clip(seconds, _SHORTEST, _LONGEST).round(2)

    def _chance(
        self, purpose: int, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """A number in 0..1 for each pair, evenly spread; `purpose` tells several apart."""
        key = _mixed(np.array([self.seed], dtype=np.uint64))
        for part in (np.array([self.number * 8 + purpose]), rows, columns):
            key = _mixed(key ^ _mixed(part.astype(np.uint64)))
        return (key >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def _normal(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Standard normal numbers from two even ones (Box and Muller, 1958)."""
        length = np.sqrt(-2 * np.log1p(-self._chance(1, rows, columns)))
        normal: NDArray[np.float64] = length * np.cos(2 * np.pi * self._chance(2, rows, columns))
        return normal


def make_annotators(
    demo: DemoBenchmark, names: Sequence[str] = NAMES, *, seed: int | None = None
) -> tuple[SimulatedAnnotator, ...]:
    """One annotator per name, from careful to hasty; the seed is the benchmark's by default."""
    hardness = _hardness(demo)
    rates = np.geomspace(_CAREFUL, _HASTY, len(names))
    # A step that shares no factor with 8 keeps the hasty from being the quick ones, all too neatly.
    paces = np.linspace(_QUICK, _SLOW, len(names))[np.arange(len(names)) * 5 % len(names)]
    return tuple(
        SimulatedAnnotator(
            name=name,
            number=number,
            seed=demo.seed if seed is None else seed,
            error_rate=float(rates[number]),
            pace=float(paces[number]),
            truth=demo.truth,
            hardness=hardness,
        )
        for number, name in enumerate(names)
    )


def _hardness(demo: DemoBenchmark) -> NDArray[np.float64]:
    """How hard each pair is to judge, [captions, videos]; about 1 for a plain caption."""
    meanings = [caption.meaning for caption in demo.captions]
    demands = np.array([meaning.demands() for meaning in meanings])
    unmet = np.rint((1 - demo.met) * demands[:, np.newaxis])
    by_caption = np.array([_caption_hardness(meaning) for meaning in meanings])
    return by_caption[:, np.newaxis] * np.where(unmet > 1, _PLAIN_MISS, 1.0)


_HARD_TO_SEE = frozenset({*Size, *Relation, Motion.GROWS, Motion.STILL})


def _caption_hardness(meaning: Meaning) -> float:
    hard = sum(value in _HARD_TO_SEE for value in meaning.told())
    return 0.4 + 0.2 * meaning.demands() + 0.4 * hard + 0.4 * (meaning.count is not None)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): spreads nearby integers."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
