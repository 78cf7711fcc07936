"""Write and read the files of a label set: labels, judgments and details.

The files are CSV in UTF-8 with LF line ends. A cell is quoted only if necessary. Rows are ordered
by query number and video number, and rows of judgments also by pseudonym and queue (the number
of the campaign). The bytes therefore depend only on the contents, not on the database, the locale
or the version of Python.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import hashlib
import hmac
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from annotation.core.consensus import NO_LABEL, OutcomeCounts, State
from hearth.shared.arrays import combined, numbered
from pooling.core.pair_space import PairSpace

IntArray = npt.NDArray[np.int64]
# The distinct texts of a column, and the index of the text of each row, int64 [n].
TextColumn: TypeAlias = tuple[Sequence[str], IntArray]

LABELS_HEADER = "caption_id,video_id,label,source,judgments,relevant\n"
# The first columns of the judgments file, and those that only label sets published by an older
# version of Hearth lack.
JUDGMENT_KEYS = ("caption_id", "video_id", "annotator")
FIRST_COLUMNS = ("label", "queue")
LATER_COLUMNS = ("position", "is_planned")
DETAILS_HEADER = "judged_at,seconds,guideline,missing\n"
# The line of the details file for an imported judgment.
NO_DETAILS = ",,,\n"
# The source of a label in the file, by outcome.
SOURCES = {
    State.PENDING: "pending",
    State.RESOLVED: "majority",
    State.CONFLICTED: "conflict",
    State.ADJUDICATED: "adjudicated",
}
# The cells of a column with flags.
FLAGS = ("false", "true")
# If a key contains one of these characters, the module csv decides whether it needs quotes.
_TO_QUOTE = re.compile(r"[^\w#+./:;-]")
STATE_OF_SOURCE = {source: int(state) for state, source in SOURCES.items()}
PSEUDONYM_DIGITS = 12
ROWS_PER_BLOCK = 20_000
BYTES_PER_PIECE = 8 << 20


class _Numbers(dict[str, int]):
    """The whole number in each cell. Cells repeat, so each distinct text is converted only once."""

    def __missing__(self, cell: str) -> int:
        self[cell] = int(cell)
        return self[cell]


class LabelFigures(TypedDict):
    """Numbers of pairs of a label set, by their outcome."""

    n_pairs: int
    n_relevant: int
    n_conflicted: int
    n_pending: int


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The outcome of each judged pair, ascending by code.

    codes: int64 [n], pair codes (`pooling.core.pair_space.PairSpace`).
    labels: int64 [n], `NO_LABEL` for a pair that is pending or in conflict.
    states: int8 [n], values of `annotation.core.consensus.State`.
    judgments, relevant: int64 [n], number of counted judgments, and of relevant ones among them.
    """

    codes: IntArray
    labels: IntArray
    states: npt.NDArray[np.int8]
    judgments: IntArray
    relevant: IntArray

    @property
    def adjudicated(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.states == State.ADJUDICATED)

    @property
    def outcomes(self) -> OutcomeCounts:
        return OutcomeCounts.of(self.states)

    @property
    def figures(self) -> LabelFigures:
        outcomes = self.outcomes
        return {
            "n_pairs": len(self.codes),
            "n_relevant": int((self.labels >= 1).sum()),
            "n_conflicted": outcomes.conflicted,
            "n_pending": outcomes.pending,
        }


LABEL_COLUMNS = tuple(Labels.__slots__)


def render_labels(labels: Labels, query_keys: Sequence[str], video_keys: Sequence[str]) -> bytes:
    """Return the label file. A line has two keys, the label, its source and two counts.

    A pair that is pending or in conflict has no label, so this cell is empty.
    """
    kinds, kind_of = _distinct(
        labels.labels - NO_LABEL, labels.states, labels.judgments, labels.relevant
    )
    ends = [
        f"{label + NO_LABEL if label else ''},{SOURCES[State(state)]},{n},{relevant}\n"
        for label, state, n, relevant in kinds
    ]
    columns = *_keys(labels.codes, query_keys, video_keys), (ends, kind_of)
    return b"".join([LABELS_HEADER.encode(), *_lines(*columns)])


def _distinct(*columns: npt.NDArray[np.integer]) -> tuple[list[tuple[int, ...]], IntArray]:
    """Return the distinct rows of the columns, and the index of each row among them, int64 [n].

    columns: whole numbers [n] each, at least 0.
    """
    sizes = [1 + int(column.max(initial=0)) for column in columns]
    distinct, row_of = numbered(np.ravel_multi_index(columns, sizes))
    rows = zip(*(column.tolist() for column in np.unravel_index(distinct, sizes)), strict=True)
    return list(rows), row_of


def _keys(
    codes: IntArray, query_keys: Sequence[str], video_keys: Sequence[str]
) -> Iterator[TextColumn]:
    """Yield the column of the queries' keys and that of the videos' keys, [n] rows each.

    codes: int64 [n]. Each cell ends with a comma.
    """
    numbers = PairSpace(len(query_keys), len(video_keys)).decode(codes)
    for keys, of_pair in zip((query_keys, video_keys), numbers, strict=True):
        yield [f"{cell}," for cell in csv_cells(keys)], of_pair


def _lines(*columns: TextColumn) -> Iterator[bytes]:
    """Yield blocks of lines. A line joins the texts of one row.

    numpy pads the texts of a column to one width and copies them, without a Python loop over lines.
    The zero bytes of the padding are then removed. No key contains one (`pooling.core.keys`).
    """
    cells = [np.array([text.encode() for text in texts], np.bytes_) for texts, _ in columns]
    for start in range(0, len(columns[0][1]), ROWS_PER_BLOCK):
        rows = [numbers[start : start + ROWS_PER_BLOCK] for _, numbers in columns]
        texts = [of_column[of_row] for of_column, of_row in zip(cells, rows, strict=True)]
        block = np.concatenate([_bytes_of(column) for column in texts], axis=1)
        yield block.tobytes().replace(b"\0", b"")


def _bytes_of(texts: npt.NDArray[np.bytes_]) -> npt.NDArray[np.uint8]:
    """Return texts of one width as bytes, uint8 [n, width]."""
    return texts.view(np.uint8).reshape(len(texts), -1)


def parse_labels(
    text: bytes, query_numbers: Mapping[str, int], video_numbers: Mapping[str, int]
) -> Labels:
    """Read a label file. This is the inverse of `render_labels`.

    query_numbers, video_numbers: the numbers of queries and videos by key. Raises KeyError or
    ValueError if the text is not a label file of this benchmark.
    """
    rows = csv.reader(io.TextIOWrapper(io.BytesIO(text), "utf-8", newline=""))
    next(rows)
    counts = _Numbers()
    of_cell = (
        query_numbers,
        video_numbers,
        _Numbers({"": NO_LABEL}),
        STATE_OF_SOURCE,
        counts,
        counts,
    )
    # Rows are read in blocks, because the cells of half a million rows take 250 megabytes.
    blocks = [np.empty((len(of_cell), 0), np.int64)]
    while cells := list(chain.from_iterable(islice(rows, ROWS_PER_BLOCK))):
        numbers = (
            np.fromiter(map(of.__getitem__, cells[place :: len(of_cell)]), np.int64)
            for place, of in enumerate(of_cell)
        )
        blocks.append(np.stack(list(numbers)))
    query, video, labels, states, judgments, relevant = np.concatenate(blocks, axis=1)
    return Labels(
        codes=query * len(video_numbers) + video,
        labels=labels,
        states=states.astype(np.int8),
        judgments=judgments,
        relevant=relevant,
    )


def render_judgments(
    codes: IntArray,
    pseudonyms: TextColumn,
    columns: Mapping[str, IntArray],
    query_keys: Sequence[str],
    video_keys: Sequence[str],
    order: IntArray | None = None,
) -> bytes:
    """Return the judgments file, with one line for each counted judgment.

    codes: int64 [n]. columns: int64 [n] each, `FIRST_COLUMNS` with or without `LATER_COLUMNS`.
    Lines are in the order of `order_of_judgments`. order: the result of `order_of_judgments`, if
    the caller already has it.
    """
    if order is None:
        order = order_of_judgments(codes, pseudonyms, columns["queue"])
    names, name_of = pseudonyms
    numbers = name_of, *columns.values()
    kinds, kind_of = _distinct(*(column[order] for column in numbers))
    ends = [
        ",".join([names[person], *map(_cell, columns, values)]) + "\n" for person, *values in kinds
    ]
    header = ",".join([*JUDGMENT_KEYS, *columns]) + "\n"
    lines = _lines(*_keys(codes[order], query_keys, video_keys), (ends, kind_of))
    return b"".join([header.encode(), *lines])


def _cell(column: str, value: int) -> str:
    return FLAGS[value] if column == "is_planned" else str(value)


def header_of(text: bytes) -> list[str]:
    """Return the names of the columns of a file of a label set."""
    return text[: text.index(b"\n")].decode().split(",")


def parse_judgments_file(
    text: bytes, query_numbers: Mapping[str, int], video_numbers: Mapping[str, int]
) -> tuple[IntArray, list[str], dict[str, IntArray]]:
    """Read a judgments file. This is the inverse of `render_judgments`.

    Returns the pair codes and pseudonyms, [n] each, and the other columns by name. Raises KeyError
    or ValueError as `parse_labels` does.
    """
    rows = csv.reader(io.TextIOWrapper(io.BytesIO(text), "utf-8", newline=""))
    names = next(rows)
    width, n_keys = len(names), len(JUDGMENT_KEYS)
    cells = list(chain.from_iterable(rows))

    def read(place: int, of_cell: Callable[[str], int]) -> IntArray:
        return np.fromiter(map(of_cell, cells[place::width]), np.int64)

    codes = read(0, query_numbers.__getitem__) * len(video_numbers)
    codes += read(1, video_numbers.__getitem__)
    columns = {
        name: read(place, FLAGS.index if name == "is_planned" else int)
        for place, name in enumerate(names[n_keys:], n_keys)
    }
    return codes, cells[2::width], columns


def pseudonyms_by_answers(
    published: bytes,
    annotators: IntArray,
    codes: IntArray,
    columns: Mapping[str, IntArray],
    query_keys: Sequence[str],
    video_keys: Sequence[str],
) -> TextColumn:
    """Return for each judgment the pseudonym of its annotator in a published judgments file.

    An annotator gets the pseudonym that has exactly the same answers. If several annotators have
    the same answers, any assignment of their pseudonyms gives the same file. An annotator whose
    answers are not in the file gets an empty pseudonym. annotators, codes: int64 [n]. columns:
    the columns of the published file, as in `render_judgments`.
    """
    numbers = [{key: n for n, key in enumerate(keys)} for keys in (query_keys, video_keys)]
    p_codes, pseudonyms, p_columns = parse_judgments_file(published, *numbers)
    names, of_row = np.unique(np.array(pseudonyms), return_inverse=True)
    free: dict[bytes, list[str]] = {}
    for person, answers in _answers(of_row, p_codes, *p_columns.values()).items():
        free.setdefault(answers, []).append(str(names[person]))
    people, person_of = numbered(annotators)
    answers_of = _answers(person_of, codes, *columns.values())
    found = [(free.get(answers_of[person]) or [""]).pop(0) for person in range(len(people))]
    return found, person_of


def _answers(people: IntArray, *columns: IntArray) -> dict[int, bytes]:
    """Return a hash of all answers of each person. The order of the answers does not matter."""
    order = np.lexsort((*reversed(columns), people))
    rows = np.stack([column[order] for column in columns], axis=1).astype("<i8")
    present, starts = np.unique(people[order], return_index=True)
    parts = np.split(rows, starts[1:])
    return {
        person: hashlib.sha256(part.tobytes()).digest()
        for person, part in zip(present.tolist(), parts, strict=True)
    }


def order_of_judgments(codes: IntArray, pseudonyms: TextColumn, queues: IntArray) -> IntArray:
    """Return the order of the lines of a judgments file, int64 [n]: by pair, pseudonym and queue.

    codes, queues: int64 [n].
    """
    names, name_of = pseudonyms
    ranks = {name: rank for rank, name in enumerate(sorted(set(names)))}
    rank_of = np.array([ranks[name] for name in names], np.int64)[name_of]
    return np.lexsort((queues, combined(codes, rank_of)))


def detail_line(
    judged_at: datetime.datetime,
    seconds: float | None,
    guideline: int | None,
    missing: Sequence[str] | None,
) -> str:
    """Return the line of the details file for one judgment.

    seconds: the time from showing the pair to the answer. guideline: the version of the guidelines.
    missing: the elements of the caption that the annotator marked as missing. They are a JSON array
    in the file. A value that is None gives an empty cell.
    """
    at = judged_at.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    took = "" if seconds is None else f"{seconds:.1f}"
    elements = ""
    if missing:
        elements = json.dumps(list(missing), ensure_ascii=False).replace('"', '""')
        elements = f'"{elements}"'
    return f"{at},{took},{'' if guideline is None else guideline},{elements}\n"


def render_details(lines: Iterable[str]) -> bytes:
    """Return the details file, from one line for each line of the judgments file."""
    return (DETAILS_HEADER + "".join(lines)).encode()


def pseudonyms_of(annotators: Iterable[int], secret: bytes) -> dict[int, str]:
    """Return a pseudonym for each annotator, by id.

    A pseudonym is the start of the HMAC-SHA256 of the id, with the secret of the label set as key.
    Without the secret it cannot be linked to the annotator. Raises ValueError if two annotators
    would have the same pseudonym, which is very unlikely.
    """
    names = {
        person: hmac.new(secret, str(person).encode(), hashlib.sha256).hexdigest()[
            :PSEUDONYM_DIGITS
        ]
        for person in annotators
    }
    if len(set(names.values())) != len(names):
        raise ValueError("two annotators would share a pseudonym; draw another secret")
    return names


def pieces_of(content: bytes) -> list[bytes]:
    """Return the content in pieces, which threads can compress at the same time."""
    starts = range(0, max(1, len(content)), BYTES_PER_PIECE)
    return [content[start : start + BYTES_PER_PIECE] for start in starts]


def compress(content: bytes) -> bytes:
    """Compress with gzip, without a time stamp, so that equal contents have equal bytes.

    Compressed pieces, one after the other, are a gzip file of the whole content.
    """
    # Level 6 takes one and a half times as long, and saves 3 % of the space.
    return gzip.compress(content, compresslevel=4, mtime=0)


def csv_cells(keys: Sequence[str]) -> list[str]:
    """Return each key as a CSV cell."""
    if not _TO_QUOTE.search("".join(keys)):
        return list(keys)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    cells = []
    for key in keys:
        out.seek(0)
        out.truncate()
        # The second cell makes csv quote the key as in a longer row. A single cell follows other
        # rules.
        writer.writerow([key, ""])
        cells.append(out.getvalue().removesuffix(",\n"))
    return cells
