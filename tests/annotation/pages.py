"""Pages as tests read them."""

from __future__ import annotations

import re
from html import unescape

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config.accounts.models import User


def client_of(user: User | None) -> Client:
    assert user is not None
    client = Client()
    client.force_login(user)
    return client


def read(client: Client, address: str) -> str:
    """The words of a page, without its markup."""
    answer = client.get(address, follow=True)
    assert answer.status_code == 200
    body = answer.content.decode().split("<main", 1)[1]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def queries_of(client: Client, address: str) -> int:
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)
