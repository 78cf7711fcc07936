"""Redirect people who lack a required second factor to the page where they set it up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from hearth.accounts.policies import SECOND_FACTOR_MISSING, lacks_second_factor
from hearth.shared.http import API

# The pages on which a person sets up a second factor, confirms the password and signs out.
SETUP_PAGES = {
    "mfa_index",
    "mfa_activate_totp",
    "mfa_add_webauthn",
    "mfa_view_recovery_codes",
    "account_reauthenticate",
    "account_logout",
}


class SecondFactorMiddleware:
    """Allow only the pages in `SETUP_PAGES` to people who lack a second factor that they need.

    For requests with an API token, `PersonTokenAuthentication` checks the second factor.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        # Visitors and API tokens have no session, so their requests need no database query.
        has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
        if not settings.MFA_REQUIRED_ROLES or not has_session:
            return None
        match = request.resolver_match
        if match is None or match.view_name in SETUP_PAGES:
            return None
        if not request.user.is_authenticated or not lacks_second_factor(request.user):
            return None
        if request.path_info.startswith(API):
            return JsonResponse({"detail": SECOND_FACTOR_MISSING}, status=403)
        if getattr(request, "htmx", False):
            return HttpResponseClientRedirect(reverse("mfa_index"))
        return redirect("mfa_index")
