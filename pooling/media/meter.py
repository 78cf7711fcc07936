"""The progress of preparing one video. The process in the sandbox writes it into a small file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import cast

from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from pooling.media.files import seconds_of, start_of

# The share of the time that decoding the source takes. The rest is for writing the copy.
_DECODING = 0.4
_SECONDS_BETWEEN = 1.0


class Meter:
    """Writes the progress in whole % to a file, at most once a second."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._next = time.monotonic() + _SECONDS_BETWEEN

    def decoded(self, frame: VideoFrame, video: VideoStream) -> None:
        """Update the progress after a frame is decoded. See `pooling.media.probing.Watcher`."""
        container = cast(InputContainer, video.container)
        seconds = seconds_of(container)
        if seconds and frame.time is not None:
            self._note(_DECODING * (frame.time - start_of(container)) / seconds)

    def written(self, share: float) -> None:
        """Update the progress. share: the written share of the copy, from 0 to 1."""
        self._note(_DECODING + (1 - _DECODING) * share)

    def _note(self, share: float) -> None:
        if time.monotonic() >= self._next:
            self._path.write_text(str(max(0, min(99, int(100 * share)))))
            self._next = time.monotonic() + _SECONDS_BETWEEN
