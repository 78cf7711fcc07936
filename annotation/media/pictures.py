"""Decoding of uploaded pictures.

Import this module only in a sandbox, because the files are not trusted.

Only three formats are opened. Only the pixels are stored, and no metadata such as place, camera or
name.
"""

from __future__ import annotations

import io
from base64 import b64decode, b64encode
from typing import cast

import av
import numpy as np
import numpy.typing as npt
from av.video.frame import VideoFrame

from hearth.shared.errors import InvalidInput
from pooling.media.pictures import encode_jpeg

MAX_PIXELS = 24_000_000
MAX_SIDE = 1600
"""Pixels; larger pictures are scaled down."""

_OPTIONS = {
    "format_whitelist": "jpeg_pipe,png_pipe,webp_pipe",
    "protocol_whitelist": "",
    "max_pixels": str(MAX_PIXELS),
}
_REFUSED = (
    "This is not a JPEG, PNG or WebP picture, it is damaged, or it has more than "
    f"{MAX_PIXELS // 10**6} megapixels."
)

Pixels = npt.NDArray[np.uint8]


def as_jpeg_base64(content: str) -> str:
    """Call `as_jpeg` with a picture in Base64. Return the result in Base64.

    A sandbox passes JSON, which cannot contain bytes.
    """
    return b64encode(as_jpeg(b64decode(content))).decode()


def as_jpeg(content: bytes) -> bytes:
    """Return the picture as a JPEG file: upright, at most `MAX_SIDE` wide and high.

    Transparent parts become white. An animation becomes its first frame. Raises `InvalidInput` with
    a message that can be shown.
    """
    frame = _first_frame(content)
    share = min(1.0, MAX_SIDE / max(frame.width, frame.height))
    width, height = (max(1, round(side * share)) for side in (frame.width, frame.height))
    pixels = cast(Pixels, frame.reformat(width, height, format="rgba").to_ndarray())
    # The camera stored the rotation in degrees, and `rot90` takes quarter turns. Both are
    # counter-clockwise.
    upright = np.rot90(_blend_with_white(pixels), round(frame.rotation / 90))
    even = VideoFrame.from_ndarray(np.ascontiguousarray(upright), format="rgb24")
    return encode_jpeg(even.reformat(format="yuvj420p", dst_colorspace="ITU601"))


def _first_frame(content: bytes) -> VideoFrame:
    try:
        with av.open(io.BytesIO(content), "r", options=_OPTIONS) as container:
            container.streams.video[0].codec_context.options = {"max_pixels": str(MAX_PIXELS)}
            for frame in container.decode(video=0):
                return frame
    except (av.FFmpegError, IndexError, ValueError, UnicodeDecodeError) as error:
        raise InvalidInput(_REFUSED) from error
    raise InvalidInput(_REFUSED)


def _blend_with_white(pixels: Pixels) -> Pixels:
    """Return RGB [height, width, 3] of RGBA [height, width, 4] on white."""
    colours, alpha = pixels[..., :3].astype(np.uint16), pixels[..., 3:].astype(np.uint16)
    return ((colours * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)
