"""Invitations: links that give one person one role, once."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import serializers
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from hearth.accounts.models import Consent, Grant, Invitation, User
from hearth.accounts.roles import EVERYWHERE, Role
from hearth.accounts.selectors import needs_consent
from hearth.accounts.services import (
    Invited,
    accept_invitation,
    deactivate_person,
    invite,
    join,
    revoke_invitation,
)
from hearth.shared.errors import Conflict, InvalidInput, NotFound, NotPermitted
from pooling.models import Benchmark
from tests import factories
from tests.accounts.world import JOINING, admin, consent_text, invited, make_member

pytestmark = pytest.mark.django_db


PAGE = "/invitation/"


def address(token: str) -> str:
    return f"/invitations/{token}/"


def opened(made: Invited, user: User | None = None) -> Client:
    """Return a client that has opened the link."""
    client = Client()
    if user is not None:
        client.force_login(user)
    answer = client.get(address(made.token))
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    return client


def join_with(made: Invited, username: str = "anna", **more: Any) -> User:
    return join(invitation=made.invitation, username=username, password=factories.PASSWORD, **more)


# --- Creating ---------------------------------------------------------------------------------


def test_only_the_hash_of_the_token_is_stored() -> None:
    made = invited(note="Anna, by mail")
    assert len(made.token) == 43
    assert made.invitation.token_sha256 == hashlib.sha256(made.token.encode()).hexdigest()
    everything = serializers.serialize("json", Invitation.objects.all())
    assert made.token not in everything
    left = made.invitation.expires_at - timezone.now()
    assert timedelta(days=13, hours=23) < left <= timedelta(days=14)


@pytest.mark.parametrize("days", [0, 91])
def test_an_invitation_is_valid_for_1_to_90_days(days: int) -> None:
    with pytest.raises(InvalidInput):
        invite(role=Role.ANNOTATOR, days=days, by=admin())
    assert Invitation.objects.count() == 0


def test_a_lead_invites_only_annotators_to_their_benchmark() -> None:
    tim = make_member("tim", Role.LEAD, of="tiny")
    assert invite(role=Role.ANNOTATOR, scope="tiny", by=tim).invitation.state == "open"
    for role, scope in (
        (Role.ANNOTATOR, "other"),
        (Role.ANNOTATOR, EVERYWHERE),
        (Role.RESEARCHER, "tiny"),
        (Role.LEAD, "tiny"),
        (Role.ADMIN, EVERYWHERE),
    ):
        with pytest.raises(NotPermitted):
            invite(role=role, scope=scope, by=tim)
    with pytest.raises(InvalidInput):
        invite(role=Role.ADMIN, scope="tiny", by=admin())
    assert Invitation.objects.count() == 1


# --- Accepting --------------------------------------------------------------------------------


def test_the_link_creates_an_account_and_signs_in() -> None:
    made, text = invited(scope="tiny"), consent_text()
    client = opened(made)
    page = client.get(PAGE)
    assert page.status_code == 200
    assert text.text in page.content.decode()
    before = client.session.session_key
    answer = client.post(PAGE, {**JOINING, "agree": "on", "version": str(text.version)})
    assert (answer.status_code, answer["Location"]) == (302, "/")

    person = User.objects.get(username="anna")
    assert client.session["_auth_user_id"] == str(person.pk)
    assert client.session.session_key != before
    assert "invitation" not in client.session
    assert (person.get_full_name(), person.email) == ("Anna Ast", "anna@example.org")
    assert person.check_password(JOINING["password1"])
    assert list(Grant.objects.values_list("user", "role", "scope", "granted_by")) == [
        (person.pk, "annotator", "tiny", admin().pk)
    ]
    assert Consent.objects.get().text == text
    assert not needs_consent(person)
    invitation = Invitation.objects.get()
    assert (invitation.state, invitation.accepted_by) == ("accepted", person)
    mail = EmailAddress.objects.get()
    assert (mail.user, mail.email, mail.primary, mail.verified) == (
        person,
        "anna@example.org",
        True,
        False,
    )
    home = client.get("/")
    assert home.status_code == 200
    assert "Your account is ready, and you are signed in." in home.content.decode()


@pytest.mark.parametrize(
    ("role", "staff"), [(Role.RESEARCHER, False), (Role.LEAD, False), (Role.ADMIN, True)]
)
def test_each_role_can_be_invited_to(role: Role, staff: bool) -> None:
    person = join_with(invited(role))
    person.refresh_from_db()
    assert [group.name for group in person.groups.all()] == [role.value]
    assert (person.is_staff, person.is_superuser) == (staff, staff)


@pytest.mark.parametrize(
    ("changed", "field", "message"),
    [
        ({"username": ""}, "username", "This field is required."),
        ({"username": "ADA"}, "username", "This user name is taken."),
        ({"username": "erased-0a1b"}, "username", "This user name is taken."),
        ({"username": "a@b"}, "username", "Use only letters, digits and the signs . + - _"),
        ({"username": "a b"}, "username", "Use only letters, digits and the signs . + - _"),
        ({"username": "<i>"}, "username", "Use only letters, digits and the signs . + - _"),
        ({"username": "x" * 151}, "username", "at most 150 characters"),
        ({"email": "nobody"}, "email", "Enter a valid email address."),
        ({"password1": "12345678", "password2": "12345678"}, "password1", "too common"),
        ({"password1": "anna.ast", "password2": "anna.ast"}, "password1", "too similar"),
        ({"password2": "another"}, "password2", "The two passwords differ."),
        ({"agree": ""}, "agree", "This field is required."),
        ({"version": "x"}, "version", "Enter a whole number."),
    ],
)
def test_an_invalid_form_creates_no_account(
    changed: dict[str, str], field: str, message: str
) -> None:
    made, text = invited(), consent_text()
    client = opened(made)
    before = factories.row_counts()
    content = {**JOINING, "agree": "on", "version": str(text.version), **changed}
    answer = client.post(PAGE, content)
    assert answer.status_code == 422
    assert message in " ".join(answer.context["form"].errors[field])
    assert factories.row_counts() == before
    made.invitation.refresh_from_db()
    assert made.invitation.state == "open"


def test_unknown_fields_change_nothing() -> None:
    made = invited(scope="tiny")
    more = {"is_staff": "on", "is_superuser": "on", "role": "admin", "scope": "", "groups": "4"}
    assert opened(made).post(PAGE, {**JOINING, **more}).status_code == 302
    person = User.objects.get(username="anna")
    assert (person.is_staff, person.is_superuser, person.groups.count()) == (False, False, 0)
    assert list(person.grants.values_list("role", "scope")) == [("annotator", "tiny")]


def test_an_existing_account_gets_the_role() -> None:
    made = invited(Role.RESEARCHER, "tiny")
    rosa = factories.make_user("rosa", Role.ANNOTATOR)
    client = opened(made, rosa)
    assert "this account gets the role" in client.get(PAGE).content.decode()
    assert client.post(PAGE, JOINING)["Location"] == "/"
    assert client.get(PAGE).status_code == 404
    assert list(rosa.grants.values_list("role", "scope")) == [("researcher", "tiny")]
    assert [group.name for group in rosa.groups.all()] == ["annotator"]
    assert not User.objects.filter(username="anna").exists()


def test_consent_is_to_the_text_that_was_shown() -> None:
    made, old = invited(), consent_text()
    new = consent_text("Something else.")
    client = opened(made)
    content = {**JOINING, "agree": "on", "version": str(old.version)}
    answer = client.post(PAGE, content)
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    assert User.objects.filter(username="anna").count() == 0
    assert "The text has changed" in client.get(PAGE).content.decode()
    client.post(PAGE, {**content, "version": str(new.version)})
    assert Consent.objects.get().text == new


def test_without_an_invitation_there_is_no_account() -> None:
    before = User.objects.count()
    answer = Client().post("/accounts/signup/", {**JOINING, "email2": JOINING["email"]})
    assert answer.status_code == 200
    assert User.objects.count() == before


# --- Unusable links -----------------------------------------------------------------------------


def test_links_that_cannot_be_used_look_the_same() -> None:
    used, expired, revoked = invited(), invited(), invited()
    too_late = [opened(invitation) for invitation in (used, expired, revoked)]
    join_with(used)
    Invitation.objects.filter(pk=expired.invitation.pk).update(expires_at=Now())
    revoke_invitation(invitation=revoked.invitation, by=admin())
    signed_in = Client()
    signed_in.force_login(factories.make_user("rosa"))
    before = factories.row_counts()
    answers = [
        client.get(address(token))
        for client in (Client(), signed_in)
        for token in (used.token, expired.token, revoked.token, "wrong", "x" * 5000, "ü")
    ]
    # The response is the same if the link was opened while it was usable, or if no link was opened.
    for client in (*too_late, Client(), signed_in):
        answers += [client.get(PAGE), client.post(PAGE, JOINING)]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert all("no-store" in answer["Cache-Control"] for answer in answers)
    assert factories.row_counts() == before


@pytest.mark.parametrize("end", ["used", "expired", "revoked"])
def test_the_service_refuses_unusable_invitations(end: str) -> None:
    made = invited()
    if end == "used":
        join_with(made)
    elif end == "expired":
        Invitation.objects.update(expires_at=Now())
    else:
        revoke_invitation(invitation=made.invitation, by=admin())
    before = factories.row_counts()
    with pytest.raises(NotFound):
        join_with(made, "ben")
    with pytest.raises(NotFound):
        accept_invitation(invitation=made.invitation, by=admin())
    assert factories.row_counts() == before


def test_an_invitation_is_revoked_once_and_not_after_it_was_used() -> None:
    made, used = invited(), invited()
    join_with(used)
    revoke_invitation(invitation=made.invitation, by=admin())
    for invitation in (made.invitation, used.invitation):
        with pytest.raises(Conflict):
            revoke_invitation(invitation=invitation, by=admin())
    made.invitation.refresh_from_db()
    used.invitation.refresh_from_db()
    assert (made.invitation.state, used.invitation.state) == ("revoked", "accepted")


def test_invitations_of_a_deactivated_person_are_revoked() -> None:
    lea = factories.make_user("lea", Role.LEAD)
    made = invite(role=Role.ANNOTATOR, by=lea)
    deactivate_person(person=lea, by=admin())
    assert Client().get(address(made.token)).status_code == 404
    made.invitation.refresh_from_db()
    assert made.invitation.state == "revoked"


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_only_one_of_two_simultaneous_uses_of_a_link_succeeds() -> None:
    admin()
    for number in range(5):
        made = invited(scope="tiny")

        def use(name: str, made: Invited = made) -> str:
            try:
                return join_with(made, name).username
            except NotFound:
                return "refused"

        names = [f"anna{number}", f"ben{number}"]
        results = factories.at_once(*[lambda name=name: use(name) for name in names])
        (winner,) = set(results) - {"refused"}
        assert sorted(results) == sorted([winner, "refused"])
        assert list(User.objects.filter(username__in=names).values_list("username", flat=True)) == [
            winner
        ]
        invitation = Invitation.objects.get(pk=made.invitation.pk)
        assert invitation.accepted_by.username == winner
    assert Grant.objects.count() == 5


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_only_one_of_two_simultaneous_uses_of_a_name_succeeds() -> None:
    first, second = invited(), invited()

    def use(made: Invited, name: str) -> str:
        try:
            join_with(made, name)
        except InvalidInput:
            return "taken"
        return "in"

    results = factories.at_once(lambda: use(first, "anna"), lambda: use(second, "Anna"))
    assert sorted(results) == ["in", "taken"]
    assert User.objects.filter(username__iexact="anna").count() == 1
    assert sorted(invitation.state for invitation in Invitation.objects.all()) == [
        "accepted",
        "open",
    ]


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_link_is_either_used_or_revoked() -> None:
    admin()
    made = invited()

    def use() -> str:
        try:
            join_with(made)
        except NotFound:
            return "refused"
        return "in"

    def revoke() -> str:
        try:
            revoke_invitation(invitation=made.invitation, by=admin())
        except Conflict:
            return "refused"
        return "revoked"

    results = factories.at_once(use, revoke)
    assert sorted(results) in (["in", "refused"], ["refused", "revoked"])
    made.invitation.refresh_from_db()
    assert made.invitation.state == ("accepted" if "in" in results else "revoked")
    assert User.objects.filter(username="anna").exists() == ("in" in results)


def test_the_token_is_in_no_table_of_the_database() -> None:
    made = invited()
    opened(made)
    join_with(made)
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608
            assert made.token not in str(cursor.fetchall())


def test_the_token_is_only_in_the_address_of_the_link(caplog: pytest.LogCaptureFixture) -> None:
    """The log contains the addresses of refused requests."""
    made = invited()
    client = opened(made)
    client.post(PAGE, {})
    client.handler.enforce_csrf_checks = True
    client.post(PAGE, JOINING)
    assert [record.getMessage() for record in caplog.records] == [
        "Unprocessable Entity: /invitation/",
        "Forbidden (CSRF token missing.): /invitation/",
    ]
    page = client.get(PAGE).content.decode()
    assert made.token not in page


@pytest.mark.parametrize(
    ("scope", "benchmarks"),
    [("tiny", "the benchmark tiny ,"), ("", "all benchmarks of this site,")],
)
def test_the_invitation_names_the_benchmark_the_role_and_its_task(
    scope: str, benchmarks: str
) -> None:
    page = opened(invited(Role.ANNOTATOR, scope)).get(PAGE).content.decode()
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert (
        f"invites you to {benchmarks} in the role Annotator . "
        "You watch videos and decide whether captions are relevant to them."
    ) in words


def test_the_invitation_shows_the_name_of_the_benchmark(tmp_path: Path) -> None:
    benchmark = factories.make_benchmark(tmp_path)
    Benchmark.objects.update(name="Small <shapes>")
    page = opened(invited(Role.ANNOTATOR, benchmark.key)).get(PAGE).content.decode()
    assert "invites you to the benchmark <bdi>Small &lt;shapes&gt;</bdi>, in the role" in page
