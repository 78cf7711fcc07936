"""Errors that a person can cause or must see.

Services and parsers raise them. `hearth.shared.http` maps them to HTTP statuses, and
`hearth.shared.commands` to exit codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict


class HearthError(Exception):
    """An error that the caller can understand and act on. Its text may be shown."""


class ProblemReport(TypedDict):
    """A problem as pages and the API show it. `file` is empty if only one file was read."""

    file: str
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One error of a file. `line` counts from 1, and is None in formats without lines.

    `source` is the name of the file, if several files are read together.
    """

    reason: str
    line: int | None = None
    source: str | None = None

    def report(self) -> ProblemReport:
        return {"file": self.source or "", "line": self.line, "reason": self.reason}


class InvalidInput(HearthError):
    """A file or value is not valid, and nothing was written.

    `source` is the name of the file as the user gave it, or None for other input. `line` counts
    from 1, and is None for input without lines. `problems` are all errors that were found,
    including the first.
    """

    def __init__(
        self,
        reason: str,
        *,
        source: str | None = None,
        line: int | None = None,
        problems: Sequence[Problem] = (),
    ) -> None:
        self.reason = reason
        self.source = source
        self.line = line
        self.problems = tuple(problems) or (Problem(reason, line),)
        place = ", ".join(
            part for part in (source, f"line {line}" if line is not None else None) if part
        )
        super().__init__(f"{place}: {reason}" if place else reason)

    def reports(self) -> list[ProblemReport]:
        """Return all problems; empty if there is only one, which the text of the error contains."""
        return [problem.report() for problem in self.problems] if len(self.problems) > 1 else []


class DamagedPart(HearthError):
    """A part of a file does not match the checksum that was sent with it."""


class NotFound(HearthError):
    """The object does not exist, or the caller may not see it."""


class NotPermitted(HearthError):
    """The caller may not do this."""


class TooLarge(HearthError):
    """The request is larger than its address accepts."""


class LengthRequired(HearthError):
    """The request does not state its length."""


class TooManyRequests(HearthError):
    """One person or network address has sent too many requests, and must wait for `seconds`."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(
            "Too many requests came from your account or your network address in this minute. "
            f"Try again in {seconds} s."
        )


class Conflict(HearthError):
    """The request contradicts what is stored, such as a different label under the same key."""


class Outdated(Conflict):
    """The object has changed since the caller read it."""


class Cancelled(HearthError):
    """A person cancelled the job. Its open transaction is rolled back."""


class TakenOver(Cancelled):
    """Another worker has taken over the job and still needs its files."""
