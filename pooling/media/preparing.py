"""All files of one video for the site, made from an untrusted source.

Import this module only in a sandbox.
"""

from __future__ import annotations

from pathlib import Path

from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from hearth.shared.errors import InvalidInput
from pooling.media.meter import Meter
from pooling.media.sheets import ContactSheet
from pooling.media.writing import ensure_playable, write_poster


def prepare(source: str, file: str, poster: str, sheet: str, progress: str) -> tuple[float, bool]:
    """Write a playable copy of the source, a poster and a contact sheet to these paths.

    progress: the path to which the `Meter` writes. Return the duration in seconds, and whether a
    contact sheet could be made. Raises `InvalidInput` if the source cannot be played.
    """
    frames, meter = ContactSheet(), Meter(Path(progress))

    def watch(frame: VideoFrame, video: VideoStream) -> None:
        frames.watch(frame, video)
        meter.decoded(frame, video)

    info = ensure_playable(Path(source), Path(file), watch, meter.written)
    write_poster(Path(file), Path(poster))
    try:
        frames.write(Path(file), Path(sheet), info.duration)
    except InvalidInput:
        return info.duration, False
    return info.duration, True
