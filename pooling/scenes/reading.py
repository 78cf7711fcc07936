"""The scenes of one video file, with a picture of their middle frames.

Import this module only in a sandbox.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import av
import numpy as np
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from pooling.core.arrays import Float64s
from pooling.media.files import opened, refusal, replacing
from pooling.media.pictures import encode_jpeg, resizer, shown_size
from pooling.media.sheets import frames_of, laid_out, tick_of, tile_size, time_range
from pooling.scenes.core.segmentation import middles, segment

FRAMES_MAX = 2000
"""The maximum number of frames to compare. A longer video is compared at fewer frames a second."""
STEADY_LEAST = 0.01
"""The least scatter of a steady scene: noise and small movements are no change of scene."""
PARTS_PER_CUT = 8
"""The number of parts for each cut. A cut lowers the scatter of mere noise by about vmax / N.

With N / m < e^2, this is more than the penalty grows, which is vmax / (2 N) ln(N / m)."""
SHADES = 6
"""The number of intervals of red, green and blue in a histogram."""


class Read(TypedDict):
    """n scenes: seconds [n] each. tile: the width and height of a middle frame in the picture."""

    n_frames: int
    starts: list[float]
    middles: list[float]
    ends: list[float]
    tile: tuple[int, int]


def read_scenes(
    source: str,
    picture: str,
    *,
    rate: float,
    most: int,
    steady: float | None,
    seconds: float | None,
    changes: Sequence[int] | None = None,
    n_frames: int = 0,
) -> Read:
    """Find the scenes of a video, and write their middle frames to the path `picture`.

    The video is divided into equal parts, of which the middle frames are compared. rate: the number
    of parts per second. seconds: the duration of a file whose header has none. changes, n_frames:
    the changes that were found in uploaded features, and the number of parts. Raises `InvalidInput`
    if the video cannot be read.
    """
    path = Path(source)
    try:
        with opened(path) as (container, video):
            start, length = time_range(container, video, seconds)
            duration = float(length * tick_of(video))
            if length <= 0:
                raise refusal(path, "the duration of the video is not known")
            n = n_frames or min(FRAMES_MAX, max(1, round(duration * rate)))
            wanted = [start + length * (2 * part + 1) // (2 * n) for part in range(n)]
            tiles = _tiles_at(container, video, path, wanted)
        if changes is None:
            changes = _changes(tiles, most, steady)
        shown = middles(tuple(changes), n)
        sheet = laid_out([tiles[frame] for frame in shown])
        content = encode_jpeg(sheet)
    except (av.FFmpegError, ValueError) as error:
        raise refusal(path, "no frame of the video can be compared") from error
    with replacing(Path(picture)) as part:
        part.write_bytes(content)
    edges = [round(duration * edge / n, 6) for edge in (0, *changes, n)]
    return {
        "n_frames": n,
        "starts": edges[:-1],
        "middles": [round(duration * (frame + 0.5) / n, 6) for frame in shown],
        "ends": edges[1:],
        "tile": (tiles[0].width, tiles[0].height),
    }


def _tiles_at(
    container: InputContainer, video: VideoStream, path: Path, wanted: Sequence[int]
) -> list[VideoFrame]:
    """Return the frame that is shown at each timestamp, scaled to a tile."""
    tiles: list[VideoFrame] = []
    resized = None
    last: VideoFrame | None = None
    for frame in frames_of(container, video, path):
        if resized is None:
            size = tile_size(shown_size(video, frame.rotation))
            resized = resizer(size, frame.rotation, "yuvj420p")
        due = bisect_left(wanted, frame.pts or 0) - len(tiles)
        if due > 0:
            tiles += [resized(last or frame)] * due
        last = frame
        if len(tiles) == len(wanted):
            return tiles
    if last is None or resized is None:
        raise refusal(path, "no frame of the video can be decoded")
    # Players show the last frame until the end.
    return tiles + [resized(last)] * (len(wanted) - len(tiles))


def _changes(tiles: Sequence[VideoFrame], most: int, steady: float | None) -> tuple[int, ...]:
    features = np.stack([histogram(tile) for tile in tiles])
    if steady is None:
        scatter = float(((features - features.mean(axis=0)) ** 2).sum()) / len(features)
        steady = max(scatter, STEADY_LEAST)
    return segment(features, min(most, len(tiles) // PARTS_PER_CUT), steady).changes


def histogram(tile: VideoFrame) -> Float64s:
    """Return the square roots of the shares of the colours, float64 [SHADES ** 3], of length 1."""
    pixels = tile.to_ndarray(format="rgb24").reshape(-1, 3).astype(np.int64) * SHADES // 256
    colours = pixels @ np.array([SHADES * SHADES, SHADES, 1])
    shares = np.bincount(colours, minlength=SHADES**3) / len(colours)
    return np.sqrt(shares)
