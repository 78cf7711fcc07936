"""The interface through which long work reports its progress."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A callback that long work calls from time to time with the number of steps done.

    It may raise `hearth.shared.errors.Cancelled` to end the work. `total` is None while it is
    unknown. `phase` is the name of the current phase of the work. If it is empty, the phase has not
    changed.
    """

    def __call__(self, done: int, total: int | None, phase: str = "") -> None: ...


def no_progress(done: int, total: int | None, phase: str = "") -> None:
    """Ignore the progress. This is the default of most functions that report it."""


PART_STEPS = 1000


def progress_of_part(progress: Progress, number: int, parts: int, name: str) -> Progress:
    """Return the progress of one of several equally long parts, in steps of a thousandth.

    number: the number of the part, from 0. name: the phase that is shown during the whole part.
    """

    def report(done: int, total: int | None, phase: str = "") -> None:
        del phase
        steps = PART_STEPS * done // total if total else 0
        progress(PART_STEPS * number + steps, PART_STEPS * parts, name)

    return report
