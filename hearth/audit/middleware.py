"""Set the origin of all acts of a request."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import ValidationError
from django.core.validators import validate_ipv46_address
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from hearth.audit.origins import Interface, Origin, acting_from
from hearth.logs import current_request
from hearth.shared.http import API


class OriginMiddleware:
    """Set the interface, the address and the request id for all acts of a request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with acting_from(_origin_of(request)):
            return self.get_response(request)


def _origin_of(request: HttpRequest) -> Origin:
    interface = Interface.API if request.path_info.startswith(API) else Interface.PAGE
    about = current_request.get()
    return Origin(interface, _address(about.address), about.id) if about else Origin(interface)


def _address(text: str) -> str:
    """Return the address, or an empty text if it is unknown, as on a Unix socket."""
    try:
        validate_ipv46_address(text)
    except ValidationError:
        return ""
    return text
