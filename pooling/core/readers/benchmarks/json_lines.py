"""Objects in JSON lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pooling.core.lines import TextBlocks

Found = tuple[int, str, dict[str, Any] | str]
"""The line of an object (0 in formats without lines), its place in words, and the object; or the
reason why it is none."""


class Fraction(str):
    """A JSON number that is not an integer, as it is written."""

    __slots__ = ()


class JsonLinesFile:
    """An iterable over the objects of a file with one JSON object per line."""

    def __init__(self, blocks: TextBlocks) -> None:
        self._blocks = blocks

    def __iter__(self) -> Iterator[Found]:
        for line, text in enumerate(self._blocks.text_lines(), start=1):
            if not text.isspace():
                try:
                    yield line, "", json_object(text)
                except ValueError as error:
                    yield line, "", str(error)

    @property
    def sha256(self) -> str:
        return self._blocks.sha256


def json_object(text: str) -> dict[str, Any]:
    """Return the object in a line of JSON. Raises `ValueError` with the reason."""
    try:
        found = json.loads(text.rstrip("\n"), parse_float=Fraction)
    except RecursionError:
        raise ValueError("lists or objects are nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"the line is not JSON: {error.msg} (column {error.colno})") from None
    except ValueError:
        raise ValueError("an integer has too many digits") from None
    if not isinstance(found, dict):
        raise ValueError("the line is not a JSON object")
    return found
