"""Split of the videos: choose a threshold on one half, and report on the other half.

At the threshold with the highest figure, that figure is too high on the same data, because the
choice follows the chance of these labels. On other data it is not. The halves share no video,
because labels of one video are dependent: its captions are alike, and a video with a plain scene
matches many captions. A video is therefore in one half with all its captions, and a pair belongs to
a half only if both its caption and its video do. The other pairs, about half of them, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.core.arrays import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """A split of units (videos, and captions without a video, by number).

    choosing: bool [n_units], the half on which a setting is chosen. Figures are reported on the
    other units.
    """

    choosing: BoolArray

    def pairs(self, captions: IntArray, videos: IntArray) -> tuple[BoolArray, BoolArray]:
        """Return the pairs of the choosing half and those of the reporting half: bool [P] each.

        captions, videos: int64 [P], the units of each pair's caption and video.
        """
        first, second = self.choosing[captions], self.choosing[videos]
        return first & second, ~(first | second)


def split_in_half(n_units: int, *, rng: np.random.Generator) -> Halves:
    """Return a random half of the units to choose on; the smaller one if their number is odd."""
    choosing = np.zeros(n_units, dtype=np.bool_)
    choosing[rng.permutation(n_units)[: n_units // 2]] = True
    return Halves(choosing)
