"""The versions of the consent text, and the consent of people."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hearth.accounts.models import Consent, ConsentText
from hearth.accounts.roles import Role
from hearth.accounts.selectors import needs_consent, newest_consent_text
from hearth.accounts.services import give_consent, write_consent_text
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from tests import factories
from tests.accounts.world import admin, consent_text

pytestmark = pytest.mark.django_db


def test_without_a_text_no_one_needs_to_agree() -> None:
    assert not needs_consent(factories.make_user("anna", Role.ANNOTATOR))
    assert newest_consent_text() is None


def test_the_newest_text_must_be_agreed_to() -> None:
    anna, ben = (factories.make_user(name, Role.ANNOTATOR) for name in ("anna", "ben"))
    first = consent_text()
    assert (first.version, needs_consent(anna), needs_consent(ben)) == (1, True, True)
    give_consent(by=anna, version=1)
    give_consent(by=anna, version=1)
    assert (needs_consent(anna), needs_consent(ben)) == (False, True)
    consent_text("We also keep how long you looked.")
    assert (needs_consent(anna), needs_consent(ben)) == (True, True)
    with pytest.raises(Conflict):
        give_consent(by=anna, version=1)
    give_consent(by=anna, version=2)
    assert not needs_consent(anna)
    assert list(Consent.objects.values_list("user", "text__version")) == [
        (anna.pk, 2),
        (anna.pk, 1),
    ]


def test_the_check_needs_one_database_query() -> None:
    anna = factories.make_user("anna", Role.ANNOTATOR)
    consent_text()
    with CaptureQueriesContext(connection) as queries:
        assert needs_consent(anna)
    assert len(queries) == 1


def test_admins_write_versions_of_the_text() -> None:
    lea = factories.make_user("lea", Role.LEAD)
    with pytest.raises(NotPermitted):
        write_consent_text(text="mine", by=lea)
    written = write_consent_text(text="  First,\r\nthen second.\n", by=admin())
    assert (written.version, written.text) == (1, "First,\nthen second.")
    for text in (" ", "x" * 50_001, "First,\nthen second."):
        with pytest.raises(InvalidInput):
            write_consent_text(text=text, by=admin())
    consent_text("Third.")
    assert list(ConsentText.objects.values_list("version", "text")) == [
        (2, "Third."),
        (1, "First,\nthen second."),
    ]


def test_a_text_based_on_an_older_version_is_refused() -> None:
    assert write_consent_text(text="First.", after=0, by=admin()).version == 1
    with pytest.raises(Conflict) as refused:
        write_consent_text(text="Mine.", after=0, by=admin())
    assert str(refused.value) == (
        "Version 1 was written in the meantime. Read it before you save your text."
    )
    assert write_consent_text(text="Mine.", after=1, by=admin()).version == 2


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_two_simultaneous_texts_become_different_versions() -> None:
    ada = admin()

    def write(text: str) -> str:
        try:
            return str(write_consent_text(text=text, by=ada).version)
        except Conflict:
            return "refused"

    results = factories.at_once(lambda: write("one"), lambda: write("two"))
    assert sorted(results) in (["1", "2"], ["1", "refused"])
    versions = sorted(ConsentText.objects.values_list("version", flat=True))
    assert versions == list(range(1, 1 + 2 - results.count("refused")))


# --- Pages --------------------------------------------------------------------------------------


def signed_in(username: str, *roles: Role) -> Client:
    client = Client()
    client.force_login(factories.make_user(username, *roles))
    return client


def test_a_person_agrees_and_continues() -> None:
    text, client = consent_text("Mind <b>this</b>."), signed_in("anna", Role.ANNOTATOR)
    page = client.get("/consent/?next=/campaigns/1/judge/").content.decode()
    assert "Mind &lt;b&gt;this&lt;/b&gt;." in page
    refused = client.post("/consent/", {"next": "/campaigns/1/judge/", "version": "1"})
    assert (refused.status_code, Consent.objects.count()) == (422, 0)
    answer = client.post(
        "/consent/", {"next": "/campaigns/1/judge/", "version": "1", "agree": "on"}
    )
    assert (answer.status_code, answer["Location"]) == (302, "/campaigns/1/judge/")
    assert Consent.objects.get().text == text
    again = client.get("/consent/").content.decode()
    assert "You agreed to version 1" in again
    assert "I agree" not in again


@pytest.mark.parametrize(
    "goal", ["//evil.example", "https://evil.example/", "\\\\evil", "javascript:alert(1)", ""]
)
def test_the_redirect_stays_on_this_site(goal: str) -> None:
    consent_text()
    client = signed_in("anna", Role.ANNOTATOR)
    assert "evil" not in client.get("/consent/", {"next": goal}).content.decode()
    answer = client.post("/consent/", {"next": goal, "version": "1", "agree": "on"})
    assert answer["Location"] == "/"


def test_a_text_that_has_changed_is_shown_first() -> None:
    consent_text()
    client = signed_in("anna", Role.ANNOTATOR)
    consent_text("Another.")
    answer = client.post("/consent/", {"next": "/jobs/", "version": "1", "agree": "on"})
    assert answer["Location"] == "/consent/?next=%2Fjobs%2F"
    assert Consent.objects.count() == 0
    assert "The text has changed" in client.get(answer["Location"]).content.decode()


def test_an_admin_writes_the_text_on_a_page() -> None:
    client = Client()
    client.force_login(admin())
    first = {"text": "Be kind.", "after": "0"}
    assert client.post("/people/consent/", first)["Location"] == "/people/consent/"
    # Another tab still shows the older page. Its text is kept after the error.
    stale = client.post("/people/consent/", {"text": "Be brief.", "after": "0"})
    assert (stale.status_code, stale.context["form"]["text"].value()) == (422, "Be brief.")
    twice = client.post("/people/consent/", {"text": "Be kind.", "after": "1"})
    assert twice.status_code == 422
    assert twice.context["form"].errors["text"] == ["The text is the same as version 1."]
    page = client.get("/people/consent/").content.decode()
    assert "0 people have agreed" in page
    assert list(ConsentText.objects.values_list("version", "text")) == [(1, "Be kind.")]
