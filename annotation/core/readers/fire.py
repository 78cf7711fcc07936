"""Judgments in the JSON format of the published FIRE annotations.

`evaluation.core.files.fire` describes the format and writes it. A response has an annotator and a
label, but no time. `query` is the text of a caption. The responses belong to the first caption with
exactly this text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NoReturn

from annotation.core.readers.judgments import JUDGMENTS, JudgmentRows, JudgmentsFile, JudgmentsOf
from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import SourceFile
from pooling.core.readers.registry import Fit, Reader

MAX_BYTES = 1 << 30
LISTS = ("annotations", "disagreements", "undecided")
LICENCE_KEYS = ("license", "licence")
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class FireEntries:
    """An iterable over the entries of a FIRE file, each with its line number.

    Entries are parsed one by one, because the parsed file would need ten times the memory of its
    text. After the last entry, `header` has the other top-level values.
    """

    def __init__(self, text: str, source: str) -> None:
        self.header: dict[str, Any] = {}
        self._text = text
        self._source = source
        self._at = 0
        self._line, self._counted = 1, 0

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        self._expect("{")
        if self._next() != "}":
            yield from self._members()
        self._expect("}")
        if self._next():
            self.refuse("the file is not JSON: there is text after its end")

    def _members(self) -> Iterator[tuple[int, dict[str, Any]]]:
        while True:
            key = self._value()
            self._expect(":")
            if key in LISTS and self._next() == "[":
                yield from self._entries()
            else:
                self.header[str(key)] = self._value()
            if self._next() != ",":
                return
            self._at += 1

    @property
    def licences(self) -> tuple[str, ...]:
        """The different licences that the file states, unchanged."""
        found = [self.header.get(key) for key in LICENCE_KEYS]
        return tuple(dict.fromkeys(text for text in found if isinstance(text, str) and text))

    def refuse(self, reason: str) -> NoReturn:
        raise InvalidInput(reason, source=self._source, line=self._line_here())

    def _entries(self) -> Iterator[tuple[int, dict[str, Any]]]:
        self._expect("[")
        if self._next() == "]":
            self._at += 1
            return
        while True:
            self._next()
            line, entry = self._line_here(), self._value()
            if not isinstance(entry, dict):
                self.refuse("an entry is not an object")
            yield line, entry
            if self._next() != ",":
                break
            self._at += 1
        self._expect("]")

    def _next(self) -> str:
        """Skip white space, and return the next character; "" at the end."""
        matched = _SPACE.match(self._text, self._at)
        self._at = matched.end() if matched else self._at
        return self._text[self._at : self._at + 1]

    def _expect(self, character: str) -> None:
        if self._next() != character:
            self.refuse(f"the file is not JSON: {character!r} is expected")
        self._at += 1

    def _value(self) -> Any:
        self._next()
        try:
            value, self._at = _DECODER.raw_decode(self._text, self._at)
        except (ValueError, RecursionError) as error:
            self.refuse(f"the file is not JSON: {getattr(error, 'msg', error)}")
        return value

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line


def responses_of(entry: dict[str, Any]) -> tuple[str, str, list[tuple[str, str]]]:
    """Return the query and the video of an entry, and annotator and label of each response.

    Raises ValueError with the reason if the entry is malformed.
    """
    query, video = entry.get("query"), entry.get("video_id")
    annotators, labels = entry.get("annotator_ids"), entry.get("annotator_labels")
    if not isinstance(query, str) or not isinstance(video, str):
        raise ValueError("the entry needs the texts `query` and `video_id`")
    if not isinstance(annotators, list) or not isinstance(labels, list):
        raise ValueError("the entry needs the lists `annotator_ids` and `annotator_labels`")
    if len(annotators) != len(labels):
        raise ValueError(
            f"the entry has {len(annotators)} `annotator_ids`, but {len(labels)} `annotator_labels`"
        )
    return query, video, [(str(a), str(la)) for a, la in zip(annotators, labels, strict=True)]


def label_of(entry: dict[str, Any]) -> str:
    """Return the label of the entry as text for messages; empty if it has no label."""
    label = entry.get("label")
    return label if isinstance(label, str) else "" if label is None else shown(str(label))


def _read(file: SourceFile, of: JudgmentsOf) -> JudgmentsFile:
    """Read all responses. Raises `InvalidInput` if `of.data_set` must select a data set."""
    by_text: dict[str, int] = {}
    for number, text in enumerate(of.query_texts):
        by_text.setdefault(text, number)
    blocks = file.blocks(max_line=None, max_bytes=MAX_BYTES)
    rows = JudgmentRows(blocks, of, by_text)
    entries = FireEntries(b"".join(blocks).decode(), blocks.source)
    data_sets: dict[str, int] = {}
    n_differing = 0
    for line, entry in entries:
        name = str(entry.get("dataset", ""))
        data_sets[name] = data_sets.get(name, 0) + 1
        if of.data_set and name != of.data_set:
            continue
        try:
            query, video, responses = responses_of(entry)
        except ValueError as error:
            rows.stop(line, str(error))
        for annotator, label in responses:
            rows.add(line, query, video, annotator, label)
        n_differing += _differs(label_of(entry), [label for _, label in responses])
    if len(data_sets) > 1 and not of.data_set:
        names = ", ".join(map(shown, sorted(data_sets)))
        rows.stop(1, f"the file has several data sets: {names}; select one of them")
    notes = []
    if n_differing:
        notes.append(
            f"labels that differ from the majority of their responses: {n_differing:,}; only the "
            "responses are imported"
        )
    found = rows.finish(may_repeat=True)
    return replace(
        found, format=READER.name, licences=entries.licences, notes=(*notes, *found.notes)
    )


def _differs(label: str, responses: list[str]) -> bool:
    """Return whether a label differs from the majority of its responses."""
    relevant = 2 * sum(response == "relevant" for response in responses) - len(responses)
    majority = "" if relevant == 0 else "relevant" if relevant > 0 else "irrelevant"
    return label != majority


READER: Final = Reader(
    kind=JUDGMENTS.kind,
    name="fire",
    title="FIRE JSON",
    place=3,
    about="The annotations that the FIRE study (Rodriguez et al. 2022) published, or a file in "
    "their format that Hearth has exported. Each response is a judgment.",
    fits=lambda head: Fit.POSSIBLE if head.text.startswith("{") else Fit.NO,
    read=_read,
)
