"""Files of judgments, with the columns `caption_id,video_id,annotator,label[,judged_at]`."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Final, NoReturn

import numpy as np
import numpy.typing as npt

from hearth.shared import delimited
from hearth.shared.errors import InvalidInput
from hearth.shared.folding import fold, tidy
from pooling.core.arrays import Int32s, Int64s
from pooling.core.keys import key_fault, name_fault, shown
from pooling.core.lines import Progress, SourceFile, TextBlocks
from pooling.core.readers.layouts import JUDGMENT_COLUMNS
from pooling.core.readers.registry import AUTO, Reader, Readers
from pooling.core.table import ROWS_PER_PART, CsvTable

# All judgments are in memory until they are stored.
MAX_JUDGMENTS = 20_000_000
MAX_ANNOTATORS = 10_000

CSV: Final = "csv"
NO_TIME = -1
# Earlier times are mistakes. PostgreSQL and SQLite can store all later times.
EARLIEST = datetime.datetime(1990, 1, 1, tzinfo=datetime.UTC)

_WORDS = {"irrelevant": 0, "relevant": 1}
# Labels of the graded scale that the other scale does not have.
_OTHER_GRADES = ("2", "3", "2.0", "3.0")


@dataclass(frozen=True, slots=True, eq=False)
class JudgmentsFile:
    """The judgments of a file, in its order.

    queries, videos: int32 [n], the numbers of captions and videos in the benchmark. annotators:
    int32 [n], indices into `annotator_keys`, which is sorted. Spellings of a name that `fold` makes
    equal are one annotator, whose key is the first of them. labels: int8 [n]. times: int64 [n],
    when each pair was judged, in seconds since 1970 (UTC), or `NO_TIME`. licences: the licences
    that the file states, unchanged. has_annotators: False if the file names no annotators.
    has_texts: whether it names captions by their texts. unjudged: the numbers of the captions and
    of the videos of pairs that were pooled but not judged, int32 [m] each. strata: the names of
    the strata from which the pairs were drawn. stratum: int32 [n + m], the index of the name for
    each judgment and then each unjudged pair; empty without strata.
    """

    queries: Int32s
    videos: Int32s
    annotators: Int32s
    labels: npt.NDArray[np.int8]
    annotator_keys: tuple[str, ...]
    sha256: str
    notes: tuple[str, ...]
    times: Int64s
    format: str = CSV
    licences: tuple[str, ...] = ()
    has_annotators: bool = True
    has_texts: bool = False
    unjudged: tuple[Int32s, Int32s] = (np.empty(0, np.int32), np.empty(0, np.int32))
    strata: tuple[str, ...] = ()
    stratum: Int32s = field(default_factory=lambda: np.empty(0, np.int32))

    def counts_by_stratum(self) -> dict[str, tuple[int, int]]:
        """Return the numbers of pooled and of judged pairs by the name of a stratum."""
        n, size = len(self.labels), len(self.strata)
        pooled = np.bincount(self.stratum, minlength=size).tolist()
        judged = np.bincount(self.stratum[:n], minlength=size).tolist()
        return dict(zip(self.strata, zip(pooled, judged, strict=True), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgmentsOf:
    """The benchmark of a file of judgments, and how the file is read.

    query_numbers, video_numbers: the numbers of captions and videos by key. query_texts: the text
    of each caption, by number. now: the time after which no judgment can have been made. labels:
    the numbers of the scale. If they are 0 and 1, the words `irrelevant` and `relevant` are labels,
    too. data_set: the data set to read from a file that has several. columns: the selected names of
    `JUDGMENT_COLUMNS` in the file. values: the label of each text in the file that is none.
    """

    query_numbers: Mapping[str, int]
    video_numbers: Mapping[str, int]
    now: datetime.datetime
    query_texts: Sequence[str] = ()
    labels: Collection[int] = (0, 1)
    data_set: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)


def column_of(role: str, names: Sequence[str], selected: Mapping[str, str]) -> str:
    """Return the name of a column in a file: the selected one, or the first usual one."""
    known = (name for name in JUDGMENT_COLUMNS[role] if name in names)
    return selected.get(role) or next(known, role)


JUDGMENTS: Final = Readers[Reader[[JudgmentsOf], JudgmentsFile]](
    "judgments", __package__, names_layouts=True
)


def parse_judgments(
    path: Path,
    of: JudgmentsOf,
    *,
    format: str = AUTO,
    progress: Progress | None = None,
    source: str | None = None,
) -> JudgmentsFile:
    """Read a plain or gzipped file of judgments.

    format: the name of a reader; by default, the format is recognised by the start of the file.
    Raises `InvalidInput` for an unknown caption or video, an invalid annotator key, label or time,
    or an annotator who judges a pair twice.
    """
    file = SourceFile.at(path, source, progress)
    return JUDGMENTS.choose(file, format).read(file, of)


def _read_table(file: SourceFile, of: JudgmentsOf) -> JudgmentsFile:
    """Read a CSV file.

    The optional column `judged_at` has ISO 8601 times, none later than `of.now`; without an offset
    they are UTC.
    """
    blocks = file.blocks()
    names = header_of(file)
    *required, time = (column_of(role, names, of.columns) for role in JUDGMENT_COLUMNS)
    table = CsvTable(blocks, required, (time,))
    rows = JudgmentRows(blocks, of)
    for lines, columns in table.parts():
        rows.extend(lines, *columns)
    if not rows.count:
        table.refuse("the file has a header but no judgments", 1)
    found = rows.finish()
    return replace(found, notes=(*table.notes, *found.notes))


def header_of(file: SourceFile) -> list[str]:
    """Return the names in the first line of a table."""
    text = file.first_bytes().decode("utf-8", "replace").lstrip(delimited.MARK)
    stated, text = delimited.stated_delimiter(text)
    first = text.lstrip("\r\n").partition("\n")[0]
    cells = csv.reader([first], delimiter=stated or delimited.delimiter_of(text))
    return delimited.heads_of(next(cells, []))


class JudgmentRows:
    """The judgments read so far, in arrays that need 25 bytes per judgment.

    by_text: the number of each caption by its text, if the file has texts in place of keys.
    """

    def __init__(
        self,
        blocks: TextBlocks,
        of: JudgmentsOf,
        by_text: Mapping[str, int] | None = None,
    ) -> None:
        self.now = of.now
        self.blocks = blocks
        self.noun = "caption" if by_text is None else "caption text"
        self.query_numbers = of.query_numbers if by_text is None else by_text
        self.video_numbers = of.video_numbers
        self.label_values = {str(label): label for label in of.labels}
        # Programs that store labels as fractions write 1.0.
        self.label_values |= {f"{label}.0": label for label in of.labels}
        if set(of.labels) == set(_WORDS.values()):  # on a graded scale, the words are ambiguous
            self.label_values |= _WORDS
        for text, label in of.values.items():
            if label not in self.label_values:
                self.stop(0, f"the value {shown(text)} is mapped to {shown(label)}, not a label")
            self.label_values[text] = self.label_values[label]
        # The number of each spelling, and the number and the key of each folded name.
        self.annotator_numbers: dict[str, int] = {}
        self.annotators: dict[str, tuple[int, str]] = {}
        # The line in which each annotator is first written in another way.
        self.spelled_again: dict[int, int] = {}
        # For each part: queries, videos, annotators, labels, line numbers and times.
        self.parts: list[tuple[Int32s, Int32s, Int32s, npt.NDArray[np.int8], Int32s, Int64s]] = []
        self.waiting: list[tuple[int, str, str, str, str]] = []
        self.count = 0

    def add(self, line: int, query: str, video: str, annotator: str, label: str) -> None:
        """Add a judgment without a time. If it is invalid, a later call may raise the error."""
        self.waiting.append((line, query, video, annotator, label))
        if len(self.waiting) == ROWS_PER_PART:
            self.add_waiting()

    def add_waiting(self) -> None:
        if self.waiting:
            lines, queries, videos, annotators, labels = zip(*self.waiting, strict=True)
            self.waiting.clear()
            self.extend(lines, queries, videos, annotators, labels, [""] * len(lines))

    def extend(
        self,
        lines: Sequence[int],
        queries: Sequence[str],
        videos: Sequence[str],
        annotators: Sequence[str],
        labels: Sequence[str],
        times: Sequence[str],
    ) -> None:
        """Add judgments, passed as columns. Raises `InvalidInput` if one is invalid."""
        if self.count + len(lines) > MAX_JUDGMENTS:
            self.stop(lines[MAX_JUDGMENTS - self.count], f"more than {MAX_JUDGMENTS:,} judgments")
        self.count += len(lines)
        query = _numbers_of(queries, self.query_numbers)
        video = _numbers_of(videos, self.video_numbers)
        label = _numbers_of(labels, self.label_values)
        unknown = np.flatnonzero((query < 0) | (video < 0) | (label < 0))
        if len(unknown):
            at = int(unknown[0])
            self.refuse(lines[at], queries[at], videos[at], labels[at])
        for key in dict.fromkeys(annotators):
            if key not in self.annotator_numbers:
                self.add_annotator(lines[annotators.index(key)], key)
        annotator = _numbers_of(annotators, self.annotator_numbers)
        seconds = np.full(len(lines), NO_TIME, np.int64)
        for at in np.flatnonzero(np.fromiter(map(bool, times), np.bool_, len(times))).tolist():
            seconds[at] = self.seconds(lines[at], times[at])
        line = np.array(lines, np.int32)
        self.parts.append((query, video, annotator, label.astype(np.int8), line, seconds))

    def seconds(self, line: int, judged_at: str) -> int:
        try:
            time = datetime.datetime.fromisoformat(judged_at)
            time = time if time.tzinfo else time.replace(tzinfo=datetime.UTC)
            if time < EARLIEST:
                raise ValueError
            seconds = int(time.timestamp())
        except (ValueError, OverflowError):
            self.stop(
                line,
                f"the time must be like 2026-01-31T12:00:00+00:00, from 1990 on, not "
                f"{shown(judged_at)}",
            )
        if time > self.now:
            self.stop(
                line,
                f"the time {shown(judged_at)} is later than now; a time without an offset is UTC",
            )
        return seconds

    def stop(self, line: int, reason: str) -> NoReturn:
        raise InvalidInput(reason, source=self.blocks.source, line=line)

    def add_annotator(self, line: int, key: str) -> None:
        name = tidy(key)
        if fault := name_fault(name, "annotator"):
            self.stop(line, fault)
        new = (len(self.annotators), name)
        number, _ = self.annotators.setdefault(fold(name), new)
        if number == MAX_ANNOTATORS:
            self.stop(line, f"more than {MAX_ANNOTATORS:,} annotators")
        if number < new[0]:
            self.spelled_again.setdefault(number, line)
        self.annotator_numbers[key] = number

    @property
    def notes(self) -> tuple[str, ...]:
        """A note about spellings, without names: researchers can read plans, but not names."""
        if not self.spelled_again:
            return ()
        return (
            "annotators in several spellings, which differ only in case, outer spaces or the "
            f"encoding of accents: {len(self.spelled_again):,} (first in line "
            f"{min(self.spelled_again.values())}); each is one annotator",
        )

    def check_keys(self, line: int, query_key: str, video_key: str) -> None:
        """Raise `InvalidInput` if the caption or the video is unknown."""
        if query_key not in self.query_numbers:
            fault = f"unknown {self.noun} {shown(query_key)}"
            if self.noun == "caption":
                fault = key_fault(query_key, "caption") or fault
            self.stop(line, fault)
        if video_key not in self.video_numbers:
            self.stop(line, key_fault(video_key, "video") or f"unknown video {shown(video_key)}")

    def refuse(self, line: int, query_key: str, video_key: str, label_text: str) -> NoReturn:
        """Refuse an invalid row. Raises `InvalidInput` with the reason."""
        self.check_keys(line, query_key, video_key)
        allowed = ", ".join(text for text in self.label_values if "." not in text)
        reason = f"the label must be one of {allowed}, not {shown(label_text)}"
        if label_text in _OTHER_GRADES and label_text not in self.label_values:
            reason += "; the scale “Graded relevance” has labels from 0 to 3"
        self.stop(line, reason)

    def finish(self, *, may_repeat: bool = False) -> JudgmentsFile:
        """Return the judgments. may_repeat: an annotator may judge a pair several times."""
        self.add_waiting()
        if not self.count:
            self.stop(1, "the file has no judgments")
        annotator_keys = [key for _, key in self.annotators.values()]
        order = sorted(range(len(annotator_keys)), key=annotator_keys.__getitem__)
        places = np.empty(len(order), dtype=np.int32)
        places[order] = np.arange(len(order))
        queries, videos, annotators, labels, lines, times = map(
            np.concatenate, zip(*self.parts, strict=True)
        )
        result = JudgmentsFile(
            queries=queries,
            videos=videos,
            annotators=places[annotators],
            labels=labels,
            annotator_keys=tuple(annotator_keys[number] for number in order),
            sha256=self.blocks.sha256,
            notes=self.notes,
            times=times,
            has_texts=self.noun != "caption",
        )
        if not may_repeat:
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
        if self.notes:
            reason += f" ({'; '.join(self.notes)})"
        self.stop(int(lines[second]), reason)


def _numbers_of(keys: Sequence[str], numbers: Mapping[str, int]) -> Int32s:
    """Return the number of each key, -1 if it has none; int32 [n]."""
    return np.fromiter(map(numbers.get, keys, repeat(-1)), np.int32, len(keys))


READER: Final = Reader(
    kind=JUDGMENTS.kind,
    name=CSV,
    title="CSV with a header",
    place=1,
    about="Each row is a judgment. On the scale “Relevant or not”, 1 is relevant and 0 is not "
    "relevant. On the scale “Graded relevance”, labels are 0 to 3. The column judged_at is "
    "optional. Exports of MTurk, Toloka and Prolific are read by their usual names, and other "
    "columns can be selected.",
    example="caption_id,video_id,annotator,label,judged_at\n"
    "c1,v7,anna,1,2024-05-31T12:00:00+02:00\nc1,v7,ben,0,",
    read=_read_table,
)
