"""Refuse a request that is too large or malformed, before any other code reads its body.

The middleware comes before the CSRF middleware, which parses forms. Its `process_view` also runs
before that of the CSRF middleware. At that point, the view and the person are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.utils.translation import gettext

from hearth.requests.files import discard_files, file_rule_of, set_file_handlers
from hearth.requests.text import check_form, check_head
from hearth.shared.errors import InvalidInput, LengthRequired, TooLarge
from hearth.shared.http import bad_request, error_response

JSON = "application/json"  # checked by the parser of the API
# Errors of Django for a form that it cannot parse. Django would log each with a traceback.
UNREADABLE = (MultiPartParserError, BadRequest, SuspiciousOperation)


class RequestBorderMiddleware:
    """Check each request, and set which files it may contain."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            refused = _refused(request, lambda: _check_before_routing(request))
            return refused or self.get_response(request)
        finally:
            discard_files(request)

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        return _refused(request, lambda: _check_for_view(request, view, kwargs))


def _check_before_routing(request: HttpRequest) -> None:
    check_head(request)
    # A WSGI server passes no length for a body in chunks, so Django would read an empty body.
    if "HTTP_TRANSFER_ENCODING" in request.META:
        raise LengthRequired("Send the request with its length (Content-Length), not in chunks.")
    _body_bytes(request)


def _check_for_view(request: HttpRequest, view: Callable[..., Any], kwargs: dict[str, Any]) -> None:
    rule = file_rule_of(view)
    if rule is not None and rule.content_type != request.content_type:
        rule = None
    bytes_max = rule.bytes_max if rule else settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if _body_bytes(request) > bytes_max:
        text = gettext("The request is larger than {megabytes} MB. Send less at once.")
        raise TooLarge(text.format(megabytes=f"{bytes_max / 1e6:,.0f}"))
    set_file_handlers(request, rule, kwargs.get("key", ""))
    # If a request with a token sends files to the API, the API's own parser reads and checks the
    # form.
    if request.method == "POST" and request.content_type != JSON:
        check_form(request)


def _body_bytes(request: HttpRequest) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()):
        raise InvalidInput("The header Content-Length is not a number.")
    return int(length)


def _refused(request: HttpRequest, check: Callable[[], None]) -> HttpResponseBase | None:
    try:
        check()
    except UNREADABLE as error:
        return bad_request(request, error)
    except Exception as error:
        response = error_response(request, error)
        if response is None:
            raise
        return response
    return None
