"""The errors of imported files, collected so that a person can correct all of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from config.shared.errors import InvalidInput

MAX_REFUSALS = 100


class Refusal(NamedTuple):
    """One error. `line` counts from 1; it is None if the error has no line."""

    source: str
    line: int | None
    reason: str


@dataclass(slots=True)
class Refusals:
    """The first hundred errors, and the number of all.

    With `stop`, the first error is raised as `InvalidInput` instead.
    """

    first: list[Refusal]
    number: int = 0
    stop: bool = False

    @classmethod
    def collected(cls) -> Refusals:
        return cls([])

    @classmethod
    def raised(cls) -> Refusals:
        return cls([], stop=True)

    def add(self, reason: str, source: str, line: int | None = None) -> None:
        if self.stop:
            raise InvalidInput(reason, source=source, line=line)
        self.number += 1
        if len(self.first) < MAX_REFUSALS:
            self.first.append(Refusal(source, line, reason))
