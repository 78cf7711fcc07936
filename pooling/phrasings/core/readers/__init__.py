"""Readers of files of phrasings."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from pooling.core.keys import key_fault, shown, text_fault
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks.captions import MAX_TEXT
from pooling.core.readers.registry import Reader, Readers

MAX_PHRASINGS = 1_000_000
MAX_NUMBER = 9_999
"""A caption has a handful of phrasings. The limit finds columns that are mixed up."""
MAX_BYTES = 512 << 20
COLUMNS: Final = ("phrasing", "origin", "model", "prompt_sha256")
"""The optional columns, after the caption and the text."""


@dataclass(frozen=True, slots=True)
class PhrasingRow:
    """A phrasing in a file. number: None for the next free number of the caption."""

    line: int
    caption: str
    text: str
    number: int | None
    origin: str
    model: str
    prompt_sha256: str


@dataclass(frozen=True, slots=True)
class PhrasingFile:
    """The phrasings in the order of the file, and the hash of its content."""

    rows: tuple[PhrasingRow, ...]
    sha256: str
    notes: tuple[str, ...]


PHRASINGS: Final = Readers[Reader[[Collection[str]], PhrasingFile]]("phrasings", __package__)


def checked_rows(
    rows: Iterable[tuple[int, tuple[str, ...]]], captions: Collection[str], problems: Problems
) -> tuple[PhrasingRow, ...]:
    """Return the rows of a file: caption, text, and a value or "" for each of `COLUMNS`.

    captions: the keys of the benchmark's captions. Faults are added to `problems`.
    """
    found: list[PhrasingRow] = []
    for line, (caption, text, number, origin, model, prompt) in rows:
        if len(found) == MAX_PHRASINGS:
            problems.add(f"the file has more than {MAX_PHRASINGS:,} phrasings", line=line)
            break
        if fault := _fault(caption, text, number, captions):
            problems.add(fault, line=line)
            continue
        place = int(number) if number else None
        found.append(PhrasingRow(line, caption, text, place, origin, model, prompt))
    if not found:
        problems.add("the file has no phrasing", line=1)
    problems.check()
    return tuple(found)


def _fault(caption: str, text: str, number: str, captions: Collection[str]) -> str | None:
    if caption not in captions:
        return key_fault(caption, "caption") or f"unknown caption {shown(caption)}"
    if number and not (number.isascii() and number.isdigit() and int(number) <= MAX_NUMBER):
        return f"{shown(number)} is not the number of a phrasing (0 to {MAX_NUMBER:,})"
    return text_fault(text, "phrasing", longest=MAX_TEXT)


def problems_of(file: SourceFile) -> Problems:
    return Problems(file.source)
