"""Sessions: when the session key changes, when a session ends, and the list of devices."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hearth.accounts.devices import device_name
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import deactivate_person
from hearth.accounts.views.sign_in import SESSIONS
from tests import factories
from tests.accounts.world import JOINING, admin, invited

pytestmark = pytest.mark.django_db

LOGIN, PAGE = "/accounts/login/", "/accounts/sessions/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Safari/604.1"


@pytest.fixture
def anna() -> User:
    return factories.make_user("anna", Role.ANNOTATOR)


def signed_in(person: User, device: str = FIREFOX) -> Client:
    client = Client(headers={"User-Agent": device})
    form = {"login": person.username, "password": factories.PASSWORD}
    assert client.post(LOGIN, form).status_code == 302
    return client


def key_of(client: Client) -> str:
    return client.cookies["sessionid"].value


def is_signed_in(client: Client) -> bool:
    return client.get("/me/").status_code == 200


def copy_of(client: Client) -> Client:
    """Return another browser with the same session cookie, like that of a thief."""
    thief = Client()
    thief.cookies["sessionid"] = key_of(client)
    return thief


def test_signing_in_changes_the_key(anna: User) -> None:
    """Otherwise a person who planted the earlier key would be signed in, too."""
    client = Client()
    client.get(f"/invitations/{invited().token}/")  # stores the invitation in a session
    planted = copy_of(client)
    before = key_of(client)
    form = {"login": "anna", "password": factories.PASSWORD}
    assert client.post(LOGIN, form).status_code == 302
    assert key_of(client) != before
    assert (is_signed_in(client), is_signed_in(planted)) == (True, False)
    assert not Session.objects.filter(session_key=before).exists()


def test_a_key_that_a_stranger_chose_is_not_used(anna: User) -> None:
    """The browser gets a new key, which the stranger does not have."""
    client = Client()
    client.cookies["sessionid"] = "chosen-by-a-stranger"
    client.post(LOGIN, {"login": "anna", "password": factories.PASSWORD})
    assert is_signed_in(client)
    assert key_of(client) != "chosen-by-a-stranger"


def test_signing_out_ends_the_session_for_good(anna: User) -> None:
    """A copy of the cookie no longer works either."""
    client = signed_in(anna)
    stolen = copy_of(client)
    assert is_signed_in(stolen)
    client.post("/accounts/logout/")
    assert (is_signed_in(client), is_signed_in(stolen)) == (False, False)
    assert not Session.objects.exists()


def test_a_new_password_ends_the_other_sessions(anna: User) -> None:
    """The browser that changed the password stays signed in, with a new key."""
    client, other = signed_in(anna), signed_in(anna, PHONE)
    stolen = copy_of(client)
    new = {"password1": "another one at noon", "password2": "another one at noon"}
    form = new | {"oldpassword": factories.PASSWORD}
    assert client.post("/accounts/password/change/", form).status_code == 302
    assert [is_signed_in(browser) for browser in (client, other, stolen)] == [True, False, False]


def test_deactivation_ends_all_sessions(anna: User) -> None:
    clients = [signed_in(anna), signed_in(anna, PHONE)]
    deactivate_person(person=anna, by=admin())
    assert [is_signed_in(browser) for browser in clients] == [False, False]
    assert not UserSession.objects.exists()


def test_a_session_expires_by_the_clock_of_the_database(anna: User) -> None:
    """A web server whose clock is slow does not prolong it."""
    browser = signed_in(anna)
    assert is_signed_in(browser)
    Session.objects.update(expire_date=timezone.now() - timedelta(hours=1))
    with CaptureQueriesContext(connection) as queries:
        assert not is_signed_in(browser)
    (read,) = [one["sql"] for one in queries if 'FROM "django_session"' in one["sql"]]
    assert '"expire_date" > (STRFTIME(' in read


def test_the_cookie_is_protected(anna: User, settings: Any) -> None:
    """Scripts cannot read the cookie, other sites cannot send it, and it expires."""
    cookie = signed_in(anna).cookies["sessionid"]
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (
        True,
        "Lax",
        14 * 24 * 3600,
    )
    settings.SESSION_COOKIE_SECURE = True
    assert signed_in(anna).cookies["sessionid"]["secure"]


# --- The list of devices ------------------------------------------------------------------------


def test_devices_are_listed_and_ended(anna: User) -> None:
    client, phone = signed_in(anna), signed_in(anna, PHONE)
    page = client.get(PAGE).content.decode()
    assert page.index("Firefox on Linux") < page.index("Safari on iPhone")
    assert page.count("This device") == 1
    row = UserSession.objects.get(session_key=key_of(phone))
    assert client.post(PAGE, {"session": str(SESSIONS.of(row.pk))})["Location"] == PAGE
    assert [is_signed_in(browser) for browser in (client, phone)] == [True, False]
    assert "Safari on iPhone" not in client.get(PAGE).content.decode()


def test_signing_out_elsewhere_ends_sessions_that_no_list_contains(anna: User) -> None:
    client, phone = signed_in(anna), signed_in(anna, PHONE)
    unlisted = Client()
    unlisted.force_login(anna)
    UserSession.objects.all().delete()
    assert client.post(PAGE, {"session": "others"})["Location"] == PAGE
    assert [is_signed_in(browser) for browser in (client, phone, unlisted)] == [True, False, False]


def test_a_new_account_has_a_device() -> None:
    client = Client(headers={"User-Agent": FIREFOX})
    client.get(f"/invitations/{invited().token}/")
    assert client.post("/invitation/", JOINING).status_code == 302
    assert "Firefox on Linux" in client.get(PAGE).content.decode()


def test_no_one_ends_the_session_of_another(anna: User) -> None:
    client, other = signed_in(anna), signed_in(factories.make_user("ben", Role.ANNOTATOR))
    row = UserSession.objects.get(user=anna)
    assert other.post(PAGE, {"session": str(SESSIONS.of(row.pk))}).status_code == 404
    for wrong in ("", "x", "9" * 30, "-1"):
        assert other.post(PAGE, {"session": wrong}).status_code == 400
    assert is_signed_in(client)
    assert Client().get(PAGE)["Location"] == f"{LOGIN}?next={PAGE}"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        (PHONE, "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("curl/8", "Unknown browser"),
    ],
)
def test_names_of_devices(user_agent: str, name: str) -> None:
    assert device_name(user_agent) == name


# --- Redirects ----------------------------------------------------------------------------------

ELSEWHERE = [
    "//evil.example",
    "///evil.example",
    "https://evil.example/",
    "https:evil.example",
    "\\\\evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "http://testserver@evil.example/",
]


@pytest.mark.parametrize("goal", ELSEWHERE)
def test_redirects_stay_on_this_site(anna: User, goal: str) -> None:
    """Signing in, signing out and confirming the password all lead to a page of this site."""
    form = {"login": "anna", "password": factories.PASSWORD, "next": goal}
    client = Client()
    locations = [client.post(LOGIN, form)["Location"]]
    confirmed = client.post(
        "/accounts/reauthenticate/", {"password": factories.PASSWORD, "next": goal}
    )
    locations.append(confirmed["Location"])
    locations.append(client.post("/accounts/logout/", {"next": goal})["Location"])
    assert locations == ["/", "/", LOGIN]
    for address in (LOGIN, "/admin/login/", "/accounts/2fa/webauthn/login/"):
        answer = Client().get(address, {"next": goal})
        # The page may pass the address on, because the sign-in ignores it, but must not link to it.
        assert answer.get("Location", LOGIN).startswith(LOGIN)
        if answer.status_code == 200:
            assert f'href="{goal}' not in answer.content.decode()


def test_a_redirect_to_a_page_of_this_site_works(anna: User) -> None:
    form = {"login": "anna", "password": factories.PASSWORD, "next": "/me/?a=1"}
    assert Client().post(LOGIN, form)["Location"] == "/me/?a=1"
