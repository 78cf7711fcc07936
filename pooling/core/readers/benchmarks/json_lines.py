"""Tables in JSON lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pooling.core.keys import shown
from pooling.core.lines import TextBlocks
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks.joined import Row

MAX_COLUMNS = 50


class JsonLines:
    """An iterable over objects, one per line: line number, and a tuple of values.

    The tuple has a value for each of `names`, and then for each of `optional`. An object with a
    list as the last of `names` yields a row for each value of the list. Integers become text, and
    in the columns `numbers` also other numbers, as they are written. A line that is not such an
    object is added to `problems`.
    """

    def __init__(
        self,
        blocks: TextBlocks,
        names: Sequence[str],
        optional: Sequence[str],
        problems: Problems,
        *,
        numbers: Collection[str] = (),
    ) -> None:
        self.notes: tuple[str, ...] = ()
        self._blocks = blocks
        self._names = names
        self._optional = optional
        self._problems = problems
        self._numbers = numbers

    def __iter__(self) -> Iterator[Row]:
        unused: dict[str, None] = {}
        known = {*self._names, *self._optional}
        for line, text in enumerate(self._blocks.text_lines(), start=1):
            if text.isspace():
                continue
            try:
                found = json_object(text)
                rows = self._rows(found)
            except ValueError as error:
                self._problems.add(str(error), self._blocks.source, line)
                continue
            unused.update(dict.fromkeys(name for name in found if name not in known))
            for row in rows:
                yield line, row
        if unused:
            listed = ", ".join(shown(name) for name in list(unused)[:MAX_COLUMNS])
            self.notes = (f"columns not used: {listed}",)

    def _rows(self, found: dict[str, Any]) -> list[tuple[str, ...]]:
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
        if not isinstance(value, str) or (
            isinstance(value, Fraction) and name not in self._numbers
        ):
            raise ValueError(f"{shown(name)} is not a text")
        return str(value)


class Fraction(str):
    """A JSON number that is not an integer, as it is written."""

    __slots__ = ()


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
