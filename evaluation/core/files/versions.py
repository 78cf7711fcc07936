"""Version numbers of label sets."""

from __future__ import annotations

import re
from typing import NamedTuple

# At most nine digits, so that each part fits into a column of the database.
PATTERN = r"[0-9]{1,9}(?:\.[0-9]{1,9}\.[0-9]{1,9})?"
_VERSION = re.compile(PATTERN)


class Version(NamedTuple):
    """MAJOR.MINOR.PATCH. Missing parts are 0, so 2 is 2.0.0."""

    major: int
    minor: int = 0
    patch: int = 0

    def __str__(self) -> str:
        return ".".join(map(str, self))

    def next(self, part: str) -> Version:
        """Return the version after a change of `part`, the name of a field."""
        if part == "major":
            return Version(self.major + 1)
        if part == "minor":
            return Version(self.major, self.minor + 1)
        return Version(self.major, self.minor, self.patch + 1)


def parse_version(text: str) -> Version | None:
    """Return the version for a text such as 2 or 2.1.0, or None if the text is not a version."""
    return Version(*map(int, text.split("."))) if _VERSION.fullmatch(text) else None


def full_version(text: str) -> str:
    """Return a version such as 2 with all three parts: 2.0.0. Return any other text unchanged."""
    version = parse_version(text)
    return text if version is None else str(version)
