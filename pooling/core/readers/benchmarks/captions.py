"""Captions, videos and original positives, collected from the rows of any format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Int32s
from pooling.core.keys import key_fault, shown, text_fault
from pooling.core.problems import Problems
from pooling.moments.core.rows import MomentRows, SpanRowsBuilder

MAX_TEXT = 10_000
# All rows are in memory until they are stored, with about 500 bytes each.
MAX_ROWS = 1_000_000
MAX_BYTES = 256 << 20


@dataclass(frozen=True, slots=True, eq=False)
class CaptionsFile:
    """The captions, the videos they name, and the original positives.

    Captions and videos are numbered 0, 1, 2 … in order of first appearance. `lines` has the line
    of each caption, or 0 in formats without lines. `positive_queries` and `positive_videos` are
    int32 [n_positives]: the numbers of each pair, in the order of the file. `sources` are the names
    of the files, the one with the captions first, and `formats` their formats. moments: the spans
    of the original positives, if the format has them.
    """

    query_keys: tuple[str, ...]
    texts: tuple[str, ...]
    lines: tuple[int, ...]
    video_keys: tuple[str, ...]
    positive_queries: Int32s
    positive_videos: Int32s
    sha256: str
    notes: tuple[str, ...]
    sources: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    moments: MomentRows | None = None

    def with_moments(self, spans: SpanRowsBuilder) -> CaptionsFile:
        pairs = zip(self.positive_queries.tolist(), self.positive_videos.tolist(), strict=True)
        rows = spans.finish(self.query_keys, self.video_keys, pairs)
        return replace(self, moments=rows, notes=(*self.notes, *spans.notes()))


class CaptionsBuilder:
    """The captions, videos and original positives that have been read so far.

    Each method except `add_videos` checks its values. If a value is invalid, an error with the line
    is added to `problems`, and the row is left out. In formats without lines, `line` is 0, and
    errors begin with `place`.
    """

    def __init__(self, source: str, problems: Problems) -> None:
        self.source = source
        self._problems = problems
        self._queries: dict[str, int] = {}
        self._videos: dict[str, int] = {}
        self._texts: list[str] = []
        self._lines: list[int] = []
        self._positives: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._texts)

    def add_row(self, line: int, key: str, text: str, video: str, *, place: str = "") -> None:
        """Add a caption with an original positive. Each further positive has a separate row."""
        query = self.add_query(line, key, text, place=place, repeats=True)
        number = self.add_video(line, video, place=place)
        if query is not None and number is not None:
            self._add_pair(line, query, number, key, video, place)

    def add_query(
        self, line: int, key: str, text: str, *, place: str = "", repeats: bool = False
    ) -> int | None:
        """Add a caption, and return its number; None if it is refused.

        If `repeats` is True, the same caption may occur again with the same text.
        """
        query = self._queries.get(key)
        if query is not None and not repeats:
            self.refuse(f"caption {shown(key)} occurs twice", line, place)
            return None
        if query is None:
            return self._new_query(line, key, text, place)
        if text != self._texts[query]:
            reason = (
                f"caption {shown(key)} has a different text{self._in_line(query)}; give each text "
                "its own caption_id"
            )
            self.refuse(reason, line, place)
            return None
        return query

    def add_video(
        self, line: int, key: str, *, place: str = "", source: str | None = None
    ) -> int | None:
        """Add a video unless it exists, and return its number; None if it is refused."""
        number = self._videos.get(key)
        if number is None:
            if fault := key_fault(key, "video"):
                self.refuse(fault, line, place, source)
                return None
            number = self._videos[key] = len(self._videos)
        return number

    def add_videos(self, keys: Iterable[str]) -> None:
        """Add videos with valid keys. Earlier videos have lower numbers."""
        for key in keys:
            self._videos.setdefault(key, len(self._videos))

    def add_positive(self, line: int, key: str, video: str, source: str) -> None:
        """Add an original positive of a known caption."""
        number = self.add_video(line, video, source=source)
        if number is not None:
            self._add_pair(line, self._queries[key], number, key, video, "", source)

    def __contains__(self, key: str) -> bool:
        return key in self._queries

    def refuse(
        self, reason: str, line: int = 0, place: str = "", source: str | None = None
    ) -> None:
        reason = f"{place}: {reason}" if place else reason
        self._problems.add(reason, source or self.source, line or None)

    def finish_files(
        self, notes: Iterable[str] = (), *, files: Sequence[tuple[str, str, str]]
    ) -> CaptionsFile:
        """Return the content of several files. Raises `InvalidInput` if there is no caption.

        files: name, format and hash of each file. Even for one file, the hash of the result differs
        from the hash of the same file as a table.
        """
        sources, formats, hashes = zip(*files, strict=True)
        if not len(self) and not self._problems.number:
            raise InvalidInput("the file has no caption", source=sources[0])
        sha256 = hashlib.sha256(" ".join(("captions", *hashes)).encode()).hexdigest()
        file = self.finish(sha256, notes, sources=sources, formats=formats)
        without_positive = len(self) - len(np.unique(file.positive_queries))
        if not without_positive or self._problems.number:
            return file
        note = f"Captions without an original positive: {without_positive:,}."
        return replace(file, notes=(*file.notes, note))

    def finish(
        self,
        sha256: str,
        notes: Iterable[str] = (),
        *,
        sources: tuple[str, ...],
        formats: tuple[str, ...],
    ) -> CaptionsFile:
        pairs = np.array(list(self._positives), dtype=np.int32).reshape(-1, 2)
        return CaptionsFile(
            query_keys=tuple(self._queries),
            texts=tuple(self._texts),
            lines=tuple(self._lines),
            video_keys=tuple(self._videos),
            positive_queries=pairs[:, 0].copy(),
            positive_videos=pairs[:, 1].copy(),
            sha256=sha256,
            notes=tuple(notes),
            sources=sources,
            formats=formats,
        )

    def _new_query(self, line: int, key: str, text: str, place: str) -> int | None:
        fault = key_fault(key, "caption") or text_fault(text, "caption", longest=MAX_TEXT)
        if fault:
            self.refuse(fault, line, place)
            return None
        self._texts.append(text)
        self._lines.append(line)
        return self._queries.setdefault(key, len(self._queries))

    def _add_pair(
        self,
        line: int,
        query: int,
        number: int,
        key: str,
        video: str,
        place: str,
        source: str | None = None,
    ) -> None:
        pair = (query, number)
        if pair not in self._positives:
            self._positives[pair] = line
            return
        first = self._positives[pair]
        where = f" in line {first}; delete one of the lines" if first else " in the file"
        reason = f"caption {shown(key)} with video {shown(video)} is already{where}"
        self.refuse(reason, line, place, source)

    def _in_line(self, query: int) -> str:
        line = self._lines[query]
        return f" in line {line}" if line else ""
