"""API tokens."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from rest_framework.authtoken.models import Token

from config.accounts.models import User
from config.accounts.roles import Role
from config.accounts.services import make_token
from config.shared.errors import NotPermitted
from tests import factories

pytestmark = pytest.mark.django_db

PAGE, API = "/account/token/", "/api/v1/benchmarks/"


def status_with(token: str) -> int:
    return Client().get(API, headers={"Authorization": f"Token {token}"}).status_code


def test_a_token_is_made_shown_once_and_deleted() -> None:
    rita, client = factories.make_user("rita", Role.RESEARCHER), Client()
    client.force_login(rita)
    assert "You have no token." in client.get(PAGE).content.decode()
    first, second = (
        re.search(r"[0-9a-f]{40}", client.post(PAGE, {"what": "make"}).content.decode())
        for _ in range(2)
    )
    assert first
    assert second
    assert Token.objects.get().key == second[0]
    assert (status_with(first[0]), status_with(second[0])) == (401, 200)
    page = client.get(PAGE).content.decode()
    assert "The token that you made" in page
    assert second[0] not in page
    assert client.post(PAGE, {"what": "withdraw"})["Location"] == PAGE
    assert status_with(second[0]) == 401


def test_a_deactivated_person_gets_no_token() -> None:
    rita = factories.make_user("rita", Role.RESEARCHER)
    User.objects.update(is_active=False)
    with pytest.raises(NotPermitted):
        make_token(by=rita)
    assert not Token.objects.exists()
