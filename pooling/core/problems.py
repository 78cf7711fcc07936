"""The errors of files, collected so that a person can correct all of them at once."""

from __future__ import annotations

from hearth.shared.errors import InvalidInput, Problem

PROBLEMS_MAX = 100


class Problems:
    """The first hundred errors of files that are read together, and the number of all errors.

    source: the name of the file, if there is one file. stop_at: the number of errors at which
    `InvalidInput` is raised; None to read all files to their end.
    """

    def __init__(self, source: str | None = None, *, stop_at: int | None = PROBLEMS_MAX) -> None:
        self.first: list[Problem] = []
        self.number = 0
        self._source = source
        self._stop_at = stop_at

    def add(self, reason: str, source: str | None = None, line: int | None = None) -> None:
        self.number += 1
        if self.number <= PROBLEMS_MAX:
            self.first.append(Problem(reason, line, source))
        if self.number == self._stop_at:
            raise self.error()

    def check(self) -> None:
        """Raise `InvalidInput` with the first errors, by file and line, if there are any."""
        if self.number:
            raise self.error()

    def joined(self, last: InvalidInput) -> InvalidInput:
        """Return the error at which reading stopped, together with the errors before it."""
        if self.number < PROBLEMS_MAX:
            self.first.append(Problem(last.reason, last.line))
        return self.error()

    def error(self) -> InvalidInput:
        """Return the first errors as one error."""
        problems = sorted(self.first, key=lambda problem: (problem.source or "", problem.line or 0))
        first = problems[0]
        source = first.source or self._source
        return InvalidInput(first.reason, source=source, line=first.line, problems=problems)
