"""The table of the videos of a benchmark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import urlsplit

from pooling.core.keys import NUMBER, key_fault, shown
from pooling.core.lines import Progress, SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks.captions import MAX_BYTES, MAX_ROWS
from pooling.core.readers.registry import Reader, Readers
from pooling.core.table import CsvTable

MAX_FILE_NAME = 1_000
MAX_URL = 2_000


@dataclass(frozen=True, slots=True)
class VideoRow:
    """One row of videos.csv. Empty columns are None. `duration` is in seconds."""

    key: str
    file: str | None
    url: str | None
    duration: float | None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class VideosFile:
    """The rows of videos.csv in the order of the file."""

    videos: tuple[VideoRow, ...]
    sha256: str
    notes: tuple[str, ...]


VIDEOS: Final = Readers[Reader[[Problems], VideosFile]]("videos", __package__)


def parse_videos(
    path: Path,
    *,
    problems: Problems | None = None,
    progress: Progress | None = None,
    source: str | None = None,
) -> VideosFile:
    """Read a list of videos. If `problems` is None, the first error is raised."""
    file = SourceFile.at(path, source, progress)
    return VIDEOS.choose(file).read(file, problems or Problems(stop_at=1))


def _read_table(file: SourceFile, problems: Problems) -> VideosFile:
    """Read `video_id` and any of the optional columns `file,url,duration`.

    A row is an error if its key is invalid or repeated, if its file name could lead out of the
    media folder, if its URL is not plain http(s), or if its duration is not a number of seconds
    above 0.
    """
    table = CsvTable(
        file.blocks(max_bytes=MAX_BYTES),
        ("video_id",),
        ("file", "url", "duration"),
        problems=problems,
    )
    lines: dict[str, int] = {}
    videos: list[VideoRow] = []
    for line, (key, name, url, written) in table:
        # Where a comma is the decimal mark, spreadsheets separate the cells by semicolons.
        duration = written.replace(",", ".") if table.delimiter == ";" else written
        if len(lines) == MAX_ROWS:
            table.refuse(f"more than {MAX_ROWS:,} rows", line)
        first = lines.setdefault(key, line)
        fault = _video_fault(key, name, url, duration)
        if first != line:
            fault = f"video {shown(key)} is already in line {first}; delete one of the lines"
        if fault:
            problems.add(fault, table.blocks.source, line)
            continue
        seconds = float(duration) if duration else None
        videos.append(VideoRow(key, name or None, url or None, seconds, line))
    if not videos and not problems.number:
        table.refuse("the file has a header but no video", 1)
    return VideosFile(tuple(videos), table.blocks.sha256, table.notes)


def _video_fault(key: str, file: str, url: str, duration: str) -> str | None:
    return (
        key_fault(key, "video")
        or (_file_fault(file) if file else None)
        or (_url_fault(url) if url else None)
        or (_duration_fault(duration) if duration else None)
    )


def _file_fault(name: str) -> str | None:
    parts: Sequence[str] = PurePosixPath(name).parts
    if len(name) > MAX_FILE_NAME or not name.isprintable():
        return f"the file name {shown(name)} is too long or has unprintable characters"
    # On Windows a backslash separates folders and a colon ends the name of a drive.
    if name.startswith("/") or ".." in parts or "\\" in name or ":" in name:
        return (
            f"the file name {shown(name)} is not allowed; use a path inside the media folder, "
            "without '..', backslashes and colons"
        )
    return None


def _url_fault(url: str) -> str | None:
    fault = f"the url {shown(url)} is not a plain http or https address"
    if len(url) > MAX_URL or not url.isprintable() or " " in url or "\\" in url:
        return fault
    try:
        parts = urlsplit(url)
        plain = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
        return None if plain and parts.port != 0 else fault
    except ValueError:  # a broken IPv6 address or port
        return fault


def _duration_fault(duration: str) -> str | None:
    if NUMBER.fullmatch(duration) and 0 < float(duration) < math.inf:
        return None
    return f"the duration {shown(duration)} is not a number of seconds above 0"


READER: Final = Reader(
    kind=VIDEOS.kind,
    name="table",
    title="CSV with the columns video_id,file,url,duration",
    read=_read_table,
)
