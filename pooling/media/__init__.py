"""Video files: what is in them, whether browsers play them, and how to make it so.

Files come from strangers. Only formats on a list are opened, playlists are not among
them, and nothing but the file itself is read. A file counts as a video only when its
pictures decode to the end: a truncated MP4 opens cleanly, and the browser stops in the
middle. Every reason for refusal is an `InvalidInput` with words fit to be shown.

Decoding a hostile file can take long: call this from a worker with a time limit.
"""

from pooling.media.files import MAX_SECONDS, MAX_SIDE
from pooling.media.probing import MediaInfo, is_playable, probe
from pooling.media.sheets import ContactSheet, write_sheet
from pooling.media.writing import ensure_playable, normalise, write_poster

__all__ = [
    "MAX_SECONDS",
    "MAX_SIDE",
    "ContactSheet",
    "MediaInfo",
    "ensure_playable",
    "is_playable",
    "normalise",
    "probe",
    "write_poster",
    "write_sheet",
]
