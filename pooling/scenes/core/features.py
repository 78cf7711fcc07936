"""Uploaded features of the frames of videos."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import SourceFile
from pooling.core.readers.runs.matrix import checked_array
from pooling.core.zipped import is_zip, unpacked
from pooling.scenes.core.segmentation import segment

FRAMES_MAX = 5000
"""Segmentation needs memory for the square of this number."""
MEMBERS_MAX = 200_000

Changes = tuple[tuple[int, ...], int]
"""The changes of a video, and its number of frames."""


def changes_of_features(
    file: SourceFile, keys: Collection[str], video: str, most: int, steady: float | None
) -> dict[str, Changes]:
    """Return the changes of each video in a file of features, by its key.

    keys: those of all videos. video: the only video to read; a .npy file needs it. Raises
    `InvalidInput` if a matrix is damaged, too long or of no video.
    """
    if not is_zip(file):
        if not video:
            raise InvalidInput("a .npy matrix needs the key of its video", source=file.source)
        return {video: _changes(file, most, steady)}
    with unpacked(file, MEMBERS_MAX) as members:
        wanted = [one for one in members if not video or one.name == video]
        for member in wanted:
            if member.name not in keys:
                reason = f"there is no video {shown(member.name)}"
                raise InvalidInput(reason, source=member.file.source)
        if not wanted:
            raise InvalidInput(f"there is no matrix for {shown(video)}", source=file.source)
        if len({member.name for member in wanted}) < len(wanted):
            raise InvalidInput("a video has several matrices", source=file.source)
        return {one.name: _changes(one.file, most, steady) for one in wanted}


def _changes(file: SourceFile, most: int, steady: float | None) -> Changes:
    features: npt.NDArray[Any] = checked_array(file)
    if features.ndim != 2:
        raise InvalidInput("the matrix must have a row for each frame", source=file.source)
    if len(features) > FRAMES_MAX:
        reason = f"the matrix has {len(features):,} frames; the maximum is {FRAMES_MAX:,}"
        raise InvalidInput(reason, source=file.source)
    if not np.isfinite(features).all():
        raise InvalidInput("the matrix has values that are not finite", source=file.source)
    return segment(features, most, steady).changes, len(features)
