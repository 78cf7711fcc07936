"""Tables of captions: CSV, TSV or JSON lines, whose columns may have any name."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from hearth.shared import delimited
from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import HEAD_BYTES, SourceFile, lines_of
from pooling.core.parquet import PARQUET
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import (
    HEADLESS,
    TABLE,
    BenchmarkReader,
    Part,
    captions,
    title_of_other,
)
from pooling.core.readers.benchmarks.joined import PLUS, Clips, Row, joined_rows
from pooling.core.readers.benchmarks.json_lines import JsonLinesFile, json_object
from pooling.core.readers.benchmarks.objects import (
    MAX_COLUMNS,
    JsonArrayFile,
    ObjectTable,
    ParquetRows,
    first_objects,
)
from pooling.core.readers.layouts import graded_moments, table_of_others
from pooling.core.readers.registry import Fit, Head
from pooling.core.table import CsvTable

CSV, TSV, JSONL = "csv", "tsv", "jsonl"
JSON, PARQUET_ROWS = "json", "parquet"
KEY, TEXT, VIDEO = "caption_id", "caption", "video_id"
PARAGRAPH: Final = "paragraph_id"
# The usual names of each column, in order of preference. They are used if a column is not selected.
KNOWN_NAMES = {
    KEY: (KEY, "query_id", "sen_id", "sentence_id", "qid", "key", "id"),
    TEXT: (
        *(TEXT, "sentence", "text", "query", "description"),
        *("enCap", "captions", "sentences", "desc"),
    ),
    VIDEO: (
        *(VIDEO, "video", "vid", "video_name", "clip_id", "clip"),
        *("videoID", "clip_name", "vid_name", "video_key", "vid_key", "image_id"),
    ),
}
PREVIEW_ROWS = 5
PREVIEW_TEXT = 200
# Names of columns with ids of anything but videos, such as narration_id.
_ID = re.compile(r"(?:.*[_ -])?ids?|.*[a-z]I[Dd]|.*[A-Z]Id")
_OF_VIDEOS = re.compile(r"vid|clip|youtube|yt|movie|film|file|image|media|shot", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableHead:
    """The start of a table: its format, its columns, and its first rows, shortened."""

    format: str
    delimiter: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def parts_of(self, name: str, column: str) -> list[str]:
        """Return the columns that form a column: several if the name of an id joins them by `+`."""
        parts = name.split(PLUS) if column != TEXT else []
        joins = parts and name not in self.columns and set(parts) <= set(self.columns)
        return parts if joins else [name]

    def named(self, selected: Mapping[str, str]) -> dict[str, str]:
        """Return the name that each column of `KNOWN_NAMES` has in this table.

        This is the selected name, or else the first usual name in the table. A column is left
        out if its selection is empty, or if it is not selected and not found.
        """
        names = {}
        for column, known in KNOWN_NAMES.items():
            found = next((name for name in known if name in self.columns), None)
            if name := selected.get(column, found):
                names[column] = name
        return names

    def other_ids(self, used: Collection[str]) -> str | None:
        """Return the first column that is not used and looks like a column of caption ids."""
        for name in self.columns:
            alike = any(
                delimited.looks_like(name, known) for known in KNOWN_NAMES[KEY] if len(known) > 3
            )
            of_other = _ID.fullmatch(name) and not _OF_VIDEOS.search(name)
            if name not in used and (alike or of_other):
                return name
        return None


def table_head(head: Head) -> TableHead:
    """Return the start of a table. If it cannot be read as a table, the result has no columns."""
    if head.start.startswith(PARQUET):
        return _objects_head(PARQUET_ROWS, head.rows)
    text = head.start.decode("utf-8", "replace").lstrip(delimited.MARK)
    is_cut = len(head.start) == HEAD_BYTES
    begins = text.lstrip()
    if begins.startswith("[") or (begins.startswith("{") and not is_caption_line(head.first)):
        return _objects_head(JSON, first_objects(begins, PREVIEW_ROWS + 1))
    if is_cut:
        text = text[: text.rfind("\n") + 1] or text  # the last line may be incomplete
    if begins.startswith("{"):
        return _json_lines_head(list(lines_of(text)))
    stated, text = delimited.stated_delimiter(text)
    delimiter = stated or delimited.delimiter_of(text)
    try:
        reader = csv.reader(lines_of(text), delimiter=delimiter)
        records = list(
            islice((row for row in reader if delimited.filled_width(row)), PREVIEW_ROWS + 1)
        )
    except csv.Error:
        records = []
    header, *rows = records or [[]]
    columns = delimited.heads_of(header)[:MAX_COLUMNS]
    return TableHead(
        TSV if delimiter == "\t" else CSV,
        delimiter,
        tuple(columns),
        _shortened([row[: len(columns)] for row in rows]),
    )


def read_table(
    file: SourceFile,
    columns: Mapping[str, str],
    problems: Problems,
    head: TableHead | None = None,
) -> captions.CaptionsFile:
    """Read a table with one row for each original positive of a caption.

    columns: the names of the columns `caption_id`, `caption` and `video_id` in this file; a column
    without a name is found by its usual names. An id can be made of several columns, such as
    `video_id+start+end`, whose values are joined by `_`. If there is no column of ids, the key of a
    caption is made of the key of its video and its position among the captions of that video, such
    as `v1#0`. In JSON and Parquet, a row may have a list of captions or of videos. head: how the
    file begins, if that is known.

    A note warns if times such as `start` and `end` differ between the rows of a video, because the
    file may then describe clips.

    Invalid rows are added to `problems`. Raises `InvalidInput` if the file cannot be read as a
    table, if it has no captions, if a column is missing and the file has another format, or if no
    column of ids is selected although another column looks like one.
    """
    source = file.source
    start = Head.of(file)
    head = head or table_head(start)
    named = head.named(columns)
    other = None if {TEXT, VIDEO} <= {*named} else table_of_others(head.columns)
    if TEXT not in columns:
        other = other or graded_moments(head.columns)
    if other:
        raise InvalidInput(f"this is a table of {other}", source=source, line=1)
    missing = next((column for column in (TEXT, VIDEO) if column not in named), None)
    if missing and (title := title_of_other(start, TABLE)):
        reason = f"this is {title}, not a table with the column {missing!r}"
        raise InvalidInput(reason, source=source, line=1)
    wanted = (KEY, TEXT, VIDEO) if KEY in named else (TEXT, VIDEO)
    parts = {column: head.parts_of(named.get(column, column), column) for column in wanted}
    names = [name for column in wanted for name in parts[column]]
    clips = Clips([name for name in head.columns if name not in names], named.get(VIDEO, VIDEO))
    table, contents = _opened(file, head, named, parts, clips.columns, problems)
    rows: Iterable[Row] = table
    if len(names) > len(parts) or clips.columns:
        rows = joined_rows(table, parts, clips, problems, source)
    if KEY not in named:
        rows = _with_keys(rows)
    builder = captions.CaptionsBuilder(source, problems)
    for number, (line, (key, text, video)) in enumerate(rows):
        if not number and KEY not in {**named, **columns}:
            _check_ids(head, names, source)
        if number == captions.MAX_ROWS:
            raise InvalidInput(f"more than {captions.MAX_ROWS:,} rows", source=source, line=line)
        builder.add_row(line, key, text, video)
    if not len(builder) and not problems.number:
        raise InvalidInput("the file has a header but no caption", source=source, line=1)
    return builder.finish(
        _sha256(contents.sha256, named),
        (*_notes(named, head.columns), *clips.notes(), *table.notes),
        sources=(source,),
        formats=(head.format,),
    )


def open_table(
    file: SourceFile, names: Sequence[str], optional: Sequence[str], problems: Problems
) -> tuple[Iterable[Row], Hashed]:
    """Return the rows of a table of any form with these columns, and what has its hash."""
    head = table_head(Head.of(file))
    if not set(names) <= set(head.columns):
        missing = next(name for name in names if name not in head.columns)
        raise InvalidInput(f"the file has no column {shown(missing)}", source=file.source, line=1)
    return _opened(file, head, {}, {name: [name] for name in names}, optional, problems)


def _opened(
    file: SourceFile,
    head: TableHead,
    named: Mapping[str, str],
    parts: Mapping[str, Sequence[str]],
    times: Sequence[str],
    problems: Problems,
) -> tuple[CsvTable | ObjectTable, Hashed]:
    """Return the rows of a table, and what has the hash of its content after it is read."""
    names = [name for some in parts.values() for name in some]
    blocks = file.blocks(max_bytes=captions.MAX_BYTES)
    if head.format in (CSV, TSV, HEADLESS):
        table = CsvTable(
            *(blocks, names, times),
            delimiter=head.delimiter,
            problems=problems,
            header=head.columns if head.format == HEADLESS else None,
        )
        return table, blocks
    objects: JsonLinesFile | JsonArrayFile | ParquetRows = JsonLinesFile(blocks)
    if head.format == JSON:
        objects = JsonArrayFile(file)
    elif head.format == PARQUET_ROWS:
        objects = ParquetRows(file, [*names, *times])
    joined = [name for some in parts.values() if len(some) > 1 for name in some]
    rows = ObjectTable(
        *(objects, file.source, names, times, problems),
        numbers=joined,
        text=named.get(TEXT, ""),
        key=named.get(KEY, ""),
    )
    return rows, objects


class Hashed(Protocol):
    @property
    def sha256(self) -> str: ...


def _check_ids(head: TableHead, used: Sequence[str], source: str) -> None:
    """Refuse a table in which a column of other ids would be ignored, and ids would be made."""
    if name := head.other_ids(used):
        raise InvalidInput(
            f"there is no column {KEY!r}, but {shown(name)} looks like a column of ids; "
            f"correct the name, or choose which column has the ids ({KEY}={name}) or that ids "
            f"are made from the videos ({KEY}=)",
            source=source,
            line=1,
        )


def _with_keys(rows: Iterable[Row]) -> Iterator[Row]:
    """Add a key to each row: its video, and its position among the captions of the video."""
    positions: Counter[str] = Counter()
    for line, (text, video) in rows:
        yield line, (f"{video}#{positions[video]}", text, video)
        positions[video] += 1


def _notes(named: Mapping[str, str], columns: Iterable[str]) -> list[str]:
    renamed = [f"{c} from {shown(name)}" for c, name in named.items() if c != name]
    notes = [f"columns read: {', '.join(renamed)}"] if renamed else []
    if KEY not in named:
        notes.append(
            "There is no column of caption ids, so the id of each caption is made of the id of its "
            "video and its position among the captions of that video."
        )
    if PARAGRAPH in columns:
        notes.append(
            f"The captions have a column {PARAGRAPH!r}. To add their paragraphs after the import, "
            "use the page Paragraphs of the captions, or add_paragraphs, with the same file."
        )
    return notes


def _sha256(content: str, named: Mapping[str, str]) -> str:
    """Return the hash of the content, and of the column names if they are not the standard ones."""
    if all(named.get(column) == column for column in KNOWN_NAMES):
        return content
    return hashlib.sha256(json.dumps([content, dict(named)], sort_keys=True).encode()).hexdigest()


def _json_lines_head(lines: Sequence[str]) -> TableHead:
    objects = []
    for line in [line for line in lines if line.strip()][: PREVIEW_ROWS + 1]:
        try:
            objects.append(json_object(line))
        except ValueError:
            break
    return _objects_head(JSONL, objects)


def _objects_head(format: str, objects: Sequence[Mapping[str, object]]) -> TableHead:
    columns = tuple(dict.fromkeys(name for found in objects for name in found))[:MAX_COLUMNS]
    rows = [[_shown_value(found.get(name, "")) for name in columns] for found in objects]
    return TableHead(format, "", columns, _shortened(rows))


def _shown_value(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _shortened(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(value[:PREVIEW_TEXT] for value in row[:MAX_COLUMNS]) for row in rows[:PREVIEW_ROWS]
    )


def is_caption_line(line: str) -> bool:
    """Return whether a line is a whole JSON object with a caption, or with only scalar values."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(found, dict):
        return False
    texts = [found.get(name) for name in KNOWN_NAMES[TEXT]]
    if any(isinstance(text, str) for text in texts):
        return True
    if any(isinstance(text, list) and text and isinstance(text[0], str) for text in texts):
        return any(isinstance(found.get(name), str) for name in KNOWN_NAMES[VIDEO])
    return not any(isinstance(value, list | dict) for value in found.values())


def _fits(head: Head) -> Fit:
    """A table has two of the usual columns. Other text is read as a table to raise its errors."""
    found = table_head(head)
    columns = set(found.columns)
    is_known = len(columns) > 1 and columns & {*KNOWN_NAMES[TEXT], *KNOWN_NAMES[VIDEO]}
    if found.format == JSONL:
        return Fit.LIKELY
    if found.format == JSON and not (is_known and columns & {*KNOWN_NAMES[TEXT]}):
        return Fit.LAST if head.text.startswith("[") else Fit.NO
    return Fit.LIKELY if (head.text or head.rows) and is_known else Fit.LAST


CAPTIONS_TABLE: Final = Part(TABLE, "table of captions", _fits, has_columns=True)
READER: Final = BenchmarkReader(
    name=TABLE,
    title="Table",
    place=1,
    about="CSV, TSV, JSON (lines or an array of objects) or Parquet, with one row for each caption "
    "and video that belong together. The columns may have other names. The plan shows how they are "
    "read, and you can change it there.",
    example="caption_id,caption,video_id",
    combinations=[[CAPTIONS_TABLE]],
    files="a table of captions",
    alone="one table of captions",
    titles={
        CSV: "table of captions (CSV)",
        TSV: "table of captions (TSV)",
        JSONL: "table of captions (JSON lines)",
        JSON: "table of captions (JSON)",
        PARQUET_ROWS: "table of captions (Parquet)",
        HEADLESS: "table of captions without a header",
    },
    read=lambda files, columns, problems: read_table(files[TABLE], columns, problems),
)
