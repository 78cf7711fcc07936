"""Captions in lines: `video#0 caption`, and `video caption` as MSVD is distributed.

The first is the form of dual encoding (Dong et al., CVPR 2019), the second that of
`AllVideoDescriptions.txt` (Chen and Dolan, ACL 2011).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import SourceFile, TextBlocks
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part
from pooling.core.readers.benchmarks.captions import (
    MAX_BYTES,
    MAX_ROWS,
    CaptionsBuilder,
    CaptionsFile,
)
from pooling.core.readers.benchmarks.video_list import VIDEO_LIST, VideoList, parse_video_list
from pooling.core.readers.layouts import layout_of_other
from pooling.core.readers.registry import Fit, Head

_NUMBERED = re.compile(r"[^\s,#]+#(?:\w+#)*[0-9]+[ \t]+\S.*")
# The key of a video has a digit or an underscore, which the first word of a sentence has not.
_NAMED = re.compile(r"""(?=\S*[0-9_])[^\s,;"'{}\[\]<>#]+[ \t]+\S.*""")
_COMMENT = "#"
_LOOKED_AT = 200


def read_lines(
    files: Mapping[str, SourceFile], _: Mapping[str, str], problems: Problems
) -> CaptionsFile:
    """Read a caption per line, of all videos or of those of a list.

    The key of a caption is `video#0` as in the file, or is made of the video and the position of
    the caption among those of its video. Lines that begin with `#` are comments.
    """
    listed = files.get(VIDEO_LIST.name)
    split = parse_video_list(listed, problems) if listed else None
    part = next(part for part in (NUMBERED, NAMED) if part.name in files)
    file = files[part.name]
    blocks = file.blocks(max_bytes=MAX_BYTES)
    builder = CaptionsBuilder(file.source, problems)
    if split is not None:
        builder.add_videos(split.lines)
    rows = _numbered_rows(blocks, builder) if part is NUMBERED else _named_rows(blocks, builder)
    with_captions = set()
    for number, (line, key, text, video) in enumerate(rows):
        if number == MAX_ROWS:
            raise InvalidInput(f"more than {MAX_ROWS:,} rows", source=file.source, line=line)
        if split is None or video in split.lines:
            with_captions.add(video)
            builder.add_row(line, key, text, video)
    _refuse_missing(split, with_captions, file.source, problems)
    lists = [split.entry] if split else []
    return builder.finish_files(files=[(file.source, part.name, blocks.sha256), *lists])


def _refuse_missing(
    split: VideoList | None, found: set[str], source: str, problems: Problems
) -> None:
    if split is None:
        return
    for key, line in split.lines.items():
        if key not in found:
            problems.add(f"video {shown(key)} is not in {source}", split.source, line)


def _lines(blocks: TextBlocks) -> Iterator[tuple[int, str, str]]:
    """Yield each line with a text: its number, its first word, and the rest."""
    for line, text in enumerate(blocks.text_lines(), start=1):
        first, *rest = text.strip().split(maxsplit=1) or [""]
        if first and not first.startswith(_COMMENT):
            yield line, first, rest[0] if rest else ""


def _numbered_rows(
    blocks: TextBlocks, builder: CaptionsBuilder
) -> Iterator[tuple[int, str, str, str]]:
    for line, key, text in _lines(blocks):
        video, mark, _ = key.partition("#")
        if mark and video:
            yield line, key, text, video
        else:
            builder.refuse(f"{shown(key)} does not have the form video#0", line)


def _named_rows(blocks: TextBlocks, _: CaptionsBuilder) -> Iterator[tuple[int, str, str, str]]:
    positions: Counter[str] = Counter()
    for line, video, text in _lines(blocks):
        yield line, f"{video}#{positions[video]}", text, video
        positions[video] += 1


def _first_lines(head: Head) -> list[str]:
    whole = head.text[: head.text.rfind("\n") + 1] or head.text
    lines = (line.strip() for line in whole.split("\n"))
    return list(islice((line for line in lines if line and line[0] != _COMMENT), _LOOKED_AT))


def _numbered_fits(head: Head) -> Fit:
    """Lines with such ids can be topics, too, if qrels come with them."""
    lines = _first_lines(head)
    if not lines or not all(map(_NUMBERED.fullmatch, lines)):
        return Fit.NO
    return Fit.SURE if head.is_alone else Fit.POSSIBLE


def _named_fits(head: Head) -> Fit:
    lines = _first_lines(head)
    if layout_of_other("\n".join(lines[:1])) or not all(map(_NAMED.fullmatch, lines)):
        return Fit.NO
    videos = {line.split(maxsplit=1)[0] for line in lines}
    if all(map(str.isdigit, videos)) and len(videos) == len(lines):  # numbers of topics
        return Fit.NO
    return Fit.POSSIBLE if lines else Fit.NO


NUMBERED: Final = Part("numbered-lines", "captions in lines 'video#0 caption'", _numbered_fits)
NAMED: Final = Part("lines", "captions in lines 'video caption'", _named_fits)
READER: Final = BenchmarkReader(
    name="lines",
    title="Lines of a video and a caption",
    place=7,
    about="A line per caption: video#0 and the caption, or the video and the caption as in "
    "AllVideoDescriptions.txt of MSVD, all or those of a list of videos.",
    example="video7010#0 a girl sings",
    combinations=[[NUMBERED], [NAMED], [NUMBERED, VIDEO_LIST], [NAMED, VIDEO_LIST]],
    files="lines of a video and a caption, alone or with a list of videos",
    option="lines 'video#0 caption' or 'video caption', with a list of videos",
    read=read_lines,
)
