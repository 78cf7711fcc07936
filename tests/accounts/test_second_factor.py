"""Second factors: authenticator apps and recovery codes, and roles that require one."""

from __future__ import annotations

import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from cryptography.fernet import InvalidToken
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Campaign
from hearth.accounts.roles import Role
from hearth.accounts.secrets import decrypt, encrypt
from hearth.accounts.services import remove_second_factors
from hearth.audit.models import AuditEntry
from hearth.shared.errors import NotPermitted
from tests import factories
from tests.accounts.world import admin, make_member, token_of

pytestmark = pytest.mark.django_db

LOGIN, INDEX = "/accounts/login/", "/accounts/2fa/"
SECRET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
MISSING = "Your role requires a second factor. Set it up on the page Sign-in and security."


def code_now(secret: str = SECRET, steps: int = 0) -> str:
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps))


def sign_in(username: str) -> tuple[Client, Any]:
    client = Client()
    form = {"login": username, "password": factories.PASSWORD}
    return client, client.post(LOGIN, form)


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def set_up_app(client: Client) -> None:
    """Set up an authenticator app on the pages, as a signed-in person does."""
    confirm = client.get("/accounts/2fa/totp/activate/")
    assert confirm["Location"].startswith("/accounts/reauthenticate/")
    form = {"password": factories.PASSWORD, "next": "/accounts/2fa/totp/activate/"}
    assert client.post("/accounts/reauthenticate/", form).status_code == 302
    page = client.get("/accounts/2fa/totp/activate/")
    secret = page.context["form"].secret
    assert secret in page.content.decode()
    done = client.post("/accounts/2fa/totp/activate/", {"code": code_now(secret)})
    assert done["Location"] == "/accounts/2fa/recovery-codes/"


def test_an_app_is_set_up_and_used() -> None:
    anna = factories.make_user("anna", Role.ANNOTATOR)
    client, _ = sign_in("anna")
    set_up_app(client)
    codes = client.get("/accounts/2fa/recovery-codes/").context["unused_codes"]
    assert len(codes) == 10

    client, answer = sign_in("anna")
    assert (answer["Location"], is_signed_in(client)) == ("/accounts/2fa/authenticate/", False)
    assert client.get("/me/").status_code == 302
    wrong = client.post("/accounts/2fa/authenticate/", {"code": "000000"})
    assert (wrong.status_code, is_signed_in(client)) == (200, False)
    # A recovery code works once.
    assert client.post("/accounts/2fa/authenticate/", {"code": codes[0]})["Location"] == "/"
    assert is_signed_in(client)
    client, _ = sign_in("anna")
    client.post("/accounts/2fa/authenticate/", {"code": codes[0]})
    assert not is_signed_in(client)
    assert Authenticator.objects.filter(user=anna).count() == 2


def test_a_code_works_once_and_only_near_its_time() -> None:
    TOTP.activate(factories.make_user("anna", Role.ANNOTATOR), SECRET)
    results = []
    code = code_now()
    for tried in (code, code, code_now(steps=-3), code_now(steps=3)):
        client, _ = sign_in("anna")
        client.post("/accounts/2fa/authenticate/", {"code": tried})
        results.append(is_signed_in(client))
    assert results == [True, False, False, False]


def test_a_new_password_does_not_replace_the_second_factor(settings: Any) -> None:
    """A person who can read the e-mails of another still needs the second factor."""
    anna = factories.make_user("anna", Role.ANNOTATOR)
    TOTP.activate(anna, SECRET)
    anna.set_password("another one at noon")
    anna.save()
    client = Client()
    client.post(LOGIN, {"login": "anna", "password": "another one at noon"})
    assert not is_signed_in(client)


def test_secrets_are_encrypted(settings: Any) -> None:
    factories.make_user("anna", Role.ANNOTATOR)
    client, _ = sign_in("anna")
    set_up_app(client)
    stored = {
        authenticator.type: authenticator.data for authenticator in Authenticator.objects.all()
    }
    assert decrypt(stored["totp"]["secret"]) != stored["totp"]["secret"]
    assert len(decrypt(stored["totp"]["secret"])) == 32
    assert decrypt(stored["recovery_codes"]["seed"]) != stored["recovery_codes"]["seed"]

    text = encrypt("a secret")
    settings.SECRET_KEY_FALLBACKS = [django_settings.SECRET_KEY]
    settings.SECRET_KEY = "another"
    assert decrypt(text) == "a secret"
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(InvalidToken):
        decrypt(text)


# --- Roles that require a second factor ---------------------------------------------------------


@pytest.fixture
def required(settings: Any) -> None:
    settings.MFA_REQUIRED_ROLES = ["lead", "admin"]


@pytest.mark.usefixtures("required")
@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/people/",
        "/admin/",
        "/me/",
        "/account/token/",
        "/accounts/sessions/",
        "/accounts/password/change/",
        "/jobs/",
    ],
)
def test_without_a_second_factor_every_page_leads_to_the_setup(address: str) -> None:
    client, _ = sign_in(admin().username)
    assert is_signed_in(client)
    for answer in (client.get(address), client.post(address)):
        assert (answer.status_code, answer.get("Location")) == (302, INDEX)
    moved = client.get(address, headers={"HX-Request": "true"})
    assert moved["HX-Redirect"] == INDEX
    page = client.get(INDEX).content.decode()
    assert "Your role requires a second factor." in page
    assert client.post("/accounts/logout/")["Location"] == LOGIN


@pytest.mark.usefixtures("required")
def test_without_a_second_factor_the_api_refuses_every_request(campaign: Campaign) -> None:
    """The API refuses sessions and tokens."""
    lea = make_member("lea", Role.LEAD, of="tiny")
    factories.make_user("anna", Role.ANNOTATOR)
    by_token, script = {"Authorization": f"Token {token_of(lea)}"}, Client()
    client, _ = sign_in("lea")
    for method, address in (
        ("get", "/api/v1/benchmarks/"),
        ("get", "/api/v1/schema/?format=json"),
        ("post", f"/api/v1/campaigns/{campaign.pk}/claim/"),
    ):
        answers = (
            getattr(client, method)(address),
            getattr(script, method)(address, headers=by_token),
        )
        for answer in answers:
            assert (answer.status_code, answer.json()) == (403, {"detail": MISSING})

    TOTP.activate(lea, SECRET)
    assert client.get("/api/v1/benchmarks/").status_code == 200
    assert script.get("/api/v1/benchmarks/", headers=by_token).status_code == 200
    # Other roles are not affected.
    client, _ = sign_in("anna")
    assert client.get("/me/").status_code == 200


@pytest.mark.usefixtures("required")
def test_the_site_is_accessible_after_the_setup(campaign: Campaign) -> None:
    make_member("lea", Role.LEAD, of="tiny")
    client, _ = sign_in("lea")
    set_up_app(client)
    assert client.get("/people/").status_code == 200
    client, _ = sign_in("lea")
    assert not is_signed_in(client)


@pytest.mark.usefixtures("required")
def test_recovery_codes_alone_are_no_second_factor() -> None:
    lea = factories.make_user("lea", Role.LEAD)
    Authenticator.objects.create(user=lea, type="recovery_codes", data={})
    client = Client()
    client.force_login(lea)
    assert client.get("/people/")["Location"] == INDEX


def test_without_the_setting_no_page_reads_second_factors() -> None:
    client = Client()
    client.force_login(admin())
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/people/").status_code == 200
    assert not [query for query in queries.captured_queries if "mfa_" in query["sql"]]


# --- A lost device --------------------------------------------------------------------------------


def test_an_admin_removes_the_second_factors_of_a_person() -> None:
    anna = factories.make_user("anna", Role.ANNOTATOR)
    TOTP.activate(anna, SECRET)
    signed_in = Client()
    signed_in.force_login(anna)
    token = token_of(anna)
    with pytest.raises(NotPermitted):
        remove_second_factors(person=anna, by=factories.make_user("lea", Role.LEAD))
    remove_second_factors(person=anna, by=admin())
    assert not Authenticator.objects.exists()
    removed = AuditEntry.objects.filter(object_id=str(anna.pk)).latest("pk")
    assert (removed.act, removed.by) == ("factor_removed", admin())
    assert not AuditEntry.objects.filter(act="sessions_ended").exists()
    # A stranger may have asked for the removal, so sessions and tokens end as well.
    assert signed_in.get("/me/").status_code == 302
    headers = {"Authorization": f"Token {token}"}
    assert Client().get("/api/v1/campaigns/", headers=headers).status_code == 401


def test_an_admin_removes_second_factors_on_the_page_of_the_person() -> None:
    anna, client = factories.make_user("anna", Role.ANNOTATOR), Client()
    client.force_login(admin())
    page = f"/people/{anna.pk}/"
    without = client.get(page).content.decode()
    assert "They sign in without a second factor." in without
    assert f'action="{page}second-factors/"' not in without
    TOTP.activate(anna, SECRET)
    shown = client.get(page).content.decode()
    assert "They sign in with a second factor." in shown
    assert f'action="{page}second-factors/"' in shown
    assert f'href="/admin/accounts/user/{anna.pk}/password/"' in shown
    answer = client.post(f"{page}second-factors/", follow=True)
    assert "The second factors are removed. The password is now enough." in str(answer.content)
    assert not Authenticator.objects.exists()


def test_no_one_removes_their_own_second_factors_without_the_password() -> None:
    ada, client = admin(), Client()
    TOTP.activate(ada, SECRET)
    client.force_login(ada)
    page = f"/people/{ada.pk}/"
    assert "If this person cannot sign in" not in client.get(page).content.decode()
    answer = client.post(f"{page}second-factors/", follow=True)
    assert "You cannot remove your own second factors here." in answer.content.decode()
    assert Authenticator.objects.count() == 1


@pytest.mark.usefixtures("required")
def test_the_page_of_a_person_shows_that_a_second_factor_is_required() -> None:
    lea, client = factories.make_user("lea", Role.LEAD), Client()
    TOTP.activate(admin(), SECRET)
    client.force_login(admin())
    assert "but their role requires one." in client.get(f"/people/{lea.pk}/").content.decode()
