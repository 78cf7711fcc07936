"""Tags of captions or of videos, such as the 20 categories of MSR-VTT: a row for each tag."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pooling.core.arrays import Int32s
from pooling.core.keys import key_fault, name_fault, shown
from pooling.core.lines import Progress, TextBlocks
from pooling.core.table import CsvTable

CAPTION, VIDEO = "caption_id", "video_id"
MAX_TAG = 100
MAX_TAGS = 500
MAX_BYTES = 64 << 20

# What analyses call the captions that have none.
NO_TAG = "no tag"


@dataclass(frozen=True, slots=True, eq=False)
class TagFile:
    """Numbers by tag, in the order in which the tags first come.

    of: `CAPTION` or `VIDEO`, what is tagged; numbers: its numbers in the benchmark, int32 [n],
    ascending.
    """

    of: str
    numbers: Mapping[str, Int32s]
    notes: tuple[str, ...]


def parse_tags(
    path: Path,
    *,
    query_numbers: Mapping[str, int],
    video_numbers: Mapping[str, int],
    progress: Progress | None = None,
    source: str | None = None,
) -> TagFile:
    """Read `caption_id,tag` or `video_id,tag`, plain or gzip; the header tells which.

    Raises `InvalidInput` for an unknown caption or video, a bad tag, a row that is there twice,
    and more than `MAX_TAGS` different tags.
    """
    table = CsvTable(
        TextBlocks(path, source=source, progress=progress, max_bytes=MAX_BYTES),
        ("tag",),
        (CAPTION, VIDEO),
    )
    found = _Tags(table)
    numbers = {CAPTION: query_numbers, VIDEO: video_numbers}
    of = ""
    for line, (tag, *keys) in table:
        of = of or _what_is_tagged(table)
        found.add(line, tag, keys[of == VIDEO], of.removesuffix("_id"), numbers[of])
    if not of:
        table.refuse("there is a header but no tag", 1)
    return TagFile(of, found.numbers(), table.notes)


def _what_is_tagged(table: CsvTable) -> str:
    given = [name for name in (CAPTION, VIDEO) if name in table.header]
    if len(given) != 1:
        how_many = "both columns" if given else "none of the columns"
        table.refuse(f"the header has {how_many} {shown(CAPTION)} and {shown(VIDEO)}", 1)
    return given[0]


class _Tags:
    """What the rows read so far amount to."""

    def __init__(self, table: CsvTable) -> None:
        self.table = table
        # The line of each number, by tag.
        self.lines: dict[str, dict[int, int]] = {}

    def add(self, line: int, tag: str, key: str, what: str, numbers: Mapping[str, int]) -> None:
        if key not in numbers:
            self.table.refuse(key_fault(key, what) or f"unknown {what} {shown(key)}", line)
        if tag not in self.lines:
            self._add_tag(line, tag)
        first = self.lines[tag].setdefault(numbers[key], line)
        if first != line:
            reason = f"{what} {shown(key)} has the tag {shown(tag)} already in line {first}"
            self.table.refuse(reason, line)

    def _add_tag(self, line: int, tag: str) -> None:
        if fault := tag_fault(tag):
            self.table.refuse(fault, line)
        if len(self.lines) == MAX_TAGS:
            self.table.refuse(f"more than {MAX_TAGS:,} different tags", line)
        self.lines[tag] = {}

    def numbers(self) -> dict[str, Int32s]:
        return {tag: np.array(sorted(lines), np.int32) for tag, lines in self.lines.items()}


def tag_fault(tag: str) -> str | None:
    """Why `tag` cannot be one, or None."""
    if fault := name_fault(tag, "tag", longest=MAX_TAG):
        return fault
    if tag != tag.strip():
        return f"the tag {shown(tag)} begins or ends with a blank"
    return f"{shown(tag)} stands for what has none" if tag == NO_TAG else None
