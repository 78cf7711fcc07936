"""Signing in, demo accounts, creating people, and forgotten passwords."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from evaluation.demo.people import ACCOUNTS, make_accounts
from evaluation.demo.people import PASSWORD as DEMO_PASSWORD
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import ConsentText, User
from hearth.accounts.roles import Role
from hearth.accounts.services import create_user
from hearth.shared.errors import InvalidInput, NotPermitted
from tests.accounts.world import admin, token_of
from tests.factories import PASSWORD, make_user

pytestmark = pytest.mark.django_db

LOGIN, RESET = "/accounts/login/", "/accounts/password/reset/"


def sign_in(username: str, password: str = DEMO_PASSWORD) -> tuple[Client, Any]:
    client = Client()
    return client, client.post(LOGIN, {"login": username, "password": password})


def test_demo_accounts_sign_in_only_to_the_demo(settings: Any) -> None:
    make_accounts()
    assert User.objects.filter(is_demo=True).count() == len(ACCOUNTS)
    client, answer = sign_in("admin")
    assert answer.status_code == 403
    assert "This account belongs to the demo" in answer.content.decode()
    assert client.get("/people/").status_code == 302

    settings.DEMO = True
    client, answer = sign_in("admin")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert client.get("/people/").status_code == 200
    settings.DEMO = False
    assert client.get("/people/").status_code == 302


@pytest.mark.parametrize(
    ("environment", "proxies"),
    [
        ({"REMOTE_ADDR": ""}, 0),  # a Unix socket
        ({"REMOTE_ADDR": "", "HTTP_X_FORWARDED_FOR": "unknown"}, 1),
        ({"REMOTE_ADDR": "", "HTTP_X_FORWARDED_FOR": "10.0.0.7"}, 2),
    ],
)
def test_people_without_a_known_address_sign_in(
    settings: Any, environment: dict[str, str], proxies: int
) -> None:
    settings.TRUSTED_PROXIES = proxies
    make_user("ada", Role.ADMIN)
    client = Client()
    wrong = client.post(LOGIN, {"login": "ada", "password": "wrong"}, **environment)
    assert (wrong.status_code, "not correct" in wrong.content.decode()) == (200, True)
    right = client.post(LOGIN, {"login": "ada", "password": PASSWORD}, **environment)
    assert (right.status_code, right["Location"]) == (302, "/")
    page = client.get("/accounts/sessions/", **environment).content.decode()
    assert "Signed in" in page
    assert "from 0.0.0.0" not in page
    # Guesses are still limited.
    for _ in range(10):
        guess = Client().post(LOGIN, {"login": "x", "password": "wrong"}, **environment)
    assert "Too many failed" in guess.content.decode()


def test_a_wrong_password_does_not_reveal_a_demo_account(settings: Any) -> None:
    make_accounts()
    _, answer = sign_in("admin", "wrong")
    assert answer.status_code == 200
    assert "belongs to the demo" not in answer.content.decode()


def test_people_sign_in_to_the_django_admin_on_the_page_for_everyone() -> None:
    make_user("ada", Role.ADMIN)
    client = Client()
    form = {"username": "ada", "password": PASSWORD}
    for answer in (
        client.post("/admin/login/?next=/admin/", form),
        client.get("/admin/", follow=True),
    ):
        goal = answer.get("Location") or answer.request["PATH_INFO"]
        assert goal.startswith(LOGIN)
    assert "_auth_user_id" not in client.session
    _, answer = sign_in("ada", PASSWORD)
    assert answer.wsgi_request.user.is_staff


def test_tokens_of_demo_accounts_work_only_in_the_demo(settings: Any) -> None:
    make_accounts()
    token = token_of(User.objects.get(username="researcher"))
    headers = {"Authorization": f"Token {token}"}
    refused = Client().get("/api/v1/benchmarks/", headers=headers)
    assert refused.status_code == 401
    assert refused.json() == {"detail": "This account belongs to the demo, which is not running."}
    settings.DEMO = True
    assert Client().get("/api/v1/benchmarks/", headers=headers).status_code == 200


def test_people_sign_in_with_their_name_or_their_email_address(settings: Any) -> None:
    make_user("rita", Role.RESEARCHER)
    User.objects.update(email="rita@example.org")
    for login in ("rita", "RITA@example.org"):
        _, answer = sign_in(login, PASSWORD)
        assert (login, answer.status_code) == (login, 302)


def test_only_admins_and_the_operator_create_people() -> None:
    with pytest.raises(NotPermitted):
        create_user(username="x", password=None, roles=[], by=make_user("rita", Role.LEAD))
    made = create_user(username="ada2", password=None, roles=[Role.ADMIN], by=admin())
    assert (made.is_staff, made.is_superuser) == (True, True)


@pytest.mark.postgresql
def test_texts_have_a_maximum_length() -> None:
    for name in ("username", "name", "email"):
        columns = {"username": "anna", name: "x" * 255}
        with pytest.raises(InvalidInput):
            create_user(password=None, roles=[], by=OPERATOR, **columns)  # type: ignore[arg-type]
    from django.db import IntegrityError, transaction

    with pytest.raises(IntegrityError), transaction.atomic():
        ConsentText.objects.create(version=1, text="x" * 50_001, written_by=admin())
    ConsentText.objects.create(version=1, text="x" * 50_000, written_by=admin())


def test_without_email_the_page_for_a_forgotten_password_says_so(settings: Any) -> None:
    settings.CAN_SEND_EMAIL = False
    for answer in (Client().get(RESET), Client().post(RESET, {"email": "a@example.org"})):
        assert answer.status_code == 200
        assert "This site does not send e-mail" in answer.content.decode()
        assert 'name="email"' not in answer.content.decode()
    assert mail.outbox == []


def test_a_mailed_link_replaces_a_forgotten_password(settings: Any) -> None:
    settings.CAN_SEND_EMAIL = True
    rita = make_user("rita", Role.RESEARCHER)
    User.objects.update(email="rita@example.org")
    client = Client()
    assert "Send the link" in client.get(RESET).content.decode()
    assert client.post(RESET, {"email": "rita@example.org"}).status_code == 302
    (sent,) = mail.outbox
    assert "rita" in sent.body
    link = re.search(r"/accounts/password/reset/key/\S+", sent.body)
    assert link
    page = client.get(link[0], follow=True)
    form = {"password1": "a new one for rita", "password2": "a new one for rita"}
    assert client.post(page.redirect_chain[-1][0], form).status_code == 302
    rita.refresh_from_db()
    assert rita.check_password("a new one for rita")
