"""Answer requests that Django cannot parse or not serve. No middleware receives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.core.exceptions import SuspiciousOperation

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

REASON = b"The server cannot read the request. Check its header Content-Type and its address.\n"
BELOW_A_PATH = b"Hearth cannot be served below a path. It needs its own host name or port.\n"
HEADERS = [
    ("Content-Type", "text/plain; charset=utf-8"),
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
]


def answering_unreadable_requests(application: Application) -> Application:
    """Answer with 400 if the header Content-Type or the query string cannot be parsed.

    Django parses them before its first middleware, and does not catch these errors. It answers all
    later errors. Also answer with 500 if the server is configured to serve Hearth below a path.
    """

    def answering(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("SCRIPT_NAME", "").strip("/"):
            return _answer(start_response, "500 Internal Server Error", BELOW_A_PATH)
        try:
            return application(environ, start_response)
        except (SuspiciousOperation, ValueError, LookupError):
            return _answer(start_response, "400 Bad Request", REASON)

    return answering


def _answer(start_response: Callable[..., Any], status: str, text: bytes) -> list[bytes]:
    start_response(status, [*HEADERS, ("Content-Length", str(len(text)))])
    return [text]
