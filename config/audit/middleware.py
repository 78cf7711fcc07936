"""Set the origin of all acts of a request."""

from __future__ import annotations

import re
from collections.abc import Callable

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import validate_ipv46_address
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config.audit.origins import REQUEST_ID_LENGTH, Interface, Origin, acting_from
from config.shared.http import API

REQUEST_ID = re.compile(rf"[\w-]{{1,{REQUEST_ID_LENGTH}}}", re.ASCII)


class OriginMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with acting_from(_origin_of(request)):
            return self.get_response(request)


def _origin_of(request: HttpRequest) -> Origin:
    interface = Interface.API if request.path_info.startswith(API) else Interface.PAGE
    return Origin(interface, _address_of(request), _id_of(request))


def _address_of(request: HttpRequest) -> str:
    """Return the client's address; empty if the server does not have it, as on a Unix socket."""
    try:
        address: str = get_adapter().get_client_ip(request)
        validate_ipv46_address(address)
    except (PermissionDenied, ValidationError):
        return ""
    return address


def _id_of(request: HttpRequest) -> str:
    """Return the id that a trusted proxy gave the request. Clients without one are not believed."""
    sent = request.headers.get("X-Request-ID", "") if settings.TRUSTED_PROXIES else ""
    return sent if REQUEST_ID.fullmatch(sent) else ""
