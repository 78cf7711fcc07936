"""Files of tags, such as the 20 categories of MSR-VTT: one row per tag of a caption or video."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from pooling.core.arrays import Int32s
from pooling.core.keys import key_fault, name_fault, shown
from pooling.core.lines import Progress, SourceFile
from pooling.core.readers.registry import Reader, Readers
from pooling.core.table import CsvTable

CAPTION, VIDEO = "caption_id", "video_id"
MAX_TAG = 100
MAX_TAGS = 500
# A file with one tag for each of 200,000 captions has about 5 MB.
MAX_BYTES = 16 << 20

# The name that analyses use for captions without a tag.
NO_TAG = "no tag"


@dataclass(frozen=True, slots=True, eq=False)
class TagFile:
    """The tagged captions or videos of a file.

    of: `CAPTION` or `VIDEO`. numbers: the query or video numbers of each tag, int32 [n], ascending;
    the tags are in order of first appearance.
    """

    of: str
    numbers: Mapping[str, Int32s]
    notes: tuple[str, ...]


Numbers = Mapping[str, int]
TAGS: Final = Readers[Reader[[Numbers, Numbers], TagFile]]("tags", __package__)


def parse_tags(
    path: Path,
    *,
    query_numbers: Mapping[str, int],
    video_numbers: Mapping[str, int],
    progress: Progress | None = None,
    source: str | None = None,
) -> TagFile:
    """Read a file of tags, plain or gzip. Raises `InvalidInput`."""
    file = SourceFile.at(path, source, progress)
    return TAGS.choose(file).read(file, query_numbers, video_numbers)


def _read_table(file: SourceFile, query_numbers: Numbers, video_numbers: Numbers) -> TagFile:
    """Read the columns `caption_id,tag` or `video_id,tag`.

    Raises `InvalidInput` if a caption or video is unknown, if a tag is invalid, if a row is
    repeated, or if there are more than `MAX_TAGS` different tags.
    """
    table = CsvTable(file.blocks(max_bytes=MAX_BYTES), ("tag",), (CAPTION, VIDEO))
    found = _Tags(table)
    numbers = {CAPTION: query_numbers, VIDEO: video_numbers}
    of = ""
    for line, (tag, *keys) in table:
        of = of or _tagged_column(table)
        found.add(line, tag, keys[of == VIDEO], of.removesuffix("_id"), numbers[of])
    if not of:
        table.refuse("the file has a header but no tag", 1)
    return TagFile(of, found.numbers(), table.notes)


def _tagged_column(table: CsvTable) -> str:
    columns = [name for name in (CAPTION, VIDEO) if name in table.header]
    if len(columns) != 1:
        number = "both columns" if columns else "none of the columns"
        table.refuse(f"the header has {number} {shown(CAPTION)} and {shown(VIDEO)}; use one", 1)
    return columns[0]


class _Tags:
    """The tags of the rows that have been read."""

    def __init__(self, table: CsvTable) -> None:
        self.table = table
        # The tags, each with its tagged numbers and their lines.
        self.lines: dict[str, dict[int, int]] = {}

    def add(self, line: int, tag: str, key: str, noun: str, numbers: Mapping[str, int]) -> None:
        if key not in numbers:
            self.table.refuse(key_fault(key, noun) or f"unknown {noun} {shown(key)}", line)
        if tag not in self.lines:
            self._add_tag(line, tag)
        first = self.lines[tag].setdefault(numbers[key], line)
        if first != line:
            reason = f"{noun} {shown(key)} already has the tag {shown(tag)} in line {first}"
            self.table.refuse(reason, line)

    def _add_tag(self, line: int, tag: str) -> None:
        if fault := tag_fault(tag):
            self.table.refuse(fault, line)
        if len(self.lines) == MAX_TAGS:
            self.table.refuse(f"the file has more than {MAX_TAGS:,} different tags", line)
        self.lines[tag] = {}

    def numbers(self) -> dict[str, Int32s]:
        return {tag: np.array(sorted(lines), np.int32) for tag, lines in self.lines.items()}


def tag_fault(tag: str) -> str | None:
    """Return why `tag` cannot be a tag, or None."""
    if fault := name_fault(tag, "tag", longest=MAX_TAG):
        return fault
    if tag != tag.strip():
        return f"the tag {shown(tag)} begins or ends with a space"
    if tag == NO_TAG:
        return f"the tag {shown(tag)} is reserved for captions without a tag"
    return None


READER: Final = Reader(
    kind=TAGS.kind,
    name="table",
    title="CSV with the columns caption_id,tag or video_id,tag",
    about="One row for each tag. The tag of a video applies to all captions that have the video as "
    "an original positive. A tag in the file replaces the stored tag of the same name. Other tags "
    "stay.",
    example="video_id,tag\nv7,sports\nv7,animals\nv9,music",
    read=_read_table,
)
