"""Refuse text that cannot be stored: NUL, lone surrogates, and bytes that are not UTF-8."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from django.core.handlers.wsgi import get_bytes_from_wsgi
from django.http import HttpRequest

from hearth.shared.errors import InvalidInput

# PostgreSQL stores neither NUL nor surrogates. UTF-8 has no bytes for a surrogate, so no response
# could contain it.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
# htmx encodes the values of these headers if they are not ASCII, and django-htmx decodes them.
ENCODED_HEADERS = "HTTP_HX_"


def check_texts(texts: Iterable[str], place: str) -> None:
    """Raise `InvalidInput` if a text contains a character that cannot be stored."""
    for text in texts:
        if found := UNSTORABLE.search(text):
            character = f"U+{ord(found[0]):04X}"
            raise InvalidInput(
                f"{place} contains the character {character}, which cannot be stored. Remove it."
            )


def check_head(request: HttpRequest) -> None:
    """Check a request except for its body: address, query string, cookies and headers."""
    check_texts([request.path_info], "The address")
    _check_query_string(request)
    check_texts(_headers(request), "A header")
    check_texts([*request.COOKIES, *request.COOKIES.values()], "A cookie")
    _check_charset(request)


def check_form(request: HttpRequest) -> None:
    """Parse the form of a request, and check its fields."""
    check_form_data(request.POST, request.FILES)


def check_form_data(fields: Any, files: Any) -> None:
    """Check the fields and files of a form that another parser has read."""
    check_texts(_texts_of_form(fields, files), "The form")


def check_json(value: Any) -> None:
    """Check all texts of a JSON value, keys included."""
    waiting, texts = [value], []
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            waiting += [*part, *part.values()]
        elif isinstance(part, list):
            waiting += part
    check_texts(texts, "The JSON")


def _texts_of_form(fields: Any, files: Any) -> Iterable[str]:
    for name, values in fields.lists():
        yield name
        yield from values
    for name, received in files.lists():
        yield name
        yield from (file.name or "" for file in received)


def _check_query_string(request: HttpRequest) -> None:
    query = unquote_to_bytes(get_bytes_from_wsgi(request.META, "QUERY_STRING", ""))
    try:
        check_texts([query.decode()], "The query string")
    except UnicodeDecodeError:
        raise InvalidInput("The query string is not UTF-8. Encode it as UTF-8.") from None


def _headers(request: HttpRequest) -> Iterable[str]:
    for name, value in request.META.items():
        if name.startswith(ENCODED_HEADERS):
            yield unquote(value)
        elif name.startswith("HTTP_") or name == "CONTENT_TYPE":
            yield value


def _check_charset(request: HttpRequest) -> None:
    """Refuse any charset but UTF-8, because Django would use it to decode the request."""
    charset = request.encoding
    if charset is not None and codecs.lookup(charset).name not in {"utf-8", "ascii"}:
        raise InvalidInput("The charset of the request is not UTF-8. Send text as UTF-8.")
