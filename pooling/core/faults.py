"""The errors of a file, collected while it is read."""

from __future__ import annotations

from config.shared.errors import InvalidInput, Problem

# Reading stops after this number of errors.
FAULTS_MAX = 100


class Faults:
    """A collector of the errors of one file. At `FAULTS_MAX` errors it raises `InvalidInput`."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: list[Problem] = []

    def add(self, reason: str, line: int | None = None) -> None:
        self._found.append(Problem(reason, line))
        if len(self._found) >= FAULTS_MAX:
            raise self._error()

    def check(self) -> None:
        """Raise `InvalidInput` with all errors, by line, if there are any."""
        if self._found:
            raise self._error()

    def joined(self, last: InvalidInput) -> InvalidInput:
        """Return the error at which reading stopped, together with the errors before it."""
        if len(self._found) < FAULTS_MAX:
            self._found.append(Problem(last.reason, last.line))
        return self._error()

    def _error(self) -> InvalidInput:
        problems = sorted(self._found, key=lambda problem: problem.line or 0)
        first = problems[0]
        return InvalidInput(first.reason, source=self._source, line=first.line, problems=problems)
