"""The language of a page.

Pages for annotators, and the pages on which people join, sign in and protect their account, are in
the person's own language. All other pages are in English. A person who also uses pages in English,
as researchers and leads do, reads the pages of accounts in English as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers
from rules import has_perm

View = Callable[..., Any]
AnyView = TypeVar("AnyView", bound=View)

# The package whose views are the pages of accounts. Its views have no decorators of Hearth.
ACCOUNTS = "allauth."


def always(request: HttpRequest) -> bool:
    return True


def never(request: HttpRequest) -> bool:
    return False


def for_visitors_and_annotators(request: HttpRequest) -> bool:
    # A request that an early middleware answers, such as for /metrics, has no user.
    user = getattr(request, "user", None)
    return user is None or not has_perm("accounts.research_somewhere", user)  # type: ignore[no-untyped-call]


def translated(view: AnyView) -> AnyView:
    """Mark a view whose responses are in the person's own language."""
    view.uses_language = always  # type: ignore[attr-defined]
    return view


def translated_for_annotators(view: AnyView) -> AnyView:
    """Mark a view that is in English for researchers, leads and admins.

    For all others, its responses are in the person's own language.
    """
    view.uses_language = for_visitors_and_annotators  # type: ignore[attr-defined]
    return view


class LanguageMiddleware:
    """Activate the person's language for translated views, and English for all others.

    The person's choice on the page My work is stored in a cookie. Without the cookie, the language
    of the browser applies.
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
        is_of_accounts = view.__module__.startswith(ACCOUNTS)
        default = for_visitors_and_annotators if is_of_accounts else never
        if getattr(getattr(view, "cls", view), "uses_language", default)(request):
            request.is_translated = True  # type: ignore[attr-defined]
            _activate(request, translation.get_language_from_request(request))


@contextmanager
def own_language(request: HttpRequest) -> Iterator[None]:
    """Use the person's language for an error page, which belongs to no view."""
    language = translation.get_language_from_request(request)
    request.is_translated = True  # type: ignore[attr-defined]
    request.LANGUAGE_CODE = language
    with translation.override(language):
        yield


def _activate(request: HttpRequest, language: str) -> None:
    translation.activate(language)
    request.LANGUAGE_CODE = language
