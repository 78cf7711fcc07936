"""Split of the videos into halves: choose a threshold on one half, report on the other half.

A threshold is chosen because its figure is the highest. On the same data this figure is too high,
because part of it is chance. On other data it is not. The halves share no video, because labels of
one video are dependent: its captions are similar, and a video of a simple scene matches many
captions. A video is therefore in one half with all its captions. A pair is in a half only if both
its caption and its video are. The other pairs, about half of all pairs, are in neither half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.core.arrays import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """A split of units into two halves. A unit is a video, or a caption without a video.

    choosing: bool [n_units], whether a unit is in the half on which the threshold is chosen.
    Figures are reported on the other half.
    """

    choosing: BoolArray

    def pairs(self, captions: IntArray, videos: IntArray) -> tuple[BoolArray, BoolArray]:
        """Return which pairs are in the choosing half, and which are in the reporting half.

        captions, videos: int64 [P], the unit of each pair's caption and of its video. Both results
        are bool [P].
        """
        first, second = self.choosing[captions], self.choosing[videos]
        return first & second, ~(first | second)


def split_in_half(n_units: int, *, rng: np.random.Generator) -> Halves:
    """Split the units at random. The choosing half is the smaller one if their number is odd."""
    choosing = np.zeros(n_units, dtype=np.bool_)
    choosing[rng.permutation(n_units)[: n_units // 2]] = True
    return Halves(choosing)
