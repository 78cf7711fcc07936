"""The site for drills: the header `X-Fault` of a request kills the web process at the named point.

The header names a point of storing a judgment.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

from config.wsgi import application as site  # isort: split

from annotation import services
from annotation.services import judging

BEFORE_INSERT, AFTER_INSERT, AFTER_COMMIT = "before-insert", "after-insert", "after-commit"
BEFORE_REPLY, DURING_REPLY = "before-reply", "during-reply"
_request = threading.local()


def die_at(point: str) -> None:
    if getattr(_request, "point", "") == point:
        os.kill(os.getpid(), signal.SIGKILL)


def deadly(
    function: Callable[..., Any], *, before: str = "", after: str = ""
) -> Callable[..., Any]:
    """Return a function that calls `function`, and kills the process before or after the call.

    It kills the process only if the request names the point `before` or `after`.
    """

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        die_at(before or "never")
        result = function(*arguments, **options)
        die_at(after or "never")
        return result

    return call


judging._create_judgment = deadly(
    judging._create_judgment, before=BEFORE_INSERT, after=AFTER_INSERT
)
services.submit_judgment = deadly(services.submit_judgment, after=AFTER_COMMIT)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    _request.point = environ.get("HTTP_X_FAULT", "")
    response = site(environ, start_response)
    die_at(BEFORE_REPLY)
    return halves(b"".join(response)) if _request.point == DURING_REPLY else response


def halves(body: bytes) -> Iterator[bytes]:
    yield body[: len(body) // 2]
    die_at(DURING_REPLY)
    yield body[len(body) // 2 :]
