"""The language of a page.

Pages for annotators, and the pages on which people join and sign in, are in the person's own
language. All other pages are in English.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers

View = Callable[..., Any]
AnyView = TypeVar("AnyView", bound=View)
UsesLanguage = Callable[[HttpRequest], bool]

# The package whose views are the sign-in pages. It has no place for a decorator.
SIGN_IN = "allauth.account."


def always(request: HttpRequest) -> bool:
    return True


def never(request: HttpRequest) -> bool:
    return False


def translated(view: AnyView, *, when: UsesLanguage = always) -> AnyView:
    """Mark a view whose responses are in the person's own language, for requests of `when`."""
    view.uses_language = when  # type: ignore[attr-defined]
    return view


class LanguageMiddleware:
    """Activate the person's language for translated views, and English for all others.

    My work stores the person's choice in a cookie. Without the cookie, the browser's language
    applies.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # The thread serves other requests later, some of them without this middleware.
        with translation.override(None):
            _activate(request, settings.LANGUAGE_CODE)
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", request.LANGUAGE_CODE)
        if getattr(request, "is_translated", False):
            patch_vary_headers(response, ("Accept-Language",))
        return response

    def process_view(self, request: HttpRequest, view: View, args: Any, kwargs: Any) -> None:
        default = always if view.__module__.startswith(SIGN_IN) else never
        if getattr(getattr(view, "cls", view), "uses_language", default)(request):
            request.is_translated = True  # type: ignore[attr-defined]
            _activate(request, translation.get_language_from_request(request))


def _activate(request: HttpRequest, language: str) -> None:
    translation.activate(language)
    request.LANGUAGE_CODE = language
