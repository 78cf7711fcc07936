"""Conversion of pictures for guidelines to JPEG.

Uploaded files are not trusted. They are decoded in a sandbox, so that this process never loads a
decoder.
"""

from __future__ import annotations

from base64 import b64decode, b64encode

from hearth.shared.errors import InvalidInput
from hearth.shared.sandbox import Limits, Sandbox

MAX_BYTES = 2 << 20

_LIMITS = Limits(seconds=60, cpu_seconds=20, memory_mb=1024, file_mb=16)


def picture_sandbox() -> Sandbox:
    """Return a sandbox for `as_jpeg`. The same sandbox can convert many pictures."""
    return Sandbox("annotation.media.pictures:as_jpeg_base64")


def as_jpeg(content: bytes, sandbox: Sandbox) -> bytes:
    """Return the picture as a JPEG file: upright, without metadata, and not too large.

    Raises `InvalidInput` with a message that can be shown.
    """
    if len(content) > MAX_BYTES:
        raise InvalidInput(f"The picture is larger than {MAX_BYTES >> 20} MB.")
    return b64decode(sandbox.call(_LIMITS, content=b64encode(content).decode()))
