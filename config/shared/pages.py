"""Manners of all pages: who gets in, and what others are told."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.cache import patch_cache_control
from django_htmx.http import HttpResponseClientRedirect

View = Callable[..., HttpResponseBase]

# What a form that was not accepted is answered with: the request was understood, its content not.
UNPROCESSABLE = 422
# The form itself is right, but contradicts what is stored.
CONFLICT = 409


def only_for(may_see: Callable[[Any], bool]) -> Callable[[View], View]:
    """A page for those of whom `may_see(user)` is true.

    Others get the same answer as for an address that is not there, whatever the address names;
    who is not signed in is asked to. Nothing of a page stays in a cache after signing out.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return ask_to_sign_in(request)
            if not may_see(request.user):
                raise Http404
            response = view(request, *args, **kwargs)
            if "Cache-Control" not in response:
                patch_cache_control(response, private=True, no_store=True)
            return response

        return guarded

    return decorate


def ask_to_sign_in(request: HttpRequest) -> HttpResponseBase:
    """To the sign-in page and back; a part of a page that htmx asks for takes the page along."""
    if getattr(request, "htmx", False):
        page = request.htmx.current_url_abs_path or "/"  # type: ignore[attr-defined]
        return HttpResponseClientRedirect(redirect_to_login(page).url)
    # Nobody can come back to what was to be sent by POST.
    return redirect_to_login(request.get_full_path() if request.method == "GET" else "/")


def form_data(request: HttpRequest) -> dict[str, Any]:
    """What a form is made from: bound to what was sent, also where that is nothing."""
    if request.method != "POST":
        return {}
    return {"data": request.POST, "files": request.FILES}


def form_status(request: HttpRequest) -> int:
    """The status of a page that shows a form: fresh, or with its errors."""
    return UNPROCESSABLE if request.method == "POST" else 200
