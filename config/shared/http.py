"""HTTP answers to errors: the one place that maps domain and database errors to statuses."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.defaults import page_not_found
from django.views.defaults import server_error as html_server_error
from rest_framework.response import Response
from rest_framework.views import exception_handler, set_rollback

from config.shared import errors

STATUS_OF: tuple[tuple[type[Exception], int], ...] = (
    (errors.InvalidInput, 400),
    (errors.NotPermitted, 403),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.HearthError, 400),
    # The database does not answer, is locked too long, or is out of space. The client can retry.
    (OperationalError, 503),
)
DISK_IS_FULL = {errno.ENOSPC, errno.EDQUOT}
TITLES = {
    400: "The request is not valid",
    403: "Not allowed",
    404: "Not found",
    409: "The request contradicts what is stored",
    503: "The database is busy or unavailable",
    507: "The disk is full",
}
RETRY_AFTER_SECONDS = 5
API = "/api/"
PERSONAL = (API, "/accounts/")

Answer = TypeVar("Answer", bound=HttpResponse)


def status_of(error: Exception) -> int | None:
    if isinstance(error, OSError) and error.errno in DISK_IS_FULL:
        return 507
    return next((status for kind, status in STATUS_OF if isinstance(error, kind)), None)


def text_of(error: Exception) -> str:
    """Return the text to show. The text of a database error appears only in the log."""
    if isinstance(error, OperationalError | OSError):
        return "Please try again in a moment; nothing was stored."
    return str(error)


class DomainErrorMiddleware:
    """Show a page for domain errors and database errors that a view raises."""

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
    """Keep answers of the API and pages of accounts out of all caches: they are personal."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info.startswith(PERSONAL) and "Cache-Control" not in response:
            patch_cache_control(response, private=True, no_store=True)
        return response


def api_exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Map the same errors for the API, in addition to REST framework's own exceptions."""
    if isinstance(error, RecursionError):
        error = errors.InvalidInput("The JSON is nested too deeply.")
    status = status_of(error)
    if status is None:
        return exception_handler(error, context)
    set_rollback()
    body: dict[str, Any] = {"detail": text_of(error)}
    if isinstance(error, errors.InvalidInput):
        body |= {"source": error.source, "line": error.line, "reason": error.reason}
    return _with_retry(Response(body, status=status), status)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an address that does not exist: with JSON below /api/, with a page elsewhere."""
    if not request.path_info.startswith(API):
        return page_not_found(request, exception)
    detail = "The API has no such address. Its documents are at /api/v1/docs/."
    return JsonResponse({"detail": detail}, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer an unexpected error in the same two forms."""
    if not request.path_info.startswith(API):
        return html_server_error(request)
    return JsonResponse({"detail": "An unexpected error occurred on the server."}, status=500)


def _with_retry(response: Answer, status: int) -> Answer:
    if status == 503:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response
