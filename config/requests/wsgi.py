"""Answer requests that Django cannot parse. No middleware receives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.core.exceptions import SuspiciousOperation

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

REASON = b"The server cannot read the request. Check its header Content-Type and its address.\n"
HEADERS = [
    ("Content-Type", "text/plain; charset=utf-8"),
    ("Content-Length", str(len(REASON))),
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
]


def answering_unreadable_requests(application: Application) -> Application:
    """Answer with 400 if the header Content-Type or the query string cannot be parsed.

    Django parses them before its first middleware, and does not catch these errors. It answers all
    later errors.
    """

    def answering(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            return application(environ, start_response)
        except (SuspiciousOperation, ValueError, LookupError):
            start_response("400 Bad Request", HEADERS)
            return [REASON]

    return answering
