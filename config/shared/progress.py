"""How long work tells how far it has come."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then; may raise `config.shared.errors.Cancelled` to end the work.

    `total` is None while it is unknown. `phase` names what is being done; without
    it, the phase stays.
    """

    def __call__(self, done: int, total: int | None, phase: str = "") -> None: ...


def no_progress(done: int, total: int | None, phase: str = "") -> None:
    """For callers whom nobody watches."""
