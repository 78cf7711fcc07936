"""Simulated annotators, with their error rates and speeds.

An answer depends only on the seed, the annotator, the caption and the video. The order of the
pairs does not change it.
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

_CAREFUL, _HASTY = 0.01, 0.055  # lowest and highest error rate on pairs of hardness 1
_QUICK, _SLOW = 2.3, 3.9  # lowest and highest median of seconds per pair
_SPREAD = 0.45  # standard deviation of the logarithm of the seconds
_SHORTEST, _LONGEST = 0.8, 60.0
_MOST_WRONG = 0.4
_ORDER_ERROR = 1.0  # standard deviation of the errors in `order`, divided by sqrt(error rate)
_PLAIN_MISS = 0.08  # hardness factor if more than one demand of the caption is unmet


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedAnnotator:
    """A simulated annotator.

    error_rate: share of wrong answers on pairs of hardness 1. seconds_per_answer: the median.
    truth (bool) and hardness (float64), [captions, videos] each, are the same for all annotators.
    """

    name: str
    number: int
    seed: int
    error_rate: float
    seconds_per_answer: float
    truth: NDArray[np.bool_]
    hardness: NDArray[np.float64]

    def judge(self, caption: int, video: int) -> tuple[int, float]:
        """Return the label of one pair (1 relevant, 0 not relevant) and the seconds it took."""
        labels, seconds = self.judge_many([caption], [video])
        return int(labels[0]), float(seconds[0])

    def judge_many(
        self, captions: ArrayLike, videos: ArrayLike
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """Return labels and seconds, [n_pairs] each.

        captions, videos: the numbers of the pairs, [n_pairs] each.
        """
        rows, columns = np.asarray(captions, dtype=np.intp), np.asarray(videos, dtype=np.intp)
        hardness = self.hardness[rows, columns]
        wrong = self._chance(0, rows, columns) < np.minimum(self.error_rate * hardness, _MOST_WRONG)
        spread = np.exp(_SPREAD * self._normal(rows, columns) + 0.1 * (hardness - 1))
        seconds = self.seconds_per_answer * spread
        labels = (self.truth[rows, columns] ^ wrong).astype(np.int8)
        return labels, np.clip(seconds, _SHORTEST, _LONGEST).round(2)

    def order(
        self, met: NDArray[np.float32], captions: Sequence[int], video: int
    ) -> tuple[list[int], float]:
        """Put captions in order for a video; return their places, best first, and the seconds.

        The similarity of a caption is the share of its demands that the video meets, plus an error
        that is larger for hasty annotators. met: see `DemoBenchmark`. captions: numbers, by place.
        """
        rows, columns = np.asarray(captions), np.full(len(captions), video)
        errors = _ORDER_ERROR * np.sqrt(self.error_rate) * self._normal(rows, columns)
        order = np.argsort(-(met[rows, columns] + errors), kind="stable")
        return order.tolist(), round(5 * self.seconds_per_answer, 2)

    def _chance(
        self, purpose: int, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return a uniform number in [0, 1) for each pair. It differs for each `purpose`."""
        key = _mixed(np.array([self.seed], dtype=np.uint64))
        for part in (np.array([self.number * 8 + purpose]), rows, columns):
            key = _mixed(key ^ _mixed(part.astype(np.uint64)))
        return (key >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def _normal(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return standard normal numbers from two uniform ones (Box and Muller, 1958)."""
        length = np.sqrt(-2 * np.log1p(-self._chance(1, rows, columns)))
        normal: NDArray[np.float64] = length * np.cos(2 * np.pi * self._chance(2, rows, columns))
        return normal


def make_annotators(
    demo: DemoBenchmark, names: Sequence[str] = NAMES, *, seed: int | None = None
) -> tuple[SimulatedAnnotator, ...]:
    """Return one annotator per name, from careful to hasty. The default seed is the benchmark's."""
    hardness = _hardness(demo)
    rates = np.geomspace(_CAREFUL, _HASTY, len(names))
    # The medians are taken in steps of 5, so their order differs from that of the error rates. The
    # step 5 and the number of default names, 8, have no common factor, so each median is used once.
    medians = np.linspace(_QUICK, _SLOW, len(names))[np.arange(len(names)) * 5 % len(names)]
    return tuple(
        SimulatedAnnotator(
            name=name,
            number=number,
            seed=demo.seed if seed is None else seed,
            error_rate=float(rates[number]),
            seconds_per_answer=float(medians[number]),
            truth=demo.truth,
            hardness=hardness,
        )
        for number, name in enumerate(names)
    )


def _hardness(demo: DemoBenchmark) -> NDArray[np.float64]:
    """Return the hardness of each pair, [captions, videos]; about 1 for a plain caption."""
    meanings = [caption.meaning for caption in demo.captions]
    demands = np.array([meaning.demands() for meaning in meanings])
    unmet = np.rint((1 - demo.met) * demands[:, np.newaxis])
    by_caption = np.array([_caption_hardness(meaning) for meaning in meanings])
    return by_caption[:, np.newaxis] * np.where(unmet > 1, _PLAIN_MISS, 1.0)


_HARD_TO_SEE = frozenset({*Size, *Relation, Motion.GROWS, Motion.STILL})


def _caption_hardness(meaning: Meaning) -> float:
    hard = sum(value in _HARD_TO_SEE for value in meaning.described())
    return 0.4 + 0.2 * meaning.demands() + 0.4 * hard + 0.4 * (meaning.count is not None)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash integers with the finaliser of SplitMix64 (Steele, Lea and Flood, 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
