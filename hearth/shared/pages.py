"""Helpers for all pages: access, and the handling of forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from hearth.shared.errors import InvalidInput

View = Callable[..., HttpResponseBase]

SAFE = ("GET", "HEAD")
POST = ("POST",)
# The methods of a page with a form.
FORM_METHODS = (*SAFE, *POST)

# The status for a form with errors.
UNPROCESSABLE = 422
# The status for a valid form that contradicts what is stored.
CONFLICT = 409


def only_for(
    may_see: Callable[[Any], bool], methods: Sequence[str] = SAFE
) -> Callable[[View], View]:
    """Restrict a page to these methods, and to users for whom `may_see(user)` is true.

    Other users get the same response as for an address that does not exist. Visitors are redirected
    to the sign-in page. Unless the view sets `Cache-Control`, no cache stores the page, so that it
    is gone after signing out.
    """

    def decorate(view: View) -> View:
        view = require_http_methods(list(methods))(view)

        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return redirect_to_sign_in(request)
            if not may_see(request.user):
                raise Http404
            response = view(request, *args, **kwargs)
            if "Cache-Control" not in response:
                patch_cache_control(response, private=True, no_store=True)
            return response

        return guarded

    return decorate


def redirect_to_sign_in(request: HttpRequest) -> HttpResponseBase:
    """Redirect to the sign-in page and back.

    If htmx loads only a part of a page, the whole page is redirected.
    """
    if getattr(request, "htmx", False):
        page = request.htmx.current_url_abs_path or "/"  # type: ignore[attr-defined]
        return HttpResponseClientRedirect(redirect_to_login(page).url)
    # After signing in, the browser cannot repeat a POST.
    return redirect_to_login(request.get_full_path() if request.method == "GET" else "/")


def next_address(request: HttpRequest) -> str:
    """Return the address in `next`, if it is one of this site, and otherwise the home page."""
    goal = request.POST.get("next") or request.GET.get("next") or ""
    ours = url_has_allowed_host_and_scheme(
        goal, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return goal if ours else reverse("home")


def form_data(request: HttpRequest) -> dict[str, Any]:
    """Return the arguments of a form, which is bound if the request is a POST."""
    if request.method != "POST":
        return {}
    return {"data": request.POST, "files": request.FILES}


def check_form(form: Form) -> None:
    """Check a form whose errors are not shown next to its fields.

    Raises `InvalidInput` with the first error and the name of its field if the form is invalid.
    """
    if not form.is_valid():
        name, problems = next(iter(form.errors.items()))
        raise InvalidInput(f"{name}: {problems[0]}")


def form_status(request: HttpRequest) -> int:
    """Return the status of a page with a form: 200 for a new form, 422 for one with errors."""
    return UNPROCESSABLE if request.method == "POST" else 200
