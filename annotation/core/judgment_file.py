"""Files of judgments, with the columns `caption_id,video_id,annotator,label`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Int32s, Int64s
from pooling.core.keys import key_fault, name_fault, shown
from pooling.core.lines import Progress, TextBlocks
from pooling.core.table import CsvTable

# All judgments are in memory until they are stored.
MAX_JUDGMENTS = 20_000_000
MAX_ANNOTATORS = 10_000

_WORDS = {"irrelevant": 0, "relevant": 1}


@dataclass(frozen=True, slots=True, eq=False)
class JudgmentsFile:
    """The judgments of a file, in its order.

    queries, videos: int32 [n], numbers of the benchmark. annotators: int32 [n], indices into
    `annotator_keys`, which ascend. labels: int8 [n].
    """

    queries: Int32s
    videos: Int32s
    annotators: Int32s
    labels: npt.NDArray[np.int8]
    annotator_keys: tuple[str, ...]
    sha256: str
    notes: tuple[str, ...]


def parse_judgments(
    path: Path,
    *,
    query_numbers: Mapping[str, int],
    video_numbers: Mapping[str, int],
    labels: Collection[int] = (0, 1),
    progress: Progress | None = None,
    source: str | None = None,
) -> JudgmentsFile:
    """Read judgments, plain or gzipped. Labels are numbers of the scale, or relevant/irrelevant.

    Raises `InvalidInput` for an unknown caption or video, an invalid annotator key or label, or an
    annotator who judges a pair twice.
    """
    table = CsvTable(
        TextBlocks(path, source=source, progress=progress),
        ("caption_id", "video_id", "annotator", "label"),
    )
    rows = _Rows(table, query_numbers, video_numbers, labels)
    rows.read()
    if not rows.count:
        table.refuse("the file has a header but no judgments", 1)
    return rows.finish()


class _Rows:
    """The judgments read so far, stored in arrays of 17 bytes per judgment."""

    def __init__(
        self,
        table: CsvTable,
        query_numbers: Mapping[str, int],
        video_numbers: Mapping[str, int],
        labels: Collection[int],
    ) -> None:
        self.table = table
        self.query_numbers = query_numbers
        self.video_numbers = video_numbers
        self.label_values = {str(label): label for label in labels}
        if set(labels) == set(_WORDS.values()):  # on a graded scale, the words are ambiguous
            self.label_values |= _WORDS
        self.annotator_numbers: dict[str, int] = {}
        # For each part: queries, videos, annotators, labels and line numbers.
        self.parts: list[tuple[Int32s, Int32s, Int32s, npt.NDArray[np.int8], Int32s]] = []
        self.count = 0

    def read(self) -> None:
        for lines, columns in self.table.parts():
            if self.count + len(lines) > MAX_JUDGMENTS:
                line = lines[MAX_JUDGMENTS - self.count]
                self.table.refuse(f"more than {MAX_JUDGMENTS:,} judgments", line)
            self.add(lines, *columns)

    def add(
        self,
        lines: Sequence[int],
        query_keys: Sequence[str],
        video_keys: Sequence[str],
        annotator_keys: Sequence[str],
        label_texts: Sequence[str],
    ) -> None:
        queries = _numbers_of(query_keys, self.query_numbers)
        videos = _numbers_of(video_keys, self.video_numbers)
        labels = _numbers_of(label_texts, self.label_values)
        unknown = np.flatnonzero((queries < 0) | (videos < 0) | (labels < 0))
        if len(unknown):
            at = int(unknown[0])
            self.refuse(lines[at], query_keys[at], video_keys[at], label_texts[at])
        for key in dict.fromkeys(annotator_keys):
            if key not in self.annotator_numbers:
                self.add_annotator(lines[annotator_keys.index(key)], key)
        annotators = _numbers_of(annotator_keys, self.annotator_numbers)
        part = (queries, videos, annotators, labels.astype(np.int8), np.array(lines, np.int32))
        self.parts.append(part)
        self.count += len(lines)

    def add_annotator(self, line: int, key: str) -> None:
        if fault := name_fault(key, "annotator"):
            self.table.refuse(fault, line)
        if len(self.annotator_numbers) == MAX_ANNOTATORS:
            self.table.refuse(f"more than {MAX_ANNOTATORS:,} annotators", line)
        self.annotator_numbers[key] = len(self.annotator_numbers)

    def refuse(self, line: int, query_key: str, video_key: str, label_text: str) -> NoReturn:
        """Refuse an invalid row. Raises `InvalidInput` with the reason."""
        if query_key not in self.query_numbers:
            fault = key_fault(query_key, "caption") or f"unknown caption {shown(query_key)}"
        elif video_key not in self.video_numbers:
            fault = key_fault(video_key, "video") or f"unknown video {shown(video_key)}"
        else:
            allowed = ", ".join(self.label_values)
            fault = f"the label must be one of {allowed}, not {shown(label_text)}"
        self.table.refuse(fault, line)

    def finish(self) -> JudgmentsFile:
        keys = sorted(self.annotator_numbers)
        places = np.empty(len(keys), dtype=np.int32)
        places[[self.annotator_numbers[key] for key in keys]] = np.arange(len(keys))
        queries, videos, annotators, labels, lines = map(
            np.concatenate, zip(*self.parts, strict=True)
        )
        result = JudgmentsFile(
            queries=queries,
            videos=videos,
            annotators=places[annotators],
            labels=labels,
            annotator_keys=tuple(keys),
            sha256=self.table.blocks.sha256,
            notes=self.table.notes,
        )
        self.refuse_repeated(result, lines)
        return result

    def refuse_repeated(self, result: JudgmentsFile, lines: Int32s) -> None:
        pairs = result.queries.astype(np.int64) * len(self.video_numbers) + result.videos
        codes: Int64s = pairs * len(result.annotator_keys) + result.annotators
        order = np.argsort(codes, kind="stable")
        repeated = np.flatnonzero(codes[order][1:] == codes[order][:-1])
        if not len(repeated):
            return
        at = repeated[np.argmin(order[repeated + 1])]
        first, second = int(order[at]), int(order[at + 1])
        annotator = shown(result.annotator_keys[result.annotators[first]])
        reason = f"annotator {annotator} already judged this pair in line {lines[first]}"
        self.table.refuse(reason, int(lines[second]))


def _numbers_of(keys: Sequence[str], numbers: Mapping[str, int]) -> Int32s:
    """Return the number of each key, -1 if it has none; int32 [n]."""
    return np.fromiter(map(numbers.get, keys, repeat(-1)), np.int32, len(keys))
