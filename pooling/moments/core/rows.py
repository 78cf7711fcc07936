"""The moments of imported files: spans of original positives, and ranked moments of runs."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Float32s, Float64s, Int32s, Int64s
from pooling.core.keys import shown
from pooling.core.lines import TextBlocks
from pooling.core.problems import Problems

DEPTH_MAX: Final = 10_000
"""The longest list of moments."""


class Span(NamedTuple):
    """A span of a file, in seconds. person: 0 is the truth. grade: None for a moment."""

    start: float
    end: float
    person: int = 0
    grade: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MomentRows:
    """The spans of an imported benchmark.

    form: the data set. pairs: int64 [n], the place of each span's pair among the original positives
    of the file. people: int64, starts, ends: float64, grades: float64 with nan for a moment; [n].
    durations: seconds by the key of the video. extras: what official files state of a caption
    beside its spans, by the key of the caption.
    """

    form: str
    pairs: Int64s
    people: Int64s
    starts: Float64s
    ends: Float64s
    grades: Float64s
    durations: Mapping[str, float] = field(default_factory=dict)
    extras: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True, slots=True, eq=False)
class MomentData:
    """The ranked moments of a run, packed end to end like `RunData`.

    task: VCMR for moments of all videos, SVMR for moments of the right one. row_numbers: int32 [n],
    ascending. offsets: int64 [n + 1]. items: int32, starts, ends, scores: float32 [total].
    saliency: scores of the clips of each row's video, or nothing.
    """

    task: str
    row_numbers: Int32s
    offsets: Int64s
    items: Int32s
    starts: Float32s
    ends: Float32s
    scores: Float32s
    saliency: Mapping[int, Float32s] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        return int(np.diff(self.offsets).max(initial=0))


def number_of(value: object) -> float | None:
    """Return a finite number of a JSON value, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def span_fault(start: object, end: object, *, may_be_empty: bool = False) -> str | None:
    """Return why two values are no span, or None. may_be_empty: a span can have no length."""
    first, last = number_of(start), number_of(end)
    if first is None or last is None:
        return f"the start {start!r} or the end {end!r} is not a finite number"[:200]
    if first < 0:
        return f"the start {first:g} is negative"
    if last < first:
        return f"the end {last:g} is before the start {first:g}"
    if last == first and not may_be_empty:
        return f"the span from {first:g} to {last:g} has no length"
    return None


def pair_of(value: object) -> tuple[Any, Any] | None:
    """Return the two values of a JSON list, or None."""
    if isinstance(value, list) and len(value) == 2:
        return value[0], value[1]
    return None


def json_lines(blocks: TextBlocks, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the object of each line. A line that is none is added to the problems."""
    for line, text in enumerate(blocks.text_lines(), start=1):
        if text.isspace():
            continue
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            problems.add(f"the line is not JSON: {error}"[:200], blocks.source, line)
            continue
        if isinstance(found, dict):
            yield line, found
        else:
            problems.add("the line is not a JSON object", blocks.source, line)


def json_file(blocks: TextBlocks) -> Any:
    """Return the value of a JSON file. Raises `InvalidInput` with the line of a wrong syntax."""
    text = b"".join(blocks).decode()
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason = f"the file is not JSON: {error.msg} (column {error.colno})"
        raise InvalidInput(reason, source=blocks.source, line=error.lineno) from None
    except (ValueError, RecursionError):
        reason = "the file is not JSON: numbers are too long or values are nested too deeply"
        raise InvalidInput(reason, source=blocks.source) from None


def beyond_note(beyond: int, total: int) -> str:
    return f"Spans that end after their video: {beyond:,} of {total:,}. They are kept as they are."


class SpanRowsBuilder:
    """The spans that have been read so far. The rows of `MomentRows` follow from them."""

    def __init__(self, form: str) -> None:
        self.form = form
        self.durations: dict[str, float] = {}
        self.extras: dict[str, dict[str, Any]] = {}
        self._spans: dict[tuple[str, str], list[Span]] = {}

    def add(self, key: str, video: str, spans: Iterable[Span]) -> None:
        self._spans.setdefault((key, video), []).extend(spans)

    def finish(
        self, query_keys: Sequence[str], video_keys: Sequence[str], positives: Iterable[Any]
    ) -> MomentRows:
        """Return the rows. positives: the numbers of caption and video of each pair of the file."""
        columns: list[tuple[float, ...]] = []
        for place, (query, video) in enumerate(positives):
            for span in self._spans.get((query_keys[query], video_keys[video]), ()):
                grade = math.nan if span.grade is None else span.grade
                columns.append((place, span.person, span.start, span.end, grade))
        table = np.array(columns, np.float64).reshape(-1, 5).T
        return MomentRows(
            self.form,
            table[0].astype(np.int64),
            table[1].astype(np.int64),
            table[2],
            table[3],
            table[4],
            durations=self.durations,
            extras=self.extras,
        )

    def notes(self) -> list[str]:
        """Return the number of spans, and how many end after their video."""
        of_video = [
            (video, span)
            for (_, video), spans in self._spans.items()
            for span in spans
            if span.grade is None
        ]
        beyond = sum(span.end > self.durations.get(video, math.inf) for video, span in of_video)
        found = [f"Spans: {len(of_video):,}."]
        return [*found, beyond_note(beyond, len(of_video))] if beyond else found


class RankedMoments:
    """Ranked moments that are collected list by list."""

    def __init__(self) -> None:
        self.rows: dict[int, tuple[int, int]] = {}
        self.saliency: dict[int, Float32s] = {}
        self._items = array("i")
        self._starts, self._ends, self._scores = array("f"), array("f"), array("f")

    def add(self, row: int, moments: Sequence[tuple[int, float, float, float]]) -> None:
        """Add the list of a row, best first: video, start, end and score of each moment."""
        first = len(self._items)
        for item, start, end, score in moments:
            self._items.append(item)
            self._starts.append(start)
            self._ends.append(end)
            self._scores.append(score)
        self.rows[row] = first, len(self._items)

    def finish(self, task: str) -> MomentData:
        numbers = np.array(sorted(row for row, (a, b) in self.rows.items() if b > a), np.int32)
        bounds = [self.rows[row] for row in numbers.tolist()]
        lengths = np.array([end - start for start, end in bounds], np.int64)
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        shift = np.array([start for start, _ in bounds], np.int64) - offsets[:-1]
        place = np.arange(offsets[-1]) + np.repeat(shift, lengths)
        return MomentData(
            task,
            numbers,
            offsets,
            _array(self._items, np.int32)[place],
            _array(self._starts, np.float32)[place],
            _array(self._ends, np.float32)[place],
            _array(self._scores, np.float32)[place],
            self.saliency,
        )


def _array(values: Any, dtype: type[Any]) -> Any:
    return np.frombuffer(values, dtype) if len(values) else np.empty(0, dtype)


def distinct_videos(data: MomentData) -> tuple[Int64s, Int32s, Float32s]:
    """Return offsets, videos and scores of the same lists with each video at its first place."""
    lists = np.repeat(np.arange(len(data.row_numbers)), np.diff(data.offsets))
    n_items = int(data.items.max(initial=0)) + 1
    _, first = np.unique(lists * n_items + data.items, return_index=True)
    kept = np.sort(first)
    lengths = np.bincount(lists[kept], minlength=len(data.row_numbers))
    return np.concatenate(([0], np.cumsum(lengths))), data.items[kept], data.scores[kept]


def keyed(value: object) -> str:
    """Return the text of a key, which files write as a text or an integer; "" for others."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def unknown(key: object, noun: str) -> str:
    return f"unknown {noun} {shown(str(key))}"
