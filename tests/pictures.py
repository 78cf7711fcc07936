"""Pictures for tests, in the formats that browsers and phones send."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import av
import numpy as np
from av.video.frame import VideoFrame

RED, BLUE = [255, 0, 0], [0, 0, 255]


def picture(
    codec: str = "png", size: tuple[int, int] = (64, 32), *, above: Any = RED, below: Any = BLUE
) -> bytes:
    """Return an encoded picture with two colours, one above the other."""
    width, height = size
    pixels = np.empty((height, width, len(above)), np.uint8)
    pixels[: height // 2], pixels[height // 2 :] = above, below
    formats = {
        "png": "rgb24" if len(above) == 3 else "rgba",
        "mjpeg": "yuvj420p",
        "libwebp": "yuv420p",
    }
    frame = VideoFrame.from_ndarray(pixels, format="rgb24" if len(above) == 3 else "rgba")
    encoder = av.CodecContext.create(codec, "w")
    encoder.width, encoder.height, encoder.pix_fmt = width, height, formats[codec]  # type: ignore[attr-defined]
    encoder.time_base = Fraction(1)
    frame = frame.reformat(format=formats[codec])
    frame.pts, frame.time_base = 0, Fraction(1)
    packets = [*encoder.encode(frame), *encoder.encode()]  # type: ignore[attr-defined]
    return b"".join(bytes(packet) for packet in packets)
