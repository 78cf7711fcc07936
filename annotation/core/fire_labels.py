"""Labels in the JSON format of the published FIRE annotations.

`evaluation.core.files.fire` describes the format and writes it. A response has an annotator and a
label, but no time. `query` is the text of a caption. The responses belong to the first caption with
exactly this text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown

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
