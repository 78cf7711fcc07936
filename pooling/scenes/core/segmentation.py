"""Kernel temporal segmentation (Potapov et al., ECCV 2014): where a video changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Float64s, Int64s


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The change points of a video: the first frame of each segment but the first.

    scatters: the least sum of the scatters of all segments with 0, 1, … change points. costs: that
    sum per frame plus the penalty. The number of change points has the least cost.
    """

    changes: tuple[int, ...]
    scatters: tuple[float, ...]
    costs: tuple[float, ...]


def segment(features: npt.NDArray[Any], most: int, steady: float | None = None) -> Segmentation:
    """Return the segmentation of a video into at most `most` + 1 segments.

    features: [n frames, d]. steady: vmax, about the scatter of a steady scene; None: the mean
    scatter of a frame, trace of the centred kernel / n. A smaller one finds more change points.
    Memory grows with n². Raises ValueError if there is no frame.
    """
    frames = np.asarray(features, np.float64)
    if frames.ndim != 2 or not len(frames):
        raise ValueError("the features must be a matrix with a row for each frame")
    n = len(frames)
    # Scatter does not depend on the origin, and rounding is least near it.
    frames = frames - frames.mean(axis=0)
    scatter = _scatters(frames @ frames.T)
    if steady is None:
        steady = float(scatter[0, n]) / n
    most = max(0, min(most, n - 1))
    least, before = _least_scatters(scatter, most)
    sums = least[:, n]
    numbers = np.arange(1, most + 1)
    penalty = steady * numbers / (2 * n) * (np.log(n / np.maximum(numbers, 1)) + 1)
    costs = sums / n + np.concatenate([[0.0], penalty])
    best = int(np.argmin(costs))
    return Segmentation(_changes(before, best, n), tuple(sums.tolist()), tuple(costs.tolist()))


def _scatters(kernel: Float64s) -> Float64s:
    """Return v(i, j), the scatter of the frames i..j-1, float64 [n + 1, n + 1]; inf if j <= i."""
    n = len(kernel)
    diagonal = np.concatenate([[0.0], np.cumsum(np.diag(kernel))])
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = kernel.cumsum(axis=0).cumsum(axis=1)
    corner = np.diag(sums)
    block = corner[None, :] + corner[:, None] - sums - sums.T
    length = np.arange(n + 1)[None, :] - np.arange(n + 1)[:, None]
    scatter = diagonal[None, :] - diagonal[:, None] - block / np.maximum(length, 1)
    return np.where(length > 0, np.maximum(scatter, 0), np.inf)


def _least_scatters(scatter: Float64s, most: int) -> tuple[Float64s, Int64s]:
    """Return the least scatter of the first j frames with m change points, [most + 1, n + 1].

    And the first frame of the last segment, of equally good ones the first.
    """
    n = len(scatter) - 1
    least = np.full((most + 1, n + 1), np.inf)
    before = np.zeros((most + 1, n + 1), np.int64)
    least[0] = scatter[0]
    for number in range(1, most + 1):
        every = least[number - 1][:, None] + scatter
        before[number] = np.argmin(every, axis=0)
        least[number] = np.min(every, axis=0)
    return least, before


def _changes(before: Int64s, number: int, n: int) -> tuple[int, ...]:
    found: list[int] = []
    end = n
    for left in range(number, 0, -1):
        end = int(before[left, end])
        found.append(end)
    return tuple(reversed(found))


def middles(changes: tuple[int, ...], n: int) -> tuple[int, ...]:
    """Return the middle frame of each segment of a video with n frames."""
    starts, ends = (0, *changes), (*changes, n)
    return tuple((start + end - 1) // 2 for start, end in zip(starts, ends, strict=True))
