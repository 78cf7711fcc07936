"""HTTP responses to errors: the one place that maps domain and database errors to statuses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

from csp.constants import HEADER
from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import UnreadablePostError
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from django.views.defaults import page_not_found
from django.views.defaults import server_error as html_server_error
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import exception_handler, set_rollback

from hearth.shared import errors
from hearth.shared.language import for_visitors_and_annotators, own_language
from hearth.shared.outages import DATABASE_UNAVAILABLE, broke_at_commit, is_disk_full

STATUS_OF: tuple[tuple[type[Exception], int], ...] = (
    (errors.InvalidInput, 400),
    (errors.NotPermitted, 403),
    (errors.NotFound, 404),
    (errors.Outdated, 412),
    (errors.Conflict, 409),
    (errors.LengthRequired, 411),
    (errors.TooLarge, 413),
    (errors.TooManyRequests, 429),
    (errors.DamagedPart, 460),  # the status of the tus protocol
    (errors.HearthError, 400),
    # The connection broke while the body was read.
    (UnreadablePostError, 400),
    # The database does not answer, is locked too long, or is out of space. The client can retry.
    *((error, 503) for error in DATABASE_UNAVAILABLE),
)
TITLES = {
    400: _("The request is not valid"),
    403: _("Not allowed"),
    404: _("Not found"),
    409: _("The request contradicts what is stored"),
    411: _("The length of the request is missing"),
    412: _("The request is based on an older state"),
    413: _("The request is too large"),
    429: "Too many requests",
    460: "The part arrived damaged",
    503: _("The database is busy or unavailable"),
    507: _("The disk is full"),
}
BROKE_AT_COMMIT = gettext_noop(
    "The connection to the database broke while storing. "
    "Check whether your change is there before you try again."
)
RETRY_AFTER_SECONDS = 5
API = "/api/"

Answer = TypeVar("Answer", bound=HttpResponse)


def status_of(error: BaseException) -> int | None:
    if is_disk_full(error):
        return 507
    return next((status for kind, status in STATUS_OF if isinstance(error, kind)), None)


def text_of(error: BaseException) -> str:
    """Return the text to show. The text of a disk or database error appears only in the log."""
    if is_disk_full(error):
        return gettext("Nothing was stored. Tell an admin, and try again later.")
    if isinstance(error, UnreadablePostError):
        return gettext("The connection broke before the request was complete. Nothing was stored.")
    if isinstance(error, DATABASE_UNAVAILABLE) and broke_at_commit(error):
        return gettext(BROKE_AT_COMMIT)
    if isinstance(error, DATABASE_UNAVAILABLE):
        return gettext("Please try again in a moment; nothing was stored.")
    return str(error)


def error_response(request: HttpRequest, error: BaseException) -> HttpResponse | None:
    """Return the response to an error, or None if the error is unexpected."""
    status = status_of(error)
    return None if status is None else _answer(request, error, status)


def _answer(request: HttpRequest, error: BaseException, status: int) -> HttpResponse:
    """Answer with JSON below /api/, and with a page elsewhere."""
    if request.path_info.startswith(API):
        response: HttpResponse = JsonResponse(_body_of(error), status=status)
    else:
        response = _error_page(request, error, status)
    patch_cache_control(response, private=True, no_store=True)
    return _with_retry(response, status, error)


def _error_page(request: HttpRequest, error: BaseException, status: int) -> HttpResponse:
    # Without the database, the role of the person is unknown. The page is then in the person's
    # language, because all its texts are translated.
    with own_language(request) if status >= 500 else nullcontext():
        context = {"status": status, "title": TITLES[status], "reason": text_of(error)}
        return render(request, "error.html", context, status=status)


class DomainErrorMiddleware:
    """Show a page for domain errors and database errors that a view raises."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return error_response(request, error)


class PolicyMiddleware:
    """Set the Content-Security-Policy. No view changes it, so its text is built once."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.built_from: Any = None
        self.policy = ""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if self.built_from is not settings.CONTENT_SECURITY_POLICY:
            self.built_from, self.policy = settings.CONTENT_SECURITY_POLICY, build_policy()
        response.headers.setdefault(HEADER, self.policy)
        return response


class PrivateMiddleware:
    """Keep responses out of all caches, because they are personal and change.

    A view that sends something else, such as a video, sets `Cache-Control` itself. Static files do
    not reach this middleware.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if "Cache-Control" not in response:
            patch_cache_control(response, private=True, no_store=True)
        return response


def api_exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Map domain and database errors for the API, in addition to REST framework's exceptions."""
    if isinstance(error, RecursionError):
        error = errors.InvalidInput("The JSON is nested too deeply.")
    status = status_of(error)
    if status is None:
        return exception_handler(error, context)
    set_rollback()
    return _with_retry(Response(_body_of(error), status=status), status, error)


def _body_of(error: BaseException) -> dict[str, Any]:
    body: dict[str, Any] = {"detail": text_of(error)}
    if isinstance(error, errors.InvalidInput):
        body |= {"source": error.source, "line": error.line, "reason": error.reason}
    return body


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that Django refuses to parse.

    The text of Django's error is not shown, because it may contain what was sent.
    """
    if isinstance(exception, RequestDataTooBig):
        too_large = errors.TooLarge(gettext("The form has too much text. Send less."))
        return _answer(request, too_large, 413)
    reason = gettext("The server cannot read the request. Check its headers and its form.")
    return _answer(request, errors.InvalidInput(reason), 400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an address that does not exist: with JSON below /api/, with a page elsewhere."""
    if request.path_info.startswith(API):
        detail = "The API has no such address. Its documentation is at /api/v1/docs/."
        return JsonResponse({"detail": detail}, status=404)
    with own_language(request) if for_visitors_and_annotators(request) else nullcontext():
        return page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer an error that no other layer has answered, such as a full disk in a middleware."""
    error = sys.exc_info()[1]
    expected = error_response(request, error) if error else None
    if expected is not None:
        return expected
    if request.path_info.startswith(API):
        detail = gettext("An unexpected error occurred on the server.")
        return JsonResponse({"detail": detail}, status=500)
    with own_language(request):
        return html_server_error(request)


def _with_retry(response: Answer, status: int, error: BaseException) -> Answer:
    if isinstance(error, errors.TooManyRequests):
        response["Retry-After"] = str(error.seconds)
    elif status == 503:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def validated(shape: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the valid values of a request to the API. Raises `ValidationError`."""
    sent = shape(data=request.data)
    sent.is_valid(raise_exception=True)
    return dict(sent.validated_data)
