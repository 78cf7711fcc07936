"""The two files of a benchmark: captions with their original positives, and videos."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import numpy as np

from pooling.core.arrays import Int32s
from pooling.core.keys import NUMBER, key_fault, shown, text_fault
from pooling.core.lines import Progress, TextBlocks
from pooling.core.table import CsvTable

MAX_TEXT = 10_000
MAX_FILE_NAME = 1_000
MAX_URL = 2_000
# All rows are in memory until they are stored, with about 500 bytes each.
MAX_ROWS = 1_000_000
MAX_BYTES = 256 << 20


@dataclass(frozen=True, slots=True, eq=False)
class CaptionsFile:
    """The captions, the videos they name, and the original positives.

    Captions and videos are numbered 0, 1, 2 … in order of first appearance. `positive_queries` and
    `positive_videos` are int32 [n_positives]: the numbers of each pair, in the order of the file.
    """

    query_keys: tuple[str, ...]
    texts: tuple[str, ...]
    video_keys: tuple[str, ...]
    positive_queries: Int32s
    positive_videos: Int32s
    sha256: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VideoRow:
    """One row of videos.csv. Empty columns are None. `duration` is in seconds."""

    key: str
    file: str | None
    url: str | None
    duration: float | None


@dataclass(frozen=True, slots=True)
class VideosFile:
    """The rows of videos.csv in the order of the file."""

    videos: tuple[VideoRow, ...]
    sha256: str
    notes: tuple[str, ...]


def parse_captions(
    path: Path, *, progress: Progress | None = None, source: str | None = None
) -> CaptionsFile:
    """Read `caption_id,caption,video_id`, with one row for each original positive of a caption.

    Raises `InvalidInput` if a key or text is invalid, if one caption_id has different texts, or if
    a row is repeated.
    """
    table = CsvTable(
        TextBlocks(path, source=source, progress=progress, max_bytes=MAX_BYTES),
        ("caption_id", "caption", "video_id"),
    )
    captions = _Captions(table)
    for line, (query_key, text, video_key) in table:
        _check_number(table, len(captions.positives), line)
        captions.add(line, query_key, text, video_key)
    if not captions.positives:
        table.refuse("the file has a header but no caption", 1)
    return captions.finish()


class _Captions:
    """The captions, videos and positives of the rows that have been read."""

    def __init__(self, table: CsvTable) -> None:
        self.table = table
        self.query_numbers: dict[str, int] = {}
        self.video_numbers: dict[str, int] = {}
        self.texts: list[str] = []
        self.first_lines: list[int] = []
        self.positives: dict[tuple[int, int], int] = {}

    def add(self, line: int, query_key: str, text: str, video_key: str) -> None:
        query = self.query_numbers.get(query_key)
        if query is None:
            query = self._add_query(line, query_key, text)
        elif text != self.texts[query]:
            first = self.first_lines[query]
            reason = (
                f"caption {shown(query_key)} has a different text in line {first}; give each text "
                "its own caption_id"
            )
            self.table.refuse(reason, line)
        video = self.video_numbers.get(video_key)
        if video is None:
            if fault := key_fault(video_key, "video"):
                self.table.refuse(fault, line)
            video = self.video_numbers[video_key] = len(self.video_numbers)
        first = self.positives.setdefault((query, video), line)
        if first != line:
            pair = f"caption {shown(query_key)} with video {shown(video_key)}"
            self.table.refuse(f"{pair} is already in line {first}; delete one of the lines", line)

    def _add_query(self, line: int, key: str, text: str) -> int:
        fault = key_fault(key, "caption") or text_fault(text, "caption", longest=MAX_TEXT)
        if fault:
            self.table.refuse(fault, line)
        self.texts.append(text)
        self.first_lines.append(line)
        return self.query_numbers.setdefault(key, len(self.query_numbers))

    def finish(self) -> CaptionsFile:
        pairs = np.array(list(self.positives), dtype=np.int32)
        return CaptionsFile(
            query_keys=tuple(self.query_numbers),
            texts=tuple(self.texts),
            video_keys=tuple(self.video_numbers),
            positive_queries=pairs[:, 0].copy(),
            positive_videos=pairs[:, 1].copy(),
            sha256=self.table.blocks.sha256,
            notes=self.table.notes,
        )


def parse_videos(
    path: Path, *, progress: Progress | None = None, source: str | None = None
) -> VideosFile:
    """Read `video_id` and any of the optional columns `file,url,duration`.

    Raises `InvalidInput` if a key is invalid or repeated, if a file name leads out of the media
    folder, if a URL is not plain http(s), or if a duration is not a number of seconds above 0.
    """
    table = CsvTable(
        TextBlocks(path, source=source, progress=progress, max_bytes=MAX_BYTES),
        ("video_id",),
        ("file", "url", "duration"),
    )
    lines: dict[str, int] = {}
    videos: list[VideoRow] = []
    for line, (key, file, url, duration) in table:
        _check_number(table, len(videos), line)
        first = lines.setdefault(key, line)
        if first != line:
            table.refuse(
                f"video {shown(key)} is already in line {first}; delete one of the lines", line
            )
        if fault := _video_fault(key, file, url, duration):
            table.refuse(fault, line)
        seconds = float(duration) if duration else None
        videos.append(VideoRow(key, file or None, url or None, seconds))
    if not videos:
        table.refuse("the file has a header but no video", 1)
    return VideosFile(tuple(videos), table.blocks.sha256, table.notes)


def _check_number(table: CsvTable, rows: int, line: int) -> None:
    if rows == MAX_ROWS:
        table.refuse(f"more than {MAX_ROWS:,} rows", line)


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
        return f"the file name {shown(name)} leads out of the media folder; use a relative path"
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
