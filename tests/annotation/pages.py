"""Helpers that read pages."""

from __future__ import annotations

import re
from html import unescape

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hearth.accounts.models import User


def client_of(user: User | None) -> Client:
    assert user is not None
    client = Client()
    client.force_login(user)
    return client


def read(client: Client, address: str) -> str:
    """Return the text of a page, without its markup and its menus."""
    response = client.get(address, follow=True)
    assert response.status_code == 200
    return text_of(response.content.decode().split("<main", 1)[1])


def text_of(page: bytes | str) -> str:
    """Return the text of HTML, without its markup.

    On a slow machine, "just now" may have become "a minute ago". Both are returned as "just now".
    """
    markup = page.decode() if isinstance(page, bytes) else page
    words = " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())
    return re.sub(r"\b(a|\d+) minutes? ago\b", "just now", words)


def queries_of(client: Client, address: str) -> int:
    """Return the number of database queries of a page that has been loaded once before."""
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)
