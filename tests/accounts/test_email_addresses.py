"""Changed e-mail addresses, second factors and tokens: the audit log, and the owner is told."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import TokenRight, User
from hearth.accounts.services import create_token, remove_second_factors
from hearth.audit.models import AuditEntry
from tests.factories import PASSWORD, make_user

pytestmark = pytest.mark.django_db(transaction=True)

EMAIL = "/accounts/email/"
OLD, NEW = "anna@example.org", "thief@example.com"


def told() -> list[tuple[str, str]]:
    """Return the address and the sentence of each notice since the last call."""
    found = [
        (message.to[0], re.search(r"account anna was changed: (.+)", str(message.body)))
        for message in mail.outbox
    ]
    mail.outbox.clear()
    return [(address, text[1]) for address, text in found if text]


def test_the_old_address_is_told_about_each_change(settings: Any) -> None:
    settings.CAN_SEND_EMAIL = True
    anna = make_user("anna")
    User.objects.update(email=OLD)
    EmailAddress.objects.create(user=anna, email=OLD, primary=True, verified=True)
    client = Client()
    client.post("/accounts/login/", {"login": "anna", "password": PASSWORD})

    assert client.post(EMAIL, {"action_add": "", "email": NEW}).status_code == 302
    (sent,) = [message for message in mail.outbox if message.to == [NEW]]
    link = re.search(r"/accounts/confirm-email/\S+", str(sent.body))
    assert link
    assert told() == [(OLD, "An e-mail address was added to the account.")]
    Client().post(link[0])
    assert told() == [(OLD, "A new e-mail address of the account was confirmed.")]
    client.post(EMAIL, {"action_primary": "", "email": NEW})
    assert told() == [(OLD, "The account has a new primary e-mail address.")]
    client.post(EMAIL, {"action_remove": "", "email": OLD})
    removed = "An e-mail address was removed from the account."
    assert told() == [(OLD, removed), (NEW, removed)]
    assert User.objects.get().email == NEW

    entries = AuditEntry.objects.filter(act__startswith="email_").order_by("pk")
    assert list(entries.values_list("act", "by", "object_id", "after")) == [
        ("email_added", anna.pk, str(anna.pk), None),
        ("email_confirmed", anna.pk, str(anna.pk), None),
        ("email_changed", anna.pk, str(anna.pk), None),
        ("email_removed", anna.pk, str(anna.pk), {"confirmed": True}),
    ]


def test_people_are_told_about_tokens_second_factors_and_passwords(settings: Any) -> None:
    settings.CAN_SEND_EMAIL = True
    anna = make_user("anna")
    User.objects.update(email=OLD)
    create_token(by=anna, name="script", rights=[TokenRight.READ], days=1)
    remove_second_factors(person=anna, by=OPERATOR)
    client = Client()
    client.post("/accounts/login/", {"login": "anna", "password": PASSWORD})
    form = {"oldpassword": PASSWORD, "password1": "another long one", "password2": ""}
    client.post("/accounts/password/change/", form | {"password2": form["password1"]})
    assert told() == [
        (OLD, "An API token was created."),
        (OLD, "A second factor was removed."),
        (OLD, "The password was changed."),
    ]
    settings.CAN_SEND_EMAIL = False
    create_token(by=anna, name="other", rights=[TokenRight.READ], days=1)
    assert told() == []


def test_a_mail_server_that_is_away_stops_no_change(settings: Any) -> None:
    settings.CAN_SEND_EMAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    anna = make_user("anna")
    User.objects.update(email=OLD)
    assert create_token(by=anna, name="script", rights=[TokenRight.READ], days=1).token.pk
