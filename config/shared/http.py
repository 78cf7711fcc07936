"""What HTTP answers have in common: the one place that maps domain errors and database trouble."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from rest_framework.response import Response
from rest_framework.views import exception_handler, set_rollback

from config.shared import errors

STATUS_OF: tuple[tuple[type[Exception], int], ...] = (
    (errors.InvalidInput, 400),
    (errors.NotPermitted, 403),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.HearthError, 400),
    # The database is away, locked for too long, or out of space: the request may be repeated.
    (OperationalError, 503),
)
DISK_IS_FULL = {errno.ENOSPC, errno.EDQUOT}
TITLES = {
    400: "That could not be used",
    403: "Not allowed",
    404: "Not found",
    409: "That contradicts what is stored",
    503: "The database is busy or away",
    507: "The disk is full",
}
RETRY_AFTER_SECONDS = 5
API = "/api/"

Answer = TypeVar("Answer", bound=HttpResponse)


def status_of(error: Exception) -> int | None:
    if isinstance(error, OSError) and error.errno in DISK_IS_FULL:
        return 507
    return next((status for kind, status in STATUS_OF if isinstance(error, kind)), None)


def text_of(error: Exception) -> str:
    """What the person may read: a database error's own words stay in the log."""
    if isinstance(error, OperationalError | OSError):
        return "Please try again in a moment; nothing was stored."
    return str(error)


class DomainErrorMiddleware:
    """Shows a page for errors that a view lets through."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        status = status_of(error)
        if status is None:
            return None
        context = {"title": TITLES[status], "reason": text_of(error)}
        response = render(request, "error.html", context, status=status)
        return _with_retry(response, status)


class PrivateApiMiddleware:
    """What the API says is of one person and of now: no cache keeps it, the browser's neither."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info.startswith(API) and "Cache-Control" not in response:
            patch_cache_control(response, private=True, no_store=True)
        return response


def api_exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """The same mapping for the API, beside REST framework's own exceptions."""
    if isinstance(error, RecursionError):
        error = errors.InvalidInput("the JSON is nested too deep")
    status = status_of(error)
    if status is None:
        return exception_handler(error, context)
    set_rollback()
    body: dict[str, Any] = {"detail": text_of(error)}
    if isinstance(error, errors.InvalidInput):
        body |= {"source": error.source, "line": error.line, "reason": error.reason}
    return _with_retry(Response(body, status=status), status)


def _with_retry(response: Answer, status: int) -> Answer:
    if status == 503:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response
