"""The one tree of errors that a person can cause or must hear about.

Services and parsers raise them; `config.shared.http` maps them to HTTP and
`config.shared.commands` to exit codes, each in one place.
"""

from __future__ import annotations


class HearthError(Exception):
    """Something the caller can understand and act on; `str()` is fit to show."""


class InvalidInput(HearthError):
    """A file or value that is refused; nothing was written.

    `source` is the file as the user named it and `line` counts from 1; both
    are None where the input has no such place.
    """

    def __init__(self, reason: str, *, source: str | None = None, line: int | None = None) -> None:
        self.reason = reason
        self.source = source
        self.line = line
        place = ", ".join(
            part for part in (source, f"line {line}" if line is not None else None) if part
        )
        super().__init__(f"{place}: {reason}" if place else reason)


class NotFound(HearthError):
    """What was named does not exist, or is not for the caller to know of."""


class NotPermitted(HearthError):
    """The caller may not do this."""


class Conflict(HearthError):
    """The request contradicts what is stored, such as another label under the same key."""


class Cancelled(HearthError):
    """The job was cancelled by a person; what it had begun is rolled back."""


class TakenOver(Cancelled):
    """Another worker does the job by now, and needs what this one was given."""
