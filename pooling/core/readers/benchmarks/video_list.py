"""Lists of videos, such as the splits of MSVD: one video key per line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.keys import key_fault, shown
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import Part
from pooling.core.readers.benchmarks.captions import MAX_BYTES, MAX_ROWS
from pooling.core.readers.registry import Fit, Head

# The possible headers of a list in CSV form, such as those of MSR-VTT.
HEADERS = ("video_id", "video")


@dataclass(frozen=True, slots=True)
class VideoList:
    """The keys in the order of the file, each with its line, and the hash of the content."""

    lines: dict[str, int]
    source: str
    sha256: str

    @property
    def entry(self) -> tuple[str, str, str]:
        """Its name, format and hash."""
        return self.source, VIDEO_LIST.name, self.sha256


def parse_video_list(file: SourceFile, problems: Problems) -> VideoList:
    """Read one key per line. A first line in `HEADERS` and empty lines are skipped.

    A key that is invalid or repeated is added to `problems`.
    """
    blocks, source = file.blocks(max_bytes=MAX_BYTES), file.source
    lines: dict[str, int] = {}
    for line, text in enumerate(blocks.text_lines(), start=1):
        key = text.strip()
        if not key or (line == 1 and key.lower() in HEADERS):
            continue
        if fault := key_fault(key, "video"):
            problems.add(fault, source, line)
        elif key in lines:
            problems.add(f"video {shown(key)} is already in line {lines[key]}", source, line)
        elif len(lines) == MAX_ROWS:
            raise InvalidInput(f"more than {MAX_ROWS:,} rows", source=source, line=line)
        else:
            lines[key] = line
    if not lines and not problems.number:
        raise InvalidInput("the list has no video", source=source, line=1)
    return VideoList(lines, source, blocks.sha256)


def _fits(head: Head) -> Fit:
    is_list = head.first.lower() in HEADERS or not re.search(r"[\s,;]", head.first)
    return Fit.POSSIBLE if head.first and head.first[0] not in "{[<" and is_list else Fit.NO


VIDEO_LIST: Final = Part("video-list", "list of videos", _fits)
