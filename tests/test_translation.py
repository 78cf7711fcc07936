"""Pages in German: every marked text is translated, and pages for leads stay English."""

from __future__ import annotations

import errno
import html
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from babel.messages import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.conf import settings
from django.core import mail
from django.db import OperationalError, connection
from django.test import Client, override_settings
from django.utils import translation

from annotation.core.keys import NAMED, STEPS
from annotation.enums import CampaignState, GoldUse
from annotation.models import Campaign, Membership
from annotation.questions.kind import kinds
from annotation.questions.rooms import all_actions
from annotation.services import Gold, add_gold, annotator_for, open_training, pause_member
from annotation.texts import ROOM_TEXTS, action_text, key_text, typed_key
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import invite, write_consent_text
from tests.factories import PASSWORD, make_campaign, make_user
from tests.texts import LOCALE, marked_texts, script_texts

GERMAN = LOCALE / "de/LC_MESSAGES/django.po"
PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}|<[^>]+>")


Key = tuple[str | None, tuple[str, ...]]


def forms_of(text: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the singular and the plural, or the only form of a text."""
    return (text,) if isinstance(text, str) else tuple(text)


def key_of(message: Message) -> Key:
    """Return the context and the forms of the English text."""
    return message.context, forms_of(message.id)


def keys_of(catalog: Catalog) -> set[Key]:
    return {key_of(message) for message in catalog if message.id}


def read_german() -> Catalog:
    with GERMAN.open("rb") as file:
        return read_po(file, locale="de")


@pytest.fixture(scope="module")
def messages() -> dict[Key, tuple[str, ...]]:
    """Return the forms of each translation."""
    return {
        key_of(message): forms_of(message.string or "") for message in read_german() if message.id
    }


def german(client: Client, address: str, status: int = 200, **form: str) -> str:
    """Return the page in German after a GET, or after a POST of the form."""
    headers = {"Accept-Language": "de-DE,de;q=0.9,en;q=0.5"}
    if form:
        answer = client.post(address, form, headers=headers)
    else:
        answer = client.get(address, headers=headers, follow=True)
    assert (answer.status_code, answer["Content-Language"]) == (status, "de")
    page = answer.content.decode()
    assert '<html lang="de"' in page
    return html.unescape(page)


def english_left_in(page: str) -> list[str]:
    """Return the English texts that the page still shows, outside the texts of its scripts.

    Short texts, plurals, and texts with placeholders or HTML elements are not looked for.
    """
    page = re.sub(r'<script id="room-texts".*?</script>', "", page, flags=re.S)
    shown = re.sub(r"\s+", " ", page)
    messages = [message for message in read_german() if isinstance(message.id, str)]
    texts = [
        str(message.id)
        for message in messages
        if len(message.id) > 11 and message.id != message.string
    ]
    plain = [text for text in texts if not PLACEHOLDER.search(text)]
    assert len(plain) > 120
    return [text for text in plain if text in shown]


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return make_campaign(tmp_path, checklist=True, contact_sheet=True)


@pytest.fixture
def anna(campaign: Campaign) -> User:
    return make_user("anna", Role.ANNOTATOR)


@pytest.fixture
def client_of_anna(anna: User) -> Client:
    client = Client()
    client.force_login(anna)
    return client


def test_every_marked_text_is_translated(messages: dict[Key, tuple[str, ...]]) -> None:
    assert set(messages) == keys_of(marked_texts())
    assert [key for key, forms in messages.items() if not all(forms)] == []


def test_translations_keep_placeholders_and_html_elements(
    messages: dict[Key, tuple[str, ...]],
) -> None:
    for (_, english), forms in messages.items():
        for form in forms:
            assert sorted(PLACEHOLDER.findall(form)) == sorted(PLACEHOLDER.findall(english[0]))


def test_the_compiled_file_matches_its_source() -> None:
    compiled = io.BytesIO()
    write_mo(compiled, read_german())
    assert GERMAN.with_suffix(".mo").read_bytes() == compiled.getvalue()


def test_the_room_page_has_all_texts_of_its_scripts() -> None:
    texts = {*ROOM_TEXTS, *(text for kind in kinds().values() for text in kind.room.script_texts)}
    assert {(None, (text,)) for text in texts} == keys_of(script_texts())


def test_texts_of_keys_and_actions_are_marked(messages: dict[Key, tuple[str, ...]]) -> None:
    assert {(None, (action.text,)) for action in all_actions()} <= set(messages)
    arrows = {name for name in NAMED if name.startswith("Arrow")}
    assert {("key", (NAMED[name],)) for name in set(NAMED) - arrows} <= set(messages)


def test_the_room_in_german(client_of_anna: Client, campaign: Campaign) -> None:
    page = german(client_of_anna, f"/campaigns/{campaign.pk}/judge/")
    assert english_left_in(page) == []
    assert "Nicht relevant" in page
    assert '"Answer again": "Neu beantworten"' in page


@pytest.mark.parametrize(
    ("state", "heading"),
    [
        (CampaignState.PAUSED, "Diese Kampagne ist pausiert."),
        (CampaignState.CLOSED, "Diese Kampagne ist geschlossen."),
    ],
)
def test_a_campaign_that_is_not_open_in_german(
    client_of_anna: Client, campaign: Campaign, state: CampaignState, heading: str
) -> None:
    Campaign.objects.update(state=state)
    page = german(client_of_anna, f"/campaigns/{campaign.pk}/judge/", status=409)
    assert f"<h1>{heading}</h1>" in page
    assert english_left_in(page) == []


def test_training_in_german(client_of_anna: Client, campaign: Campaign) -> None:
    Campaign.objects.update(gate_share=0.5, gate_last=2)
    gold = [Gold(query=0, video=0, is_relevant=True, explanation="so")]
    add_gold(benchmark=campaign.benchmark, by=OPERATOR, use=GoldUse.TRAINING, gold=gold)
    lead = make_user("lena", Role.LEAD)
    training = open_training(benchmark=campaign.benchmark, by=lead)
    for address in (f"/campaigns/{training.pk}/judge/", "/", "/me/"):
        page = german(client_of_anna, address)
        assert english_left_in(page) == []
        assert "müssen 1 Ihrer letzten 2 Antworten richtig sein" in page


def test_home_and_my_work_in_german(client_of_anna: Client, campaign: Campaign, anna: User) -> None:
    member = Membership.objects.create(campaign=campaign, annotator=annotator_for(anna))
    for address in ("/", "/me/"):
        assert english_left_in(german(client_of_anna, address)) == []
    pause_member(membership=member, reason="Ruf mich an.", by=make_user("lena", Role.LEAD))
    for address in ("/", "/me/"):
        page = german(client_of_anna, address)
        assert english_left_in(page) == []
        assert "Ruf mich an." in page


def test_the_api_refuses_in_german(client_of_anna: Client, campaign: Campaign) -> None:
    Campaign.objects.update(state=CampaignState.PAUSED)
    answer = client_of_anna.post(
        f"/api/v1/campaigns/{campaign.pk}/claim/",
        {"count": 1},
        content_type="application/json",
        headers={"Accept-Language": "de"},
    )
    assert answer.json() == {"detail": "Diese Kampagne ist pausiert."}


def test_a_german_page_changes_no_later_response_of_its_thread(client_of_anna: Client) -> None:
    assert english_left_in(german(client_of_anna, "/me/")) == []
    assert english_left_in(german(client_of_anna, "/me/keys/")) == []
    assert translation.get_language() == "en"


def test_pages_of_leads_stay_english(campaign: Campaign, client: Client) -> None:
    client.force_login(make_user("lena", Role.LEAD))
    for address in ("/", f"/campaigns/{campaign.pk}/", "/account/token/", "/nowhere/"):
        answer = client.get(address, headers={"Accept-Language": "de"})
        assert answer["Content-Language"] == "en"


def test_sign_in_and_a_forgotten_password_in_german(db: None, client: Client) -> None:
    make_user("anna", Role.ANNOTATOR)
    User.objects.update(email="anna@example.org")
    assert english_left_in(german(client, "/accounts/login/")) == []
    with override_settings(CAN_SEND_EMAIL=False):
        page = german(client, "/accounts/password/reset/")
    assert "Diese Seite versendet keine E-Mails" in page
    assert english_left_in(page) == []
    with override_settings(CAN_SEND_EMAIL=True):
        assert english_left_in(german(client, "/accounts/password/reset/")) == []
        for address in ("anna@example.org", "ben@example.org"):
            answer = client.post(
                "/accounts/password/reset/",
                {"email": address},
                headers={"Accept-Language": "de"},
            )
            assert answer["Location"] == "/accounts/password/reset/done/"
    assert english_left_in(german(client, "/accounts/password/reset/done/")) == []
    assert [message.subject for message in mail.outbox] == [
        "[testserver] Neues Passwort für Hearth wählen",
        "[testserver] Kein Konto mit dieser Adresse",
    ]
    assert mail.outbox[0].body.startswith("Guten Tag,\n\nfür das Konto anna wurde ein neues")
    assert [english_left_in(str(message.body)) for message in mail.outbox] == [[], []]


def test_an_invitation_and_the_consent_in_german(db: None, client: Client) -> None:
    write_consent_text(text="Ja?", by=make_user("ada", Role.ADMIN))
    made = invite(role=Role.ANNOTATOR, by=make_user("lena", Role.LEAD))
    page = german(client, f"/invitations/{made.token}/")
    assert english_left_in(page) == []
    assert "lädt Sie zu allen Benchmarks dieser Seite ein" in page
    page = german(client, "/invitation/", status=422, username="lena", password1="a", password2="b")
    assert english_left_in(page) == []
    assert "Dieser Benutzername ist vergeben." in page
    client.force_login(make_user("anna", Role.ANNOTATOR))
    for address in ("/invitation/", "/consent/"):
        assert english_left_in(german(client, address)) == []
    client.post("/consent/", {"agree": "on", "version": 1})
    assert "Sie haben Fassung 1 am " in german(client, "/consent/")
    assert english_left_in(german(client, "/invitations/wrong/", status=404)) == []


def test_the_language_can_be_chosen(client_of_anna: Client) -> None:
    page = client_of_anna.get("/me/").content.decode()
    assert '<html lang="en"' in page
    assert client_of_anna.post("/me/language/", {"language": "xx"}).status_code == 400
    answer = client_of_anna.post("/me/language/", {"language": "de"})
    assert answer["Location"] == "/me/"
    assert answer.cookies[settings.LANGUAGE_COOKIE_NAME].value == "de"
    page = client_of_anna.get("/me/", headers={"Accept-Language": "en"}).content.decode()
    assert '<html lang="de"' in page
    assert "Meine Arbeit" in page


def test_the_script_of_the_key_fields_has_german_names(client_of_anna: Client) -> None:
    page = german(client_of_anna, "/me/keys/")
    names = json.loads(re.findall(r'data-key-names="(.*?)">', page)[0])
    assert names == {key: shown for key, shown in NAMED.items() if "Arrow" in key} | {
        "Space": "Leertaste",
        "Backspace": "Rücktaste",
        "Delete": "Entf",
        "Insert": "Einfg",
        "Home": "Pos1",
        "End": "Ende",
        "PageUp": "Bild auf",
        "PageDown": "Bild ab",
    }


def test_keys_can_be_typed_as_they_are_shown(client_of_anna: Client, anna: User) -> None:
    with translation.override("de"):
        assert [key_text(key) for key in ("Space", "PageUp", "ArrowLeft", "j")] == [
            "Leertaste",
            "Bild auf",
            "←",
            "J",
        ]
        typed = ("leertaste", "Bild auf", "Page up", "←", "J", " ")
        assert [typed_key(text) for text in typed] == [
            "Space",
            "PageUp",
            "PageUp",
            "ArrowLeft",
            "j",
            "Space",
        ]
        assert action_text(STEPS[2]) == "Stufe 3"


# The pages with their headings. Some headings contain a soft or a non-breaking hyphen.
ACCOUNT_PAGES = {
    "/accounts/2fa/": "Anmeldung und Sicherheit",
    "/accounts/2fa/recovery-codes/": "Wiederherstellungs\u00adcodes",
    "/accounts/2fa/recovery-codes/generate/": "Neue Wiederherstellungs\u00adcodes erstellen",
    "/accounts/2fa/totp/activate/": "Authenticator\u2011App einrichten",
    "/accounts/2fa/totp/deactivate/": "Authenticator\u2011App ausschalten",
    "/accounts/2fa/webauthn/": "Passkeys",
    "/accounts/2fa/webauthn/add/": "Passkey hinzufügen",
    "/accounts/2fa/webauthn/keys/{passkey}/edit/": "Passkey umbenennen",
    "/accounts/2fa/webauthn/keys/{passkey}/remove/": "Passkey entfernen",
    "/accounts/3rdparty/": "Single Sign-on",
    "/accounts/3rdparty/login/cancelled/": "Anmeldung abgebrochen",
    "/accounts/3rdparty/login/error/": "Anmeldung fehlgeschlagen",
    "/accounts/email/": "E-Mail-Adresse",
    "/accounts/sessions/": "Geräte",
    "/account/token/": "API-Tokens",
    "/nowhere/": "Nicht gefunden",
}


def sign_in(client: Client, user: User) -> None:
    """Sign in, and enter the password again, which some pages of accounts require."""
    answers = [
        client.post("/accounts/login/", {"login": user.username, "password": PASSWORD}),
        client.post("/accounts/reauthenticate/", {"password": PASSWORD}),
    ]
    assert [answer.status_code for answer in answers] == [302, 302]


def add_second_factor(user: User, address: str) -> int:
    """Add the second factor that the page needs. Return the primary key of a passkey, or else 0."""
    kind, data = Authenticator.Type.WEBAUTHN, {"name": "Schlüssel", "credential": {}}
    if "/keys/" in address or address.endswith("/webauthn/"):
        return int(Authenticator.objects.create(user=user, type=kind, data=data).pk)
    if not address.endswith("/activate/"):
        TOTP.activate(user, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        RecoveryCodes.activate(user)
    return 0


@pytest.mark.parametrize(("address", "heading"), ACCOUNT_PAGES.items())
def test_pages_of_accounts_in_german(
    anna: User, client: Client, address: str, heading: str
) -> None:
    sign_in(client, anna)
    address = address.format(passkey=add_second_factor(anna, address))
    status = {"/nowhere/": 404, "/accounts/3rdparty/login/error/": 401}.get(address, 200)
    page = german(client, address, status=status)
    assert f"<h1>{heading}</h1>" in page
    assert english_left_in(page) == []


@pytest.mark.parametrize("address", ACCOUNT_PAGES)
def test_pages_of_accounts_are_english_for_leads(db: None, client: Client, address: str) -> None:
    lena = make_user("lena", Role.LEAD)
    sign_in(client, lena)
    address = address.format(passkey=add_second_factor(lena, address))
    answer = client.get(address, headers={"Accept-Language": "de"})
    assert answer["Content-Language"] == "en"
    assert '<html lang="en"' in answer.content.decode()


def test_the_second_factor_at_sign_in_in_german(anna: User, client: Client) -> None:
    add_second_factor(anna, "")
    answer = client.post("/accounts/login/", {"login": "anna", "password": PASSWORD})
    assert answer["Location"] == "/accounts/2fa/authenticate/"
    assert english_left_in(german(client, "/accounts/2fa/authenticate/")) == []
    page = german(client, "/accounts/2fa/authenticate/", code="000000")
    assert "Falscher Code." in page
    assert english_left_in(page) == []


def test_tokens_and_sessions_in_german(client_of_anna: Client) -> None:
    form = {"name": "Skript", "rights": "judge", "days": "30"}
    page = german(client_of_anna, "/account/token/", **form)
    assert "Ihr neues Token Skript" in page
    assert "<td>Beurteilen</td>" in page
    page = german(client_of_anna, "/account/token/", status=422, **form)
    assert "Sie haben schon ein Token mit dem Namen Skript." in page
    assert english_left_in(page) == []
    page = german(client_of_anna, "/accounts/sessions/", status=404, session="0")
    assert '<p class="lonely-reason" dir="auto">Diese Sitzung gibt es nicht.</p>' in page
    answer = client_of_anna.post(
        "/accounts/sessions/", {"session": "others"}, headers={"Accept-Language": "de"}
    )
    assert answer["Location"] == "/accounts/sessions/"
    assert "Sie sind überall sonst abgemeldet." in german(client_of_anna, "/accounts/sessions/")


def test_a_required_second_factor_in_german(
    anna: User, client: Client, campaign: Campaign, settings: Any
) -> None:
    settings.MFA_REQUIRED_ROLES = ["annotator"]
    sign_in(client, anna)
    page = german(client, "/me/")
    assert "Ihre Rolle verlangt einen zweiten Faktor. Richten Sie eine Authenticator-App" in page
    assert english_left_in(page) == []
    answer = client.post(
        f"/api/v1/campaigns/{campaign.pk}/claim/", headers={"Accept-Language": "de"}
    )
    text = "Ihre Rolle verlangt einen zweiten Faktor. Richten Sie ihn unter "
    assert answer.json() == {"detail": f"{text}„Anmeldung und Sicherheit“ ein."}


def test_texts_of_allauth_use_the_formal_address(anna: User, client: Client) -> None:
    wrong = {"login": "anna", "password": "wrong"}
    page = german(client, "/accounts/login/", **wrong)
    assert "Benutzername oder Passwort ist falsch." in page
    sign_in(client, anna)
    page = german(
        client, "/accounts/password/change/", oldpassword="x", password1=PASSWORD, password2="d"
    )
    assert "Das aktuelle Passwort ist falsch." in page
    assert "Die beiden Passwörter sind verschieden." in page
    client.post("/accounts/logout/", headers={"Accept-Language": "de"})
    assert "Sie haben sich abgemeldet." in german(client, "/accounts/login/")


@pytest.mark.parametrize(
    ("error", "status", "heading"),
    [
        (OperationalError("no answer"), 503, "Die Datenbank ist ausgelastet oder nicht erreichbar"),
        (OSError(errno.ENOSPC, "full"), 507, "Der Speicherplatz ist voll"),
        (ZeroDivisionError(), 500, "Auf dem Server ist etwas schiefgegangen"),
    ],
)
def test_errors_of_the_server_in_german_before_the_role_is_known(
    anna: User, client: Client, error: Exception, status: int, heading: str
) -> None:
    sign_in(client, anna)
    client.raise_request_exception = False

    def fail(*_: Any) -> None:
        raise error

    with connection.execute_wrapper(fail):
        page = german(client, "/accounts/2fa/", status=status)
    assert f"<h1>{heading}</h1>" in page
    assert english_left_in(page) == []


def test_a_request_that_is_too_large_in_german(client_of_anna: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 2_000_000
    page = german(client_of_anna, "/account/token/", status=413, name="x" * 2_000_001)
    assert "<h1>Die Anfrage ist zu groß</h1>" in page
    assert "Die Anfrage ist größer als 2 MB." in page
    assert english_left_in(page) == []


def test_a_stale_form_in_german(anna: User) -> None:
    client = Client(enforce_csrf_checks=True)
    page = german(client, "/accounts/login/", status=403, login="anna")
    assert "<h1>Dieses Formular ist veraltet</h1>" in page
    assert english_left_in(page) == []


def test_too_many_tries_in_german(anna: User, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login": "1/m/ip"}
    client = Client()
    german(client, "/accounts/login/", login="ben", password="x")
    page = german(client, "/accounts/login/", status=429, login="ben", password="x")
    assert "<h1>Zu viele Versuche</h1>" in page
    assert english_left_in(page) == []
