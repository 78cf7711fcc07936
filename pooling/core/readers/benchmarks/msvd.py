"""The captions of MSVD: `{video: [caption, …], …}`, with a list of the videos of a split."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.json_members import JsonMembers
from pooling.core.keys import shown
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part
from pooling.core.readers.benchmarks.captions import (
    MAX_BYTES,
    MAX_ROWS,
    CaptionsBuilder,
    CaptionsFile,
)
from pooling.core.readers.benchmarks.video_list import VIDEO_LIST, parse_video_list
from pooling.core.readers.registry import Fit, Head

_STRING = r'"(?:[^"\\]|\\.)*"'
# The first member is a list of texts. The first member of MSRVTT_data.json is not.
_START = re.compile(rf"\{{\s*{_STRING}\s*:\s*\[\s*(?:\"|\])")
# A member that is a list of anything but texts, as in files of similarities.
_OTHER_LIST = re.compile(r'[^\\]"\s*:\s*\[\s*[\[{0-9.-]')


def read_msvd(
    files: Mapping[str, SourceFile], _: Mapping[str, str], problems: Problems
) -> CaptionsFile:
    """Read the captions of the videos of a split, or of all videos.

    The n-th caption of a video has the key `VIDEO#n`, counted from 0. If there is a split, the
    videos are in its order. An error names the video, because JSON has no lines.
    """
    listed = files.get(VIDEO_LIST.name)
    split = parse_video_list(listed, problems) if listed else None
    source = files[MSVD.name].source
    blocks = files[MSVD.name].blocks(max_line=None, max_bytes=MAX_BYTES)
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
    lists = [split.entry] if split else []
    return builder.finish_files(files=[(source, MSVD.name, blocks.sha256), *lists])


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


def _fits(head: Head) -> Fit:
    is_msvd = _START.match(head.text) and not _OTHER_LIST.search(head.text)
    return Fit.POSSIBLE if is_msvd else Fit.NO


MSVD: Final = Part("msvd", "MSVD captions", _fits)
READER: Final = BenchmarkReader(
    name="msvd",
    title="MSVD",
    place=3,
    about="JSON with the captions of each video, and a list of the videos of a split.",
    example='{"video": ["caption", "caption"]}',
    combinations=[[MSVD], [MSVD, VIDEO_LIST]],
    files="MSVD captions, alone or with a list of videos",
    alone="MSVD captions ({video: [caption, …]}), alone or with a list of videos",
    option="{video: [caption, ...]} with a list of videos",
    read=read_msvd,
)
