"""Erasing a person: what is removed, and what stays, such as published label sets."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client

from annotation.enums import EscalationKind
from annotation.models import Adjudication, Annotator, Campaign, Escalation, Judgment, Membership
from annotation.services import adjudicate_task, annotator_for, escalate_task
from evaluation.models import LabelSet
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import ApiToken, Consent, User
from hearth.accounts.roles import Role
from hearth.accounts.services import (
    deactivate_person,
    erase_person,
    grant_role,
    join,
    reactivate_person,
)
from hearth.shared.errors import Conflict, NotPermitted
from tests import factories
from tests.accounts.test_deactivation import Browser
from tests.accounts.world import admin, consent_text, invited, token_of

CANARY = "canaria"

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna(campaign: Campaign) -> User:
    """A person with the canary in every table that can contain personal data."""
    text = consent_text()
    person = join(
        invitation=invited(note=f"for {CANARY}").invitation,
        username=f"{CANARY}-user",
        password=factories.PASSWORD,
        name=f"{CANARY} name",
        email=f"{CANARY}@example.org",
        consent=text.version,
    )
    grant_role(person=person, role=Role.LEAD, scope="tiny", by=admin())
    token_of(person, name=CANARY)
    UserSession.objects.create(user=person, ip="192.0.2.1", session_key="s", user_agent=CANARY)
    SocialAccount.objects.create(user=person, provider="sso", uid=CANARY)
    Authenticator.objects.create(user=person, type="webauthn", data={"name": CANARY})
    Browser(person)
    annotator = annotator_for(person)
    first, second, *_ = factories.claim(campaign, annotator, 3)
    factories.submit(first, 1)
    escalate_task(
        assignment_id=second.pk, annotator=annotator, kind=EscalationKind.UNSURE, reason=CANARY
    )
    adjudicate_task(task=second.task, label=0, by=person, reason=CANARY)
    Membership.objects.update(reason=f"{CANARY} is tired")
    Annotator.objects.filter(pk=annotator.pk).update(preferences={"greeting": CANARY})
    LogEntry.objects.create(
        user=admin(),
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(person.pk),
        object_repr=person.username,
        action_flag=CHANGE,
        change_message=f"Changed password of {CANARY}",
    )
    return person


def tables_with(word: str) -> list[str]:
    """Return the tables, including sessions, that contain the word."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608
            if word in str(cursor.fetchall()):
                found.append(table)
    if any(word in str(session.get_decoded()) for session in Session.objects.all()):
        found.append("sessions, decoded")
    return sorted(found)


def test_nothing_names_an_erased_person(anna: User) -> None:
    assert tables_with(CANARY) == [
        "account_emailaddress",
        "accounts_apitoken",
        "accounts_invitation",
        "accounts_user",
        "annotation_adjudication",
        "annotation_annotator",
        "annotation_escalation",
        "annotation_membership",
        "django_admin_log",
        "mfa_authenticator",
        "socialaccount_socialaccount",
        "usersessions_usersession",
    ]
    erased = erase_person(person=anna, by=admin())
    assert tables_with(CANARY) == []
    assert erased.pk == anna.pk
    assert erased.username.startswith("erased-")
    assert len(erased.username) == len("erased-") + 12
    assert (erased.state, erased.is_active, erased.has_usable_password()) == (
        "erased",
        False,
        False,
    )
    assert (erased.last_login, erased.date_joined) == (None, erased.erased_at)
    assert (erased.groups.count(), erased.grants.count()) == (0, 0)
    for model in (ApiToken, EmailAddress, UserSession, SocialAccount, Authenticator):
        assert model.objects.filter(user=erased).count() == 0
    keys = [session.get_decoded().get("_auth_user_id") for session in Session.objects.all()]
    assert str(erased.pk) not in keys


def test_labels_rulings_and_consent_stay_under_the_pseudonym(
    campaign: Campaign, anna: User
) -> None:
    before = Annotator.objects.get(user=anna)
    erase_person(person=anna, by=admin())
    after = Annotator.objects.get(user=anna)
    assert (after.pk, after.pseudonym, after.preferences) == (before.pk, before.pseudonym, {})
    assert list(Judgment.objects.values_list("annotator", "label", "state")) == [
        (after.pk, 1, "live")
    ]
    assert list(Adjudication.objects.values_list("lead", "label", "reason")) == [(anna.pk, 0, "")]
    assert list(Escalation.objects.values_list("annotator", "kind", "reason")) == [
        (after.pk, "unsure", "")
    ]
    assert list(Consent.objects.values_list("user", "text__version")) == [(anna.pk, 1)]
    # The assigned pair is back in the queue.
    assert campaign.tasks.filter(seats_open=1).count() == 1


def files_of(label_set: LabelSet) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(Path(file.path).read_bytes()).hexdigest()
        for file in (label_set.file, label_set.judgments_file)
    }


def test_published_label_sets_are_not_touched(campaign: Campaign, anna: User) -> None:
    published = publish_label_set(benchmark=campaign.benchmark, by=OPERATOR)
    rows = list(LabelSet.objects.values())
    before = files_of(published)
    erase_person(person=anna, by=admin())
    assert files_of(published) == before
    assert list(LabelSet.objects.values()) == rows
    # Later label sets have the same labels.
    again = publish_label_set(benchmark=campaign.benchmark, by=OPERATOR)
    assert (again.version, again.sha256) == ("1.0.1", published.sha256)
    # The pseudonyms differ, so the answers in the two label sets cannot be linked.
    assert again.judgments_sha256 != published.judgments_sha256


@pytest.mark.postgresql
def test_an_erased_person_cannot_return(anna: User) -> None:
    browser = Browser(anna)
    erased = erase_person(person=anna, by=admin())
    assert browser.get("/me/").status_code == 302
    assert browser.judge(None).status_code == 401
    assert not Client().login(username=erased.username, password=factories.PASSWORD)
    with pytest.raises(Conflict):
        reactivate_person(person=erased, by=admin())
    with pytest.raises(Conflict):
        grant_role(person=erased, role=Role.ANNOTATOR, by=admin())
    with pytest.raises(Conflict):
        erase_person(person=erased, by=admin())
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(pk=erased.pk).update(is_active=True)


def test_a_deactivated_person_can_be_erased(anna: User) -> None:
    deactivate_person(person=anna, by=admin())
    erased = erase_person(person=anna, by=admin())
    assert (erased.state, erased.deactivated_at) == ("erased", None)


def test_who_may_not_erase_and_who_cannot_be_erased(anna: User) -> None:
    ada = admin()
    with pytest.raises(NotPermitted):
        erase_person(person=ada, by=anna)
    with pytest.raises(NotPermitted):
        erase_person(person=factories.make_user("ben", Role.ANNOTATOR), by=anna)
    with pytest.raises(Conflict):
        erase_person(person=ada, by=ada)
    with pytest.raises(Conflict, match="last admin"):
        erase_person(person=ada, by=OPERATOR)
    factories.make_user("eve", Role.ADMIN)
    assert erase_person(person=ada, by=OPERATOR).state == "erased"


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_only_one_of_two_simultaneous_erasures_succeeds() -> None:
    ada, anna = admin(), factories.make_user("anna", Role.ANNOTATOR)

    def erase() -> str:
        try:
            return erase_person(person=anna, by=ada).username
        except Conflict:
            return "refused"

    results = factories.at_once(erase, erase)
    assert results.count("refused") == 1
    anna.refresh_from_db()
    assert anna.username in results


# --- On the command line ------------------------------------------------------------------------


def run(*arguments: str) -> Any:
    out = io.StringIO()
    call_command("erase_person", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_erases(anna: User) -> None:
    result = json.loads(run(anna.username, "--json"))
    anna.refresh_from_db()
    assert result == {"username": anna.username}
    assert anna.state == "erased"
    ben = factories.make_user("ben")
    printed = run("ben")
    ben.refresh_from_db()
    assert printed == f"The person is erased. The account is now called {ben.username}.\n"


def test_the_command_refuses_an_unknown_person(anna: User) -> None:
    with pytest.raises(CommandError) as refused:
        run("nobody")
    assert (str(refused.value), refused.value.returncode) == (
        "there is no person with the user name 'nobody'",
        2,
    )
