"""Files of judgments, with the columns `caption_id,video_id,annotator,label`."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from dataclasses import dataclass
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
    if not rows.lines:
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
        self.queries, self.videos, self.annotators = array("i"), array("i"), array("i")
        self.labels, self.lines = array("b"), array("i")

    def read(self) -> None:
        for line, (query_key, video_key, annotator_key, label_text) in self.table:
            query = self.query_numbers.get(query_key)
            video = self.video_numbers.get(video_key)
            annotator = self.annotator_numbers.get(annotator_key)
            label = self.label_values.get(label_text)
            if query is None or video is None or label is None:
                self.refuse(line, query_key, video_key, label_text)
            if len(self.lines) == MAX_JUDGMENTS:
                self.table.refuse(f"more than {MAX_JUDGMENTS:,} judgments", line)
            if annotator is None:
                annotator = self.add_annotator(line, annotator_key)
            self.queries.append(query)
            self.videos.append(video)
            self.annotators.append(annotator)
            self.labels.append(label)
            self.lines.append(line)

    def add_annotator(self, line: int, key: str) -> int:
        if fault := name_fault(key, "annotator"):
            self.table.refuse(fault, line)
        if len(self.annotator_numbers) == MAX_ANNOTATORS:
            self.table.refuse(f"more than {MAX_ANNOTATORS:,} annotators", line)
        return self.annotator_numbers.setdefault(key, len(self.annotator_numbers))

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
        result = JudgmentsFile(
            queries=np.array(self.queries, dtype=np.int32),
            videos=np.array(self.videos, dtype=np.int32),
            annotators=places[np.array(self.annotators, dtype=np.int32)],
            labels=np.array(self.labels, dtype=np.int8),
            annotator_keys=tuple(keys),
            sha256=self.table.blocks.sha256,
            notes=self.table.notes,
        )
        self.refuse_repeated(result)
        return result

    def refuse_repeated(self, result: JudgmentsFile) -> None:
        pairs = result.queries.astype(np.int64) * len(self.video_numbers) + result.videos
        codes: Int64s = pairs * len(result.annotator_keys) + result.annotators
        order = np.argsort(codes, kind="stable")
        repeated = np.flatnonzero(codes[order][1:] == codes[order][:-1])
        if not len(repeated):
            return
        at = repeated[np.argmin(order[repeated + 1])]
        first, second = int(order[at]), int(order[at + 1])
        annotator = shown(result.annotator_keys[result.annotators[first]])
        reason = f"annotator {annotator} already judged this pair in line {self.lines[first]}"
        self.table.refuse(reason, self.lines[second])
