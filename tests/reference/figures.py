"""A figure that another program or a paper states, and the one that Hearth computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A number or text that Hearth must reproduce.

    tolerance: the largest difference that the rounding of `expected` explains. skipped: why the
    figure was not computed; empty if it was.
    """

    source: str
    name: str
    expected: Any
    computed: Any
    tolerance: float = 0.0
    skipped: str = ""

    @property
    def differs(self) -> bool:
        if self.skipped:
            return False
        if isinstance(self.expected, float):
            return self.computed is None or abs(self.computed - self.expected) > self.tolerance
        return bool(self.computed != self.expected)


@dataclass(frozen=True)
class Options:
    """The folders of the data sets and of WordNet."""

    data: Path
    wordnet: Path


def compared(
    source: str, expected: Mapping[str, Any], computed: Mapping[str, Any], tolerance: float
) -> Iterator[Figure]:
    """Yield a figure for each name. Whole numbers and texts must be equal."""
    for name, value in expected.items():
        yield Figure(source, name, value, computed.get(name), tolerance)
