"""Video files: inspection, posters, contact sheets, and conversion to files that browsers play.

The files are untrusted. Only the formats listed in `pooling.media.files` are opened. Playlists are
not among them, so that a file cannot cause other files to be read. A file is accepted only if
frames at its end can be decoded, because a truncated MP4 opens without an error and stops in the
middle. Errors are raised as `InvalidInput`, whose texts can be shown to people.

Decoding a malicious file can take long, so call these functions from a worker with a time limit.
"""

from pooling.media.files import MAX_SECONDS, MAX_SIDE
from pooling.media.probing import MediaInfo, is_playable, probe
from pooling.media.sheets import ContactSheet, write_sheet
from pooling.media.writing import ensure_playable, normalise, write_poster
