"""Tables of objects with named values: JSON lines, JSON arrays, and Parquet."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from hearth.shared.errors import InvalidInput
from pooling.core.json_members import JsonMembers
from pooling.core.keys import shown
from pooling.core.lines import SourceFile, open_binary, sha256_of_file
from pooling.core.parquet import open_parquet
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks.captions import MAX_BYTES, MAX_ROWS
from pooling.core.readers.benchmarks.joined import Row
from pooling.core.readers.benchmarks.json_lines import Found, Fraction, JsonLinesFile

MAX_COLUMNS = 50
MEMBER_KEY: Final = "(key)"
"""The column with the keys of an object whose members are the rows."""
_BATCH = 4_096


class JsonArrayFile:
    """An iterable over the objects of a JSON array, or over the members of an object of objects.

    The keys of the members are the values of the column `MEMBER_KEY`.
    """

    def __init__(self, file: SourceFile) -> None:
        self._blocks = file.blocks(max_line=None, max_bytes=MAX_BYTES)

    def __iter__(self) -> Iterator[Found]:
        members = JsonMembers(self._blocks, most=MAX_ROWS)
        for number, (key, value) in enumerate(members, start=1):
            place = f"entry {number}" if members.is_list else f"entry {shown(key)}"
            if not isinstance(value, dict):
                yield 0, place, "this is not a JSON object"
                continue
            known = {} if members.is_list else {MEMBER_KEY: key}
            yield 0, place, {**known, **value}

    @property
    def sha256(self) -> str:
        return self._blocks.sha256


class ParquetRows:
    """An iterable over the rows of a Parquet file, as objects with some of its columns.

    Only these columns are read, so a file may also contain videos. Raises `InvalidInput` if the
    file is damaged, or if it has too many rows or too much text.
    """

    def __init__(self, file: SourceFile, names: Collection[str]) -> None:
        self._file = file
        self._names = names

    def __iter__(self) -> Iterator[Found]:
        import pyarrow

        with open_binary(self._file.path, self._file.source):
            pass  # a file that cannot be opened is refused in words
        try:
            yield from self._rows()
        except (pyarrow.ArrowException, OSError) as error:
            self._refuse(f"the Parquet file is damaged: {str(error)[:200]}")

    def _rows(self) -> Iterator[Found]:
        opened = open_parquet(self._file)
        columns = [name for name in opened.schema_arrow.names if name in self._names]
        rows = opened.metadata.num_rows
        if rows > MAX_ROWS:
            self._refuse(f"the file has {rows:,} rows; the maximum is {MAX_ROWS:,}")
        number = size = 0
        for batch in opened.iter_batches(_BATCH, columns=columns):
            values = {name: _values(batch.column(name)) for name in columns}
            for cells in zip(*values.values(), strict=True):
                number += 1
                size += sum(len(cell) for cell in cells if isinstance(cell, str))
                if size > MAX_BYTES:
                    self._refuse(f"the columns have more than {MAX_BYTES:,} characters")
                found = {n: c for n, c in zip(values, cells, strict=True) if c is not None}
                yield 0, f"row {number}", found

    @property
    def sha256(self) -> str:
        return sha256_of_file(self._file.path, self._file.source)

    def _refuse(self, reason: str) -> None:
        raise InvalidInput(reason, source=self._file.source)


def _values(column: Any) -> list[Any]:
    """Return the values of a column. Equal texts of a dictionary are one object in memory."""
    if not hasattr(column, "dictionary"):
        found: list[Any] = column.to_pylist()
        return found
    texts = column.dictionary.to_pylist()
    return [None if at is None else texts[at] for at in column.indices.to_pylist()]


class ObjectTable:
    """An iterable over rows: line number, and a tuple of texts.

    The tuple has a value for each of `names`, and then for each of `optional`. If the value of
    `text`, or else of the last name, is a list, the object yields a row for each value of the list;
    the value of `key` then gets the position of the text, such as `c1#0`. Integers become text, and
    in the columns `numbers` also other numbers, as they are written. An object without a value is
    added to `problems`.
    """

    def __init__(
        self,
        objects: JsonLinesFile | JsonArrayFile | ParquetRows,
        source: str,
        names: Sequence[str],
        optional: Sequence[str],
        problems: Problems,
        *,
        numbers: Collection[str] = (),
        text: str = "",
        key: str = "",
    ) -> None:
        self.notes: tuple[str, ...] = ()
        self._objects = objects
        self._source = source
        self._names = names
        self._optional = optional
        self._problems = problems
        self._numbers = numbers
        self._text_name = text
        self._key = key

    def __iter__(self) -> Iterator[Row]:
        unused: dict[str, None] = {}
        known = {*self._names, *self._optional}
        for line, place, found in self._objects:
            try:
                if isinstance(found, str):
                    raise ValueError(found)
                rows = self._rows(found)
            except ValueError as error:
                reason = f"{place}: {error}" if place else str(error)
                self._problems.add(reason, self._source, line or None)
                continue
            unused.update(dict.fromkeys(name for name in found if name not in known))
            for row in rows:
                yield line, row
        if unused:
            listed = ", ".join(shown(name) for name in list(unused)[:MAX_COLUMNS])
            self.notes = (f"columns not used: {listed}",)

    def _rows(self, found: dict[str, Any]) -> list[tuple[str, ...]]:
        texts = found.get(self._text_name)
        if not isinstance(texts, list):
            return self._rows_of_videos(found)
        rows = []
        for number, text in enumerate(texts):
            row = {**found, self._text_name: text}
            if self._key in found:
                row[self._key] = f"{self._text(found, self._key)}#{number}"
            rows += self._rows_of_videos(row)
        return rows

    def _rows_of_videos(self, found: dict[str, Any]) -> list[tuple[str, ...]]:
        *first, last = self._names
        values = [self._text(found, name) for name in first]
        rest = [str(found.get(name, "")) for name in self._optional]
        several = found.get(last)
        if not isinstance(several, list):
            return [(*values, self._text(found, last), *rest)]
        return [(*values, self._text({last: value}, last), *rest) for value in several]

    def _text(self, found: Mapping[str, Any], name: str) -> str:
        if name not in found:
            raise ValueError(f"the object has no {shown(name)}")
        value = found[name]
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, float) and name in self._numbers:
            return repr(value)
        if not isinstance(value, str) or (
            isinstance(value, Fraction) and name not in self._numbers
        ):
            raise ValueError(f"{shown(name)} is not a text")
        return str(value)


def first_objects(text: str, most: int) -> list[dict[str, Any]]:
    """Return the first objects of a JSON array, or of an object of objects, in its first bytes."""
    decoder = json.JSONDecoder(parse_float=Fraction)
    is_list = text.startswith("[")
    found: list[dict[str, Any]] = []
    at = 1
    try:
        while len(found) < most:
            at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,"))
            known = {}
            if not is_list:
                key, at = decoder.raw_decode(text, at)
                at = text.index(":", at) + 1
                at += len(text[at:]) - len(text[at:].lstrip())
                known = {MEMBER_KEY: key}
            value, at = decoder.raw_decode(text, at)
            if not isinstance(value, dict):
                return []
            found.append({**known, **value})
    except (ValueError, RecursionError):
        pass
    return found
