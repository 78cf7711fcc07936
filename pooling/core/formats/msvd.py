"""The captions of MSVD: `{video: [caption, …], …}`, with a list of the videos of a split."""

from __future__ import annotations

from pathlib import Path

from hearth.shared.errors import InvalidInput
from pooling.core.formats.captions import MAX_BYTES, MAX_ROWS, CaptionsBuilder
from pooling.core.formats.video_list import VideoList
from pooling.core.json_members import JsonMembers
from pooling.core.keys import shown
from pooling.core.lines import Progress, TextBlocks
from pooling.core.problems import Problems


def parse_msvd(
    path: Path,
    source: str,
    split: VideoList | None,
    problems: Problems,
    progress: Progress | None = None,
) -> tuple[CaptionsBuilder, str]:
    """Read the captions of the videos of a split, or of all videos. Also return the content's hash.

    The n-th caption of a video has the key `VIDEO#n`, counted from 0. If there is a split, the
    videos are in its order. An error names the video, because JSON has no lines.
    """
    blocks = TextBlocks(path, source=source, progress=progress, max_line=None, max_bytes=MAX_BYTES)
    found: dict[str, list[object]] = {}
    for video, captions in JsonMembers(blocks, most=MAX_ROWS):
        if not isinstance(captions, list):
            reason = f"video {shown(video)} has no list of captions"
            raise InvalidInput(reason, source=source)
        if split is None or video in split.lines:
            found[video] = captions
    builder = CaptionsBuilder(source, problems)
    for video in found if split is None else split.lines:
        if video in found:
            _add_captions(builder, video, found[video])
        elif split is not None:
            reason = f"video {shown(video)} is not in {source}"
            problems.add(reason, split.source, split.lines[video])
    return builder, blocks.sha256


def _add_captions(builder: CaptionsBuilder, video: str, captions: list[object]) -> None:
    if not captions:
        builder.refuse(f"video {shown(video)} has no captions")
    if len(builder) + len(captions) > MAX_ROWS:
        raise InvalidInput(f"more than {MAX_ROWS:,} captions", source=builder.source)
    for number, text in enumerate(captions):
        place = f"caption {number + 1} of video {shown(video)}"
        if isinstance(text, str):
            builder.add_row(0, f"{video}#{number}", text, video, place=place)
        else:
            builder.refuse("the caption is not a text", place=place)
