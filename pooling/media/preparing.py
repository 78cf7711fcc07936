"""All files of one video for the site, made from an untrusted source.

Import this module only in a sandbox.
"""

from __future__ import annotations

from pathlib import Path

from config.shared.errors import InvalidInput
from pooling.media.sheets import ContactSheet
from pooling.media.writing import ensure_playable, write_poster


def prepare(source: str, file: str, poster: str, sheet: str) -> tuple[float, bool]:
    """Write a playable copy of the source, a poster and a contact sheet to these paths.

    Return the duration in seconds, and whether a contact sheet could be made. Raises `InvalidInput`
    if the source cannot be played.
    """
    frames = ContactSheet()
    info = ensure_playable(Path(source), Path(file), frames.watch)
    write_poster(Path(file), Path(poster))
    try:
        frames.write(Path(file), Path(sheet), info.duration)
    except InvalidInput:
        return info.duration, False
    return info.duration, True
