"""Single frames of a video: rotated, scaled and encoded as JPEG."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import av
from av.filter import Graph
from av.video.codeccontext import VideoCodecContext
from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from av.video.stream import VideoStream

from hearth.shared.sandbox.modules import load_modules

load_modules(av)  # each decoder imports this module

_TURNS = {90: ("cclock",), 180: ("clock", "clock"), 270: ("clock",)}
_QUALITY = 4  # of JPEG, from 2 (best) to 31


def shown_size(video: VideoStream, rotation: int) -> tuple[int, int]:
    """Return the width and height at which players show the video: square pixels, rotated."""
    aspect = video.sample_aspect_ratio or Fraction(1)
    return _rotated_size((max(round(video.width * aspect), 1), video.height), rotation)


def resizer(
    size: tuple[int, int], rotation: int, pixel_format: str
) -> Callable[[VideoFrame], VideoFrame]:
    """Return a function that scales, rotates and converts frames.

    size: the width and height of the result, after the rotation. rotation: the degrees by which
    players rotate the frames counter-clockwise. pixel_format: yuv420p or yuvj420p.

    In yuv420p, black is 16 and white is 235, as in videos. In yuvj420p they are 0 and 255, as in
    JPEG files. JPEG files also use the colour space BT.601, whereas videos keep theirs.
    """
    size_before = _rotated_size(size, rotation)
    graph = _turning_graph(size_before, rotation, pixel_format)
    as_jpeg = pixel_format == "yuvj420p"
    shades = ColorRange.JPEG if as_jpeg else ColorRange.MPEG
    colours = Colorspace.ITU601 if as_jpeg else None
    scaler = VideoReformatter()  # reuses its tables, unlike frame.reformat()

    def resized(frame: VideoFrame) -> VideoFrame:
        scaled = scaler.reformat(
            frame,
            *size_before,
            format=pixel_format,
            dst_color_range=shades,
            dst_colorspace=colours,
            threads=1,  # several files are prepared at once, one per core
        )
        if graph is None:
            return scaled
        graph.vpush(scaled)
        return graph.vpull()

    return resized


def encode_jpeg(picture: VideoFrame) -> bytes:
    """Encode a frame in yuvj420p as a JPEG file."""
    encoder: VideoCodecContext = av.CodecContext.create("mjpeg", "w")
    encoder.width, encoder.height, encoder.pix_fmt = picture.width, picture.height, "yuvj420p"
    encoder.time_base = Fraction(1)
    encoder.qmin = encoder.qmax = _QUALITY
    encoder.thread_count = 1
    picture.pts, picture.time_base = 0, Fraction(1)
    return b"".join(bytes(packet) for packet in [*encoder.encode(picture), *encoder.encode()])


def _rotated_size(size: tuple[int, int], rotation: int) -> tuple[int, int]:
    # Players rotate by multiples of 90 degrees only and ignore other angles.
    return (size[1], size[0]) if rotation % 180 == 90 else size


def _turning_graph(size: tuple[int, int], rotation: int, pixel_format: str) -> Graph | None:
    """Return filters that rotate frames counter-clockwise, or None if no rotation is needed."""
    turns = _TURNS.get(rotation % 360)
    if turns is None:
        return None
    graph = Graph()
    source = graph.add_buffer(
        width=size[0],
        height=size[1],
        format=VideoFormat(pixel_format),
        time_base=Fraction(1, 1000),
    )
    filters = [graph.add("transpose", turn) for turn in turns]
    graph.link_nodes(source, *filters, graph.add("buffersink")).configure()
    return graph
