"""Readers of captions with their original positives, from one file or several together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks.captions import CaptionsFile
from pooling.core.readers.registry import (
    AUTO,
    Fit,
    Format,
    Formats,
    Head,
    SeveralFormats,
    best_fits,
)

TABLE: Final = "table"
HEADLESS: Final = "rows"
"""The formats whose columns can be selected in pages: tables with and without a header."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A kind of file that a benchmark can consist of.

    title: what messages call it. has_columns: whether its columns can be selected. otherwise: what
    can be done with such a file alone, as a sentence.
    """

    name: str
    title: str
    fits: Callable[[Head], Fit]
    has_columns: bool = False
    otherwise: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkReader(Format):
    """A format of benchmarks.

    combinations: the kinds of files that can be read together. files: these files in words.
    alone: the same for a person who has chosen this format; by default, `files`. option: the files
    as help of a command names them; empty if the format needs no name. read: gets the file of each
    part by its name, the selected columns, and the problems. titles: what messages call the formats
    in `CaptionsFile.formats` that are not names of parts.
    """

    kind: str = "benchmarks"
    combinations: Sequence[Sequence[Part]]
    files: str
    read: Callable[[Mapping[str, SourceFile], Mapping[str, str], Problems], CaptionsFile]
    alone: str = ""
    option: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)


BENCHMARKS: Final = Formats[BenchmarkReader]("benchmarks", __name__)


def read_captions(
    files: Sequence[SourceFile],
    *,
    expected: str = AUTO,
    columns: Mapping[str, str] | None = None,
    problems: Problems | None = None,
) -> CaptionsFile:
    """Read files in any order. Their formats are detected from their content.

    expected: `AUTO`, or the name of a format. columns: the names of the columns of a table.
    Invalid rows are added to `problems`. If `problems` is None, the first invalid row raises
    `InvalidInput`. It is also raised if a file cannot be read, or if the files do not belong
    together.
    """
    reader, by_part = choose(files, expected, has_columns=bool(columns))
    return reader.read(by_part, columns or {}, problems or Problems(stop_at=1))


def choose(
    files: Sequence[SourceFile], expected: str = AUTO, *, has_columns: bool = False
) -> tuple[BenchmarkReader, dict[str, SourceFile]]:
    """Return the reader of these files, and the file of each of its parts by its name.

    One file with selected columns is a table, although their names are not those that detection
    knows. A table that a person has chosen is not questioned. Raises `SeveralFormats`, and
    `InvalidInput` if the files do not belong together.
    """
    known = list(BENCHMARKS)
    readers = known if expected == AUTO else [BENCHMARKS.find(expected)]
    heads = [Head.of(file, is_alone=len(files) == 1) for file in files]
    if expected != AUTO and len(files) == 1 and (only := _only_part(readers[0])):
        return readers[0], {only.name: files[0]}
    if has_columns and len(files) == 1:
        kinds = [[part for part in _parts(known) if part.name == TABLE]]
    else:
        kinds = [best_fits(_parts(readers), head) for head in heads]
    found = [
        (reader, dict(zip((part.name for part in parts), files, strict=True)))
        for parts in product(*kinds)
        for reader in readers
        if any(set(parts) == set(each) and len(parts) == len(each) for each in reader.combinations)
    ]
    if not found:
        raise InvalidInput(_fault(files, heads, kinds, readers))
    fitting = list(dict.fromkeys(reader.name for reader, _ in found))
    if len(fitting) > 1:
        raise SeveralFormats([BENCHMARKS.find(name) for name in fitting], files[0].source)
    return found[0]  # of two files that could be either part, the first is the first part


def _only_part(reader: BenchmarkReader) -> Part | None:
    parts = _parts([reader])
    return parts[0] if len(parts) == 1 and parts[0].has_columns else None


def table_among(files: Sequence[SourceFile], expected: str = AUTO) -> SourceFile | None:
    """Return the first of the files that is a table, whose columns can be selected."""
    if expected != AUTO:
        return files[0] if _only_part(BENCHMARKS.find(expected)) else None
    for file in files:
        fitting = best_fits(_parts(BENCHMARKS), Head.of(file, is_alone=len(files) == 1))
        if any(part.name == TABLE for part in fitting):
            return file
    return None


def title_of(format: str) -> str:
    """Return what messages call a name in `CaptionsFile.formats`."""
    titles = {part.name: part.title for part in _parts(BENCHMARKS)}
    for reader in BENCHMARKS:
        titles |= reader.titles
    return titles[format]


def title_of_other(head: Head, name: str) -> str | None:
    """Return what messages call a file that is another format than the part with this name."""
    others = [part for part in _parts(BENCHMARKS) if part.name != name]
    fitting = best_fits(others, head, names_layouts=False)
    is_other = bool(fitting) and fitting[0].fits(head) > Fit.LAST
    return head.layout or (fitting[0].title if is_other else None)


def _parts(readers: Sequence[BenchmarkReader] | Formats[BenchmarkReader]) -> list[Part]:
    combinations = chain.from_iterable(reader.combinations for reader in readers)
    return list(dict.fromkeys(chain.from_iterable(combinations)))


def _fault(
    files: Sequence[SourceFile],
    heads: Sequence[Head],
    kinds: Sequence[Sequence[Part]],
    readers: Sequence[BenchmarkReader],
) -> str:
    """Return what the files are, and what they should be."""
    names = []
    for file, head, parts in zip(files, heads, kinds, strict=True):
        fitting = parts or best_fits(_parts(BENCHMARKS), head)
        title = fitting[0].title if fitting else head.layout or "an unknown format"
        names.append(f"{file.source} ({title})")
    companions = _companions(kinds, readers)
    if companions:
        wanted = "; or ".join(companions)
        hints = {part.otherwise: None for parts in kinds for part in parts if part.otherwise}
        reason = f"A file is missing: {', '.join(names)} is read together with {wanted}."
        return " ".join([reason, *hints])
    *others, last = [reader.files for reader in readers]
    wanted = "; ".join([*others, f"or {last}"]) if others else readers[0].alone or last
    return f"These files cannot be read: {', '.join(names)}. Expected: {wanted}."


def _companions(kinds: Sequence[Sequence[Part]], readers: Sequence[BenchmarkReader]) -> list[str]:
    """Return, for each format to which all files could belong, what is missing."""
    found: dict[str, None] = {}
    for reader in readers:
        wholes = sorted(reader.combinations, key=len)
        fitting = (
            [part.title for part in whole if part not in parts]
            for parts in product(*kinds)
            for whole in wholes
            if set(parts) < set(whole) and len(set(parts)) == len(parts)
        )
        if missing := next(fitting, None):
            found[" and ".join(missing)] = None
    return list(found)
