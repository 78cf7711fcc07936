"""The outermost object or list of a large JSON file, read member by member.

Only one member is in memory at a time. The C parser of the standard library parses each member, so
reading is as fast as `json.loads`. But `json.loads` would need several times as much memory as the
size of the file.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import NoReturn

from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import TextBlocks

# The ranked list of one caption has a few kilobytes. A parsed member needs up to 25 times as
# much memory as its text.
MAX_MEMBER_BYTES = 3 << 20

_SPACE = re.compile(r"[ \t\n\r]*")
# An error that is further than this number of characters from the end of the text is real. A nearer
# one may disappear if more text follows.
_LONGEST_WORD = len("-Infinity") + len("\\ud800\\udc00")


class JsonMembers:
    """An iterable over the members of the outermost value: (key, value), or for a list
    (index as text, value).

    Raises `InvalidInput` if the file is not strict JSON (which has no repeated keys, NaN or
    Infinity), or if its outermost value is neither an object nor a list. It is also raised for
    more than `most` members, or a member of more than `longest` characters. If the syntax is wrong,
    the error names the line.
    """

    def __init__(self, blocks: TextBlocks, *, most: int, longest: int = MAX_MEMBER_BYTES) -> None:
        self.is_list = False
        self._most = most
        self._longest = longest
        self._source = blocks.source
        self._blocks = iter(blocks)
        self._scan = json.JSONDecoder(
            object_pairs_hook=self._unique, parse_constant=self._refuse_constant
        ).raw_decode
        self._text = ""
        self._at = 0
        self._ended = False
        # The number of newlines before `_text`, and the number of characters between the last of
        # these newlines and `_text`.
        self._lines = self._column = 0

    def __iter__(self) -> Iterator[tuple[str, object]]:
        opening = self._next()
        if opening not in ("{", "["):
            self._value()
            self._refuse("the outermost value is neither an object nor a list")
        self.is_list = opening == "["
        self._at += 1
        yield from self._members("]" if self.is_list else "}")
        if self._next():
            self._refuse_syntax("Extra data", self._at)

    def _members(self, closing: str) -> Iterator[tuple[str, object]]:
        if self._next() == closing:
            self._at += 1
            return
        keys: set[str] = set()
        while True:
            if len(keys) == self._most:
                self._refuse(f"the file has too many entries; the maximum is {self._most:,}")
            key = str(len(keys)) if self.is_list else self._key(keys)
            keys.add(key)
            yield key, self._value()
            separator = self._next()
            if separator not in (",", closing):
                self._refuse_syntax("Expecting ',' delimiter", self._at)
            self._at += 1
            if separator == closing:
                return

    def _key(self, keys: set[str]) -> str:
        if self._next() != '"':
            reason = "Expecting property name enclosed in double quotes"
            self._refuse_syntax(reason, self._at)
        key = str(self._value())
        if key in keys:
            self._refuse(f"the key {shown(key)} occurs twice in one object")
        if self._next() != ":":
            self._refuse_syntax("Expecting ':' delimiter", self._at)
        self._at += 1
        return key

    def _next(self) -> str:
        """Skip white space, and return the next character; "" at the end of the file."""
        while True:
            matched = _SPACE.match(self._text, self._at)
            end = matched.end() if matched else self._at
            if end < len(self._text):
                self._at = end
                return self._text[end]
            if end - self._at > self._longest:
                self._at = end
            if not self._read_more():
                self._at = len(self._text)
                return ""

    def _value(self) -> object:
        """Parse the value at the current position. Read more text until the value is complete."""
        self._next()
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended or _is_final(error):
                    self._refuse_syntax(error.msg, error.pos)
            except ValueError as error:  # the interpreter's limit on the digits of an integer
                raise InvalidInput("an integer has too many digits", source=self._source) from error
            except RecursionError as error:
                reason = "lists or objects are nested too deeply"
                raise InvalidInput(reason, source=self._source) from error
            else:
                if self._ended or end < len(self._text):  # otherwise more digits may follow
                    self._at = end
                    return value
            length = len(self._text) - self._at
            if length > self._longest:
                self._refuse(f"an entry has more than {self._longest:,} characters")
            # Read until the text is twice as long, so that it is not parsed many times.
            enough = min(2 * length, self._longest + 1)
            while self._read_more() and len(self._text) < enough:
                pass

    def _read_more(self) -> bool:
        """Drop the parsed text and read a block. Return False at the end of the file."""
        newlines = self._text.count("\n", 0, self._at)
        if newlines:
            self._column = -1 - self._text.rfind("\n", 0, self._at)
        self._lines += newlines
        self._column += self._at
        self._text, self._at = self._text[self._at :], 0
        block = next(self._blocks, None)
        if block is None:
            self._ended = True
            # The newlines at the end are removed, so that an error there names the last line.
            self._text = self._text.rstrip("\n")
            return False
        self._text += block.decode()
        return True

    def _unique(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            key = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
            self._refuse(f"the key {shown(key)} occurs twice in one object")
        return found

    def _refuse_constant(self, name: str) -> NoReturn:
        self._refuse(f"{name} is not a JSON number")

    def _refuse_syntax(self, reason: str, at: int) -> NoReturn:
        newline = self._text.rfind("\n", 0, at)
        column = at - newline if newline >= 0 else self._column + at + 1
        line = self._lines + self._text.count("\n", 0, at) + 1
        reason = f"the file is not JSON: {reason} (column {column})"
        raise InvalidInput(reason, source=self._source, line=line)

    def _refuse(self, reason: str) -> NoReturn:
        raise InvalidInput(reason, source=self._source)


def _is_final(error: json.JSONDecodeError) -> bool:
    """Return whether the error stays the same if more text follows."""
    ends_early = error.msg.startswith("Unterminated string")
    return not ends_early and error.pos < len(error.doc) - _LONGEST_WORD
