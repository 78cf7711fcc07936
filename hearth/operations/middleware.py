"""Middleware that gives ids to requests and records them, and middleware that answers monitors."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import resolve

from hearth.logs import ACCESS, RequestInfo, client_address, current_request
from hearth.shared.metrics import REQUEST_SECONDS, RESPONSES

GetResponse = Callable[[HttpRequest], HttpResponseBase]

REQUEST_ID = "X-Request-ID"
# A valid id from a reverse proxy. Any other text is replaced, because the id is written into logs.
VALID_ID = re.compile(r"[0-9A-Za-z_-]{8,64}")
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
PROBES = {"/healthz", "/readyz", "/metrics"}
# Responses to monitors are for programs. A browser loads nothing for them, and shows them in no
# frame.
PROBE_POLICY = "default-src 'none'; frame-ancestors 'none'"

access = logging.getLogger(ACCESS)


class ObservedMiddleware:
    """Give each request an id, and record its duration and status, also in the access log."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.headers.get(REQUEST_ID, "")
        info = RequestInfo(
            sent if VALID_ID.fullmatch(sent) else uuid.uuid4().hex,
            client_address(request, settings.TRUSTED_PROXIES),
        )
        request.observed = info  # type: ignore[attr-defined]
        token, began = current_request.set(info), time.perf_counter()
        try:
            response = self.get_response(request)
            info.user = key_of_user(request)
            response.headers[REQUEST_ID] = info.id
            _record(request, response, time.perf_counter() - began)
        finally:
            current_request.reset(token)
        return response


class ProbeMiddleware:
    """Answer monitors without sessions, redirects or a check of the host.

    A monitor inside the network reaches a process by an address that is not in ALLOWED_HOSTS.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info not in PROBES:
            return self.get_response(request)
        request.resolver_match = resolve(request.path_info)
        response: HttpResponseBase = request.resolver_match.func(request)
        response.headers["Content-Security-Policy"] = PROBE_POLICY
        return response


def key_of_user(request: HttpRequest) -> int | None:
    """Return the primary key of the account that sent the request, without a database query."""
    # The session's user, if a view has read it, or the token's user, which REST framework sets.
    user: Any = getattr(request, "_cached_user", None) or request.__dict__.get("user")
    is_loaded = user is not None and "_wrapped" not in user.__dict__
    key: int | None = user.pk if is_loaded else None
    return key


def _record(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    match = request.resolver_match
    view = (match.view_name if match else "") or "none"
    method = request.method if request.method in METHODS else "other"
    REQUEST_SECONDS.labels(view, method).observe(seconds)
    RESPONSES.labels(view, response.status_code).inc()
    if request.path_info in PROBES and response.status_code == 200:
        return
    facts: dict[str, Any] = {
        "method": method,
        "path": request.path_info,  # without the query string, which may contain typed text
        "view": view,
        "status": response.status_code,
        "milliseconds": round(seconds * 1000, 1),
        "bytes": 0 if response.streaming else len(getattr(response, "content", b"")),
    }
    message = "%(method)s %(path)s %(status)s %(bytes)s bytes %(milliseconds)s ms"
    access.info(message, facts, extra=facts)
