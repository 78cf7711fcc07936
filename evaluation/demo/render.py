"""Scenes as frames and as H.264 MP4 files that any browser plays.

Shapes are drawn from signed distances (negative inside). This makes edges smooth without drawing
more pixels than the frame has.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Protocol

import av
import numpy as np
from numpy.typing import NDArray

from evaluation.demo import shapes

FRAME_RATE = 15
SCALE = 1.6
"""Pixels per point; frames are 512 x 384.

Both sides are multiples of 16. For other sizes, x264 reads memory beyond the edge, so the same
scene does not always become the same bytes.
"""

_RGB: dict[shapes.Colour | shapes.Background, tuple[int, int, int]] = {
    shapes.Colour.RED: (222, 38, 44),
    shapes.Colour.BLUE: (38, 92, 226),
    shapes.Colour.GREEN: (38, 160, 66),
    shapes.Colour.YELLOW: (250, 214, 36),
    shapes.Colour.PURPLE: (156, 62, 200),
    shapes.Colour.ORANGE: (250, 132, 24),
    shapes.Background.WHITE: (246, 246, 242),
    shapes.Background.BLACK: (18, 18, 22),
    shapes.Background.GREY: (136, 138, 142),
}
_RIM = 1.6  # width of the darker edge in points; it makes yellow visible on white
_RIM_SHADE = 0.62

# Number of tips, distance of the inner corners from the centre in radii, and rotation in radians.
# An inner corner lies between two tips. On a straight side, it is the middle of the side.
_POLYGONS = {
    shapes.Form.SQUARE: (4, np.cos(np.pi / 4), np.pi / 4),
    shapes.Form.TRIANGLE: (3, np.cos(np.pi / 3), 0.0),
    shapes.Form.STAR: (5, 0.45, 0.0),
}

_Floats = NDArray[np.float32]
_Frame = NDArray[np.uint8]


class Figure(Protocol):
    """A shape of a scene: its looks, and its placement at each time."""

    @property
    def form(self) -> shapes.Form: ...
    @property
    def colour(self) -> shapes.Colour: ...
    def at(self, time: float) -> shapes.Placement: ...


class Scene(Protocol):
    """The content of a video. times: those of its frames."""

    @property
    def figures(self) -> Sequence[Figure]: ...
    @property
    def background(self) -> shapes.Background: ...
    @property
    def times(self) -> Sequence[float]: ...


def frame_size() -> tuple[int, int]:
    """Return width and height of a frame in pixels."""
    return round(shapes.WIDTH * SCALE), round(shapes.HEIGHT * SCALE)


def render_frame(scene: Scene, time: float) -> _Frame:
    """Return the frame at one of its times: RGB, uint8 [height, width, 3]."""
    width, height = frame_size()
    frame = np.empty((height, width, 3), dtype=np.uint8)
    frame[:] = _RGB[scene.background]
    for figure in scene.figures:
        _draw(frame, figure, figure.at(time))
    return frame


def render_frames(scene: Scene) -> Iterator[_Frame]:
    """Return all frames in order, `FRAME_RATE` per second."""
    return (render_frame(scene, time) for time in scene.times)


def write_video(scene: Scene, target: Path) -> None:
    """Write the scene as MP4 without sound."""
    write_frames(render_frames(scene), target)


def write_frames(frames: Iterable[_Frame], target: Path) -> None:
    """Write frames as MP4: H.264, yuv420p, index first, `FRAME_RATE` per second."""
    part = target.with_name(f".{target.name}.part")
    try:
        _encode(frames, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def render_all(
    scenes: Sequence[Scene],
    targets: Sequence[Path],
    progress: Callable[[int, int], None] | None = None,
    *,
    workers: int | None = None,
) -> None:
    """Write one video per scene. `progress(done, total)` is called in the thread of the caller.

    Threads are enough, because most of the time is spent in the encoder, outside the interpreter.
    """
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        jobs = [pool.submit(write_video, *pair) for pair in zip(scenes, targets, strict=True)]
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                job.result()
                if progress:
                    progress(done, len(jobs))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _encode(frames: Iterable[_Frame], path: Path) -> None:
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        # With one thread per encoder, the bytes do not depend on the number of processors.
        options = {"preset": "veryfast", "crf": "24", "threads": "1", "tune": "animation"}
        stream = container.add_stream("libx264", rate=FRAME_RATE, options=options)
        stream.width, stream.height = frame_size()
        stream.pix_fmt = "yuv420p"
        stream.gop_size = FRAME_RATE  # a key frame per second, for quick seeking
        for pixels in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))


def _draw(frame: _Frame, figure: Figure, place: shapes.Placement) -> None:
    """Draw the figure into the frame. Only pixels near it change."""
    reach = place.radius + 2
    rows = _span(place.y, reach, frame.shape[0])
    columns = _span(place.x, reach, frame.shape[1])
    x, y = _centres(columns) - np.float32(place.x), _centres(rows) - np.float32(place.y)
    distance = _distance(figure.form, place, x[np.newaxis, :], y[:, np.newaxis])
    colour = np.array(_RGB[figure.colour], dtype=np.float32)
    inner = _coverage(distance + _RIM)[..., np.newaxis]
    paint = colour * (_RIM_SHADE + (1 - _RIM_SHADE) * inner)
    cover = _coverage(distance)[..., np.newaxis]
    patch = frame[rows, columns]
    patch[:] = np.rint(patch + (paint - patch) * cover).astype(np.uint8)


def _span(centre: float, reach: float, limit: int) -> slice:
    start = int((centre - reach) * SCALE)
    return slice(max(start, 0), min(int((centre + reach) * SCALE) + 1, limit))


def _centres(pixels: slice) -> _Floats:
    """Return the centres of the pixels in points."""
    centres = np.arange(pixels.start, pixels.stop, dtype=np.float32) + np.float32(0.5)
    return centres / np.float32(SCALE)


def _coverage(distance: _Floats) -> _Floats:
    """Return the share of each pixel that is inside, from its signed distance in points."""
    covered: _Floats = np.clip(0.5 - distance * np.float32(SCALE), 0, 1)
    return covered


def _distance(form: shapes.Form, place: shapes.Placement, x: _Floats, y: _Floats) -> _Floats:
    """Return the signed distance from the outline in points, [h, w].

    x: [1, w], y: [h, 1], both from the centre of the form. A form with n equal tips is folded onto
    half of one tip, where its outline is a straight line from the tip to the inner corner.
    """
    radius = np.float32(place.radius)
    from_centre = np.sqrt(x * x + y * y)
    if form is shapes.Form.CIRCLE:
        return from_centre - radius
    tips, inner, turn = _POLYGONS[form]
    sector = np.float32(2 * np.pi / tips)
    angle = np.arctan2(y, x) + np.float32(np.pi / 2 + turn - place.angle)
    folded = np.abs(angle - sector * np.rint(angle / sector))
    u, v = from_centre * np.cos(folded) - radius, from_centre * np.sin(folded)
    side_u = radius * np.float32(inner * np.cos(np.pi / tips) - 1)
    side_v = radius * np.float32(inner * np.sin(np.pi / tips))
    along = np.clip((u * side_u + v * side_v) / (side_u**2 + side_v**2), 0, 1)
    off = np.sqrt((u - along * side_u) ** 2 + (v - along * side_v) ** 2)
    signed: _Floats = np.where(u * side_v > v * side_u, off, -off)
    return signed
