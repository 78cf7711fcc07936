"""Tables of captions: CSV, TSV or JSON lines, whose columns may have any name."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from config.shared.errors import InvalidInput
from pooling.core.formats.captions import MAX_BYTES, MAX_ROWS, CaptionsBuilder, CaptionsFile
from pooling.core.keys import shown
from pooling.core.lines import Progress, TextBlocks, first_bytes
from pooling.core.problems import Problems
from pooling.core.table import CsvTable

CSV, TSV, JSONL = "csv", "tsv", "jsonl"
KEY, TEXT, VIDEO = "caption_id", "caption", "video_id"
# The usual names of each column, in order of preference. They are used if a column is not selected.
KNOWN_NAMES = {
    KEY: (KEY, "query_id", "sen_id", "sentence_id", "qid", "key", "id"),
    TEXT: (TEXT, "sentence", "text", "query", "description"),
    VIDEO: (VIDEO, "video", "vid", "video_name", "clip_id", "clip"),
}
PREVIEW_ROWS = 5
PREVIEW_TEXT = 200
MAX_COLUMNS = 50
HEAD_BYTES = 1 << 16
_DELIMITERS = {",": CSV, "\t": TSV, ";": CSV}

Row = tuple[int, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class TableHead:
    """The start of a table: its format, its columns, and its first rows, shortened."""

    format: str
    delimiter: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

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


def read_head(path: Path, source: str) -> TableHead:
    """Return the start of a table. If it cannot be read as a table, the result has no columns."""
    head = first_bytes(path, source, HEAD_BYTES)
    lines = head.decode("utf-8", "replace").removeprefix("\ufeff").splitlines(keepends=True)
    if len(head) == HEAD_BYTES and len(lines) > 1:
        lines.pop()  # it may be incomplete
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        return _json_head(lines)
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        reader = csv.reader(lines, delimiter=delimiter)
        records = list(islice((row for row in reader if row), PREVIEW_ROWS + 1))
    except csv.Error:
        records = []
    header, *rows = records or [[]]
    return TableHead(
        _DELIMITERS[delimiter], delimiter, tuple(header[:MAX_COLUMNS]), _shortened(rows)
    )


def parse_captions(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    problems: Problems | None = None,
    progress: Progress | None = None,
    source: str | None = None,
) -> CaptionsFile:
    """Read a table with one row for each original positive of a caption.

    columns: the names of the columns `caption_id`, `caption` and `video_id` in this file; a column
    without a name is found by its usual names. If there is no column of ids, the key of a caption
    is made of the key of its video and its position among the captions of that video, such as
    `v1#0`. In JSON lines, a row may name a list of videos.

    Invalid rows are added to `problems`. If `problems` is None, the first one is raised. Raises
    `InvalidInput` if the file cannot be read as a table, or if it has no captions.
    """
    source, problems = source or str(path), problems or Problems(stop_at=1)
    head = read_head(path, source)
    named = head.named(columns or {})
    blocks = TextBlocks(path, source=source, progress=progress, max_bytes=MAX_BYTES)
    wanted = (KEY, TEXT, VIDEO) if KEY in named else (TEXT, VIDEO)
    table: CsvTable | JsonLines
    if head.format == JSONL:
        table = JsonLines(blocks, wanted, named, problems)
    else:
        table = CsvTable(blocks, wanted, named=named, delimiter=head.delimiter, problems=problems)
    rows: Iterable[Row] = table if KEY in named else _with_keys(table)
    builder = CaptionsBuilder(source, problems)
    for number, (line, (key, text, video)) in enumerate(rows):
        if number == MAX_ROWS:
            raise InvalidInput(f"more than {MAX_ROWS:,} rows", source=source, line=line)
        builder.add_row(line, key, text, video)
    if not len(builder) and not problems.number:
        raise InvalidInput("the file has a header but no caption", source=source, line=1)
    return builder.finish(
        _sha256(blocks.sha256, named),
        (*_notes(named), *table.notes),
        sources=(source,),
        formats=(head.format,),
    )


class JsonLines:
    """An iterable over objects, one per line: line number, and a tuple of values.

    An object with a list of videos yields a row for each video. Numbers become text. A line
    that is not such an object is added to `problems`.
    """

    def __init__(
        self,
        blocks: TextBlocks,
        wanted: Sequence[str],
        named: Mapping[str, str],
        problems: Problems,
    ) -> None:
        self.notes: tuple[str, ...] = ()
        self._blocks = blocks
        self._names = [named.get(column, column) for column in wanted]
        self._problems = problems

    def __iter__(self) -> Iterator[Row]:
        unused: dict[str, None] = {}
        for line, text in enumerate(self._blocks.text_lines(), start=1):
            if text.isspace():
                continue
            try:
                found = _object(text)
                rows = self._rows(found)
            except ValueError as error:
                self._problems.add(str(error), self._blocks.source, line)
                continue
            unused.update(dict.fromkeys(name for name in found if name not in self._names))
            for row in rows:
                yield line, row
        if unused:
            listed = ", ".join(shown(name) for name in list(unused)[:MAX_COLUMNS])
            self.notes = (f"columns not used: {listed}",)

    def _rows(self, found: dict[str, Any]) -> list[tuple[str, ...]]:
        *first, last = self._names
        values = [_text(found, name) for name in first]
        several = found.get(last)
        if not isinstance(several, list):
            return [(*values, _text(found, last))]
        return [(*values, _text({last: value}, last)) for value in several]


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text.rstrip("\n"))
    except RecursionError:
        raise ValueError("lists or objects are nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"the line is not JSON: {error.msg} (column {error.colno})") from None
    except ValueError:
        raise ValueError("an integer has too many digits") from None
    if not isinstance(found, dict):
        raise ValueError("the line is not a JSON object")
    return found


def _text(found: Mapping[str, Any], name: str) -> str:
    if name not in found:
        raise ValueError(f"the object has no {shown(name)}")
    value = found[name]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ValueError(f"{shown(name)} is not a text")
    return value


def _with_keys(rows: Iterable[Row]) -> Iterator[Row]:
    """Add a key to each row: its video, and its position among the captions of the video."""
    positions: Counter[str] = Counter()
    for line, (text, video) in rows:
        yield line, (f"{video}#{positions[video]}", text, video)
        positions[video] += 1


def _notes(named: Mapping[str, str]) -> list[str]:
    renamed = [f"{c} from {shown(name)}" for c, name in named.items() if c != name]
    notes = [f"columns read: {', '.join(renamed)}"] if renamed else []
    if KEY not in named:
        notes.append(
            "There is no column of caption ids, so the id of each caption is made of the id of its "
            "video and its position among the captions of that video."
        )
    return notes


def _sha256(content: str, named: Mapping[str, str]) -> str:
    """Return the hash of the content, and of the column names if they are not the standard ones."""
    if all(named.get(column) == column for column in KNOWN_NAMES):
        return content
    return hashlib.sha256(json.dumps([content, dict(named)], sort_keys=True).encode()).hexdigest()


def _json_head(lines: Sequence[str]) -> TableHead:
    objects = []
    for line in [line for line in lines if line.strip()][: PREVIEW_ROWS + 1]:
        try:
            objects.append(_object(line))
        except ValueError:
            break
    columns = tuple(dict.fromkeys(name for found in objects for name in found))[:MAX_COLUMNS]
    rows = [[_shown_value(found.get(name, "")) for name in columns] for found in objects]
    return TableHead(JSONL, "", columns, _shortened(rows))


def _shown_value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shortened(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(value[:PREVIEW_TEXT] for value in row[:MAX_COLUMNS]) for row in rows[:PREVIEW_ROWS]
    )
