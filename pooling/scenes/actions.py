"""The action that finds scenes, with its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from hearth.shared.filetypes import ZIP
from hearth.shared.options import Option
from pooling.core.keys import MAX_KEY
from pooling.core.lines import SourceFile

CUTS_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class FindScenes:
    """How the videos of a benchmark are divided into scenes.

    file: By default, the colours of frames are compared. Upload features of your own instead as an
        .npz or ZIP archive with a matrix [frames, features] for each video, named by its key, such
        as video7.npy, or as the .npy matrix of one video. The frames must be equally spaced.
    video: Only this video. A .npy matrix needs it.
    rate: A cut is found to within one of these frames. A long video is compared at 2,000 frames.
    most: A video has at most one scene more. By colours, it has at most one cut for eight frames.
    steady: vmax of kernel temporal segmentation. A smaller one finds more cuts. By default, the
        mean squared distance of a frame from the mean of its video.
    again: By default, only videos without scenes are divided.
    """

    file: Annotated[
        SourceFile | None,
        Option("Features", expected="A .npy matrix or an .npz archive", besides=ZIP),
    ] = None
    video: Annotated[str, Option("Video", length=MAX_KEY, metavar="KEY")] = ""
    rate: Annotated[float, Option("Frames compared per second", low=0.1, high=30)] = 8.0
    most: Annotated[int, Option("Maximum cuts per video", low=1, high=CUTS_MAX)] = 30
    steady: Annotated[float | None, Option("Scatter of a steady scene", low=0, high=1e12)] = None
    again: Annotated[bool, Option("Also divide videos that have scenes")] = False
