"""Accounts without a role, which people create themselves if the site allows it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from hearth.accounts.adapter import InvitedOnlyAdapter
from hearth.accounts.forms import RegisterForm
from hearth.accounts.models import User
from hearth.accounts.services import check_user_name
from hearth.audit.models import AuditEntry
from tests import factories

DETAILS = {"username": "olga", "password1": factories.PASSWORD, "password2": factories.PASSWORD}


def test_anyone_creates_an_account_without_a_role_if_the_site_allows_it(
    db: None, client: Client, settings: Any
) -> None:
    assert client.post("/register/", DETAILS).status_code == 404
    settings.OPEN_REGISTRATION = True
    assert client.post("/register/", DETAILS | {"password2": "x"}).status_code == 422
    assert client.post("/register/", DETAILS).status_code == 302
    olga = User.objects.get(username="olga")
    assert (olga.groups.count(), olga.grants.count(), olga.is_staff) == (0, 0, False)
    assert AuditEntry.objects.filter(by=olga, act="person_created").count() == 1
    statuses = {
        path: client.get(path).status_code
        for path in ("/", "/uploads/", "/benchmarks/tiny/", "/jobs/", "/people/")
    }
    assert list(statuses.values()) == [200, 200, 404, 404, 404]
    assert Client().post("/register/", DETAILS | {"username": "OLGA"}).status_code == 422


@pytest.mark.parametrize(
    ("existing", "chosen", "message"),
    [
        ("anna", "аnna", "Use letters and digits of one alphabet."),  # Cyrillic а
        ("user10", "user1٠", "Use letters and digits of one alphabet."),  # Arabic zero
        ("pocca", "росса", "This user name looks like that of another account."),  # all Cyrillic
        ("alice", "aIice", "This user name looks like that of another account."),
        ("norma", "norrna", "This user name looks like that of another account."),
        ("all", "ali", ""),
        ("anna", "анна", ""),
        ("taro", "山田taro", ""),
    ],
)
def test_user_names_that_look_alike_are_refused(
    db: None, existing: str, chosen: str, message: str
) -> None:
    factories.make_user(existing)
    form = RegisterForm(DETAILS | {"username": chosen, "email": "a@example.org"}, text=None)
    assert form.errors.get("username", []) == ([message] if message else [])


def test_a_new_person_returns_to_the_page_that_needed_an_account(
    db: None, client: Client, settings: Any
) -> None:
    settings.OPEN_REGISTRATION = True
    goal = "/public/tiny/uploads/?a=1&b=2"
    sign_in = client.get("/accounts/login/", {"next": goal}).content.decode()
    quoted = "/public/tiny/uploads/%3Fa%3D1%26b%3D2"
    assert f'href="/register/?next={quoted}"' in sign_in
    page = client.get("/register/", {"next": goal}).content.decode()
    assert f'href="/accounts/login/?next={quoted}"' in page
    assert '<input type="hidden" name="next" value="/public/tiny/uploads/?a=1&amp;b=2">' in page
    wrong = client.post("/register/", DETAILS | {"password2": "x", "next": goal})
    assert 'value="/public/tiny/uploads/?a=1&amp;b=2"' in wrong.content.decode()
    assert client.post("/register/", DETAILS | {"next": goal})["Location"] == goal
    other = DETAILS | {"username": "ben", "next": "https://evil.example/"}
    assert Client().post("/register/", other)["Location"] == "/"


def test_single_sign_on_makes_no_name_that_looks_like_another(db: None) -> None:
    factories.make_user("alice")
    name = InvitedOnlyAdapter().generate_unique_username(["a1ice"])
    assert name != "a1ice"
    check_user_name(name)


def test_registrations_from_one_address_are_limited(
    db: None, client: Client, settings: Any
) -> None:
    settings.OPEN_REGISTRATION = True
    answers = [client.post("/register/", {}).status_code for _ in range(21)]
    assert answers == [422] * 20 + [429]
