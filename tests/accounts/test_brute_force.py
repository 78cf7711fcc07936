"""Limits of failed sign-ins per account and per address. All processes share the counts."""

from __future__ import annotations

import logging
import re
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core import mail
from django.test import Client

from hearth.accounts.models import CacheEntry, User
from hearth.accounts.roles import Role
from tests.accounts.servers import Visitor
from tests.factories import PASSWORD, make_user
from tests.webserver import web_server

LOGIN, RESET = "/accounts/login/", "/accounts/password/reset/"
WRONG = "The username and/or password you specified are not correct."
TOO_MANY = "Too many failed login attempts. Try again later."


def try_to_sign_in(login: str, password: str = "wrong", **meta: str) -> str:
    content = {"login": login, "password": password}
    page = Client().post(LOGIN, content, **meta).content.decode()  # type: ignore[arg-type]
    return next((text for text in (WRONG, TOO_MANY) if text in page), "signed in")


@pytest.mark.parametrize("store", [pytest.param("table", marks=pytest.mark.postgresql), "redis"])
@pytest.mark.django_db(transaction=True)
def test_two_processes_count_together(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """An address gets 10 tries in all processes together.

    A sign-in to the Django admin leads to the same page, so it allows no further tries.
    """
    make_user("ada", Role.ADMIN)
    variables = {"REDIS_URL": request.getfixturevalue("redis_url")} if store == "redis" else {}
    with (
        web_server(tmp_path / "one", **variables) as one,
        web_server(tmp_path / "two", **variables) as two,
    ):
        visitors = [Visitor(one), Visitor(two)]
        results = []
        for number in range(12):
            # The header is trusted only from a configured proxy.
            headers = {"X-Forwarded-For": f"198.51.100.{number}"}
            page = visitors[number % 2].sign_in(f"person-{number}", "wrong", headers=headers)
            results.append(WRONG in page.text)
        assert results == [True] * 10 + [False] * 2
        for visitor in visitors:
            page = visitor.submit(
                "/admin/login/?next=/admin/", {"username": "ada", "password": "x"}
            )
            assert "/accounts/login/" in page.url
            assert visitor.sign_in("ada", PASSWORD).status_code == 200
            assert "sessionid" not in visitor.cookies
        logs = one.log + two.log
    assert len(re.findall(r"Sign-in failed \(wrong name or password\)", logs)) == 10
    assert len(re.findall(r"Sign-in failed \(too many attempts\)", logs)) == 4
    assert CacheEntry.objects.exists() == (store == "table")


@pytest.mark.django_db
def test_ten_failed_sign_ins_block_an_account_from_all_addresses() -> None:
    """A successful sign-in in between does not reset the count."""
    make_user("anna", Role.ANNOTATOR)
    tries = []
    for number in range(12):
        if number == 5:
            answer = try_to_sign_in("anna", PASSWORD, REMOTE_ADDR="192.0.2.200")
            assert answer == "signed in"
        tries.append(try_to_sign_in("anna", REMOTE_ADDR=f"192.0.2.{number}"))
    assert tries == [WRONG] * 10 + [TOO_MANY] * 2
    assert try_to_sign_in("ANNA", PASSWORD, REMOTE_ADDR="192.0.2.99") == TOO_MANY
    make_user("ben", Role.ANNOTATOR)
    assert try_to_sign_in("ben", PASSWORD, REMOTE_ADDR="192.0.2.99") == "signed in"


@pytest.mark.parametrize(("proxies", "expected"), [(0, "192.0.2.1"), (1, "203.0.113.9")])
@pytest.mark.django_db
def test_x_forwarded_for_is_used_only_with_a_configured_proxy(
    proxies: int, expected: str, settings: Any, caplog: Any
) -> None:
    """A configured proxy adds the last address. The client can forge the others."""
    settings.TRUSTED_PROXIES = proxies
    with caplog.at_level(logging.WARNING, "hearth.accounts"):
        try_to_sign_in(
            "anna", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR="10.0.0.1, 203.0.113.9"
        )
    assert caplog.messages == [f"Sign-in failed (wrong name or password): 'anna' from {expected}"]


@pytest.mark.django_db
def test_a_failed_sign_in_is_logged_without_password(caplog: Any) -> None:
    """A name that contains a line break or a control sequence cannot forge a line of the log."""
    with caplog.at_level(logging.WARNING, "hearth.accounts"):
        for name in ("a\nSign-in failed: 'ada'", "\x1b[31mred\u202e", "x" * 1000):
            try_to_sign_in(name, "canary-password")
    assert [len(message.splitlines()) for message in caplog.messages] == [1, 1, 1]
    assert "\x1b" not in caplog.text
    assert "\u202e" not in caplog.text
    assert max(map(len, caplog.messages)) < 250
    assert "canary-password" not in caplog.text


@pytest.mark.django_db
def test_codes_of_a_second_factor_are_limited_and_logged(caplog: Any) -> None:
    anna = make_user("anna", Role.ANNOTATOR)
    TOTP.activate(anna, "A" * 32)
    client, results = Client(), []
    assert client.post(LOGIN, {"login": "anna", "password": PASSWORD})["Location"].startswith(
        "/accounts/2fa/authenticate/"
    )
    with caplog.at_level(logging.WARNING, "hearth.accounts"):
        for number in range(12):
            form = {"code": f"{number:06}"}
            page = client.post("/accounts/2fa/authenticate/", form).content.decode()
            results.append("Incorrect code." in page)
    assert results == [True] * 10 + [False] * 2
    assert caplog.messages[0] == "Sign-in failed (wrong code): 'anna' from 127.0.0.1"
    assert "_auth_user_id" not in client.session


# --- What a response reveals ------------------------------------------------------------------


class CountedHasher(PBKDF2PasswordHasher):
    """The password hasher of production, with a list of the iterations of each hash."""

    counted: ClassVar[list[int]] = []

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        self.counted.append(iterations or self.iterations)
        return super().encode(password, salt, iterations)


@pytest.mark.django_db
def test_an_unknown_name_gets_the_same_response_as_a_wrong_password(settings: Any) -> None:
    """Both get the same text and cost the same password hashing, which takes most of the time."""
    settings.PASSWORD_HASHERS = ["tests.accounts.test_brute_force.CountedHasher"]
    settings.ACCOUNT_RATE_LIMITS = False
    make_user("anna", Role.ANNOTATOR)
    gone = make_user("gone", Role.ANNOTATOR)
    User.objects.filter(pk=gone.pk).update(is_active=False)
    answers = {}
    for name in ("anna", "gone", "none"):
        CountedHasher.counted.clear()
        answers[name] = (try_to_sign_in(name), list(CountedHasher.counted))
    expected = (WRONG, [PBKDF2PasswordHasher.iterations])
    assert answers == {"anna": expected, "gone": expected, "none": expected}


def seconds_of(action: Any) -> float:
    """Return the shortest processor time of seven calls, the one that was disturbed least."""
    times = []
    for _ in range(7):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return min(times)


@pytest.mark.django_db
def test_a_reset_responds_alike_for_known_and_unknown_addresses(settings: Any) -> None:
    """They get the same response and one e-mail each, in a similar time."""
    settings.CAN_SEND_EMAIL = True
    settings.ACCOUNT_RATE_LIMITS = False
    anna = make_user("anna", Role.ANNOTATOR)
    User.objects.filter(pk=anna.pk).update(email="anna@example.org")

    def request_link(address: str) -> tuple[int, str, str]:
        answer = Client().post(RESET, {"email": address}, follow=True)
        page = re.sub(r'"X-CSRFToken": "\w+"', "", answer.content.decode())
        return answer.status_code, answer.redirect_chain[0][0], page

    known, unknown = request_link("anna@example.org"), request_link("none@example.org")
    assert known == unknown
    assert [message.to for message in mail.outbox] == [["anna@example.org"], ["none@example.org"]]
    times = [
        seconds_of(lambda who=who: request_link(f"{who}@example.org")) for who in ("anna", "none")
    ]
    assert max(times) < 2.5 * min(times)


@pytest.mark.django_db
def test_resets_are_limited(settings: Any) -> None:
    """No one can flood a mailbox."""
    settings.CAN_SEND_EMAIL = True
    statuses = [
        Client()
        .post(RESET, {"email": "anna@example.org"}, REMOTE_ADDR=f"192.0.2.{number}")
        .status_code
        for number in range(8)
    ]
    assert statuses == [302] * 5 + [429] * 3
    assert len(mail.outbox) == 5


@pytest.mark.django_db
def test_a_mail_server_that_does_not_respond_reveals_nothing(settings: Any, caplog: Any) -> None:
    settings.CAN_SEND_EMAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    anna = make_user("anna", Role.ANNOTATOR)
    User.objects.filter(pk=anna.pk).update(email="anna@example.org")
    for who in ("anna", "none"):
        answer = Client().post(RESET, {"email": f"{who}@example.org"})
        assert answer.status_code == 503
        assert "The e-mail could not be sent" in answer.content.decode()
    assert "/key/" not in caplog.text
