"""Where the current act comes from: the interface, the network address, and the id of the request
or job.

The middleware sets the origin of a request, and the runner of jobs sets the origin of a job. If
neither of them has set it, the act comes from a command.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.db import models

REQUEST_ID_LENGTH = 64


class Interface(models.TextChoices):
    PAGE = "page", "Page"
    API = "api", "API"
    JOB = "job", "Job"
    COMMAND = "command", "Command"


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of an act. Unknown parts are empty."""

    interface: Interface
    address: str = ""
    request_id: str = ""


_COMMAND = Origin(Interface.COMMAND)
_current: ContextVar[Origin] = ContextVar("origin", default=_COMMAND)


def current_origin() -> Origin:
    return _current.get()


@contextmanager
def acting_from(origin: Origin) -> Iterator[None]:
    """Set the origin of all acts inside the `with` block."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)
