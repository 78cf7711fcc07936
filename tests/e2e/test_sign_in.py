"""Passkeys, authenticator apps and the pages of an account in Chromium.

A virtual authenticator stands in for the device of the person.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import expect

from hearth.accounts.models import User
from hearth.accounts.roles import Role
from tests import factories
from tests.accounts.test_second_factor import code_now
from tests.conftest import PLAIN_HOST, open_context
from tests.e2e.barriers import is_sound
from tests.e2e.rooms import forget, log_in
from tests.e2e.waiting import follow

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OVERFLOWS = "document.documentElement.scrollWidth > innerWidth"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def anna() -> User:
    return factories.make_user("anna", Role.ANNOTATOR)


class Key:
    """A virtual authenticator of the page's browser, which confirms everything by itself."""

    def __init__(self, page: Page) -> None:
        self.session = page.context.new_cdp_session(page)
        self.session.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        made = self.session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        self.id = made["authenticatorId"]

    def send(self, command: str, **options: Any) -> Any:
        return self.session.send(f"WebAuthn.{command}", {"authenticatorId": self.id, **options})

    @property
    def n_credentials(self) -> int:
        return len(self.send("getCredentials")["credentials"])


def check_page(page: Page) -> None:
    """Check that the page fits both widths, and that it is accessible in both themes."""
    for width in (390, 1400):
        page.set_viewport_size({"width": width, "height": 800})
        assert not page.evaluate(OVERFLOWS), (page.url, width)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        is_sound(page)


def confirm_password(page: Page) -> None:
    page.get_by_label("Password").fill(factories.PASSWORD)
    follow(page.get_by_role("button", name="Confirm"))


def add_passkey(page: Page, *, alone: bool) -> None:
    page.goto("/accounts/2fa/")
    follow(page.get_by_role("link", name="Add a passkey"))
    if "reauthenticate" in page.url:
        check_page(page)
        confirm_password(page)
    check_page(page)
    page.get_by_label("Name").fill("My laptop")
    page.get_by_label("Sign in with this passkey alone").set_checked(alone)
    # The button is pressed with the keyboard.
    page.get_by_role("button", name="Add the passkey").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/recovery-codes/")


def sign_out(page: Page) -> None:
    page.goto("/accounts/logout/")
    follow(page.get_by_role("main").get_by_role("button", name="Sign out"))


def test_a_passkey_replaces_the_password(anna: User, page: Page) -> None:
    key = Key(page)
    log_in(page, "anna")
    add_passkey(page, alone=True)
    check_page(page)
    expect(page.get_by_text("Unused codes: 10 of 10")).to_be_visible()
    assert key.n_credentials == 1
    assert sorted(Authenticator.objects.values_list("type", flat=True)) == [
        "recovery_codes",
        "webauthn",
    ]
    page.goto("/accounts/2fa/")
    check_page(page)
    follow(page.get_by_role("link", name="Manage passkeys"))
    expect(page.get_by_text("Replaces the password")).to_be_visible()
    check_page(page)

    sign_out(page)
    check_page(page)
    page.get_by_role("button", name="Sign in with a passkey").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("/")
    expect(page.get_by_role("link", name="My work").first).to_be_visible()


def test_a_passkey_is_used_after_the_password(anna: User, page: Page) -> None:
    Key(page)
    log_in(page, "anna")
    add_passkey(page, alone=False)
    sign_out(page)
    page.get_by_label("User name or e-mail address").fill("anna")
    page.get_by_label("Password").fill(factories.PASSWORD)
    follow(page.get_by_role("button", name="Sign in", exact=True))
    assert page.url.endswith("/accounts/2fa/authenticate/")
    check_page(page)
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url("/")


def test_a_refused_passkey_shows_a_message(anna: User, page: Page) -> None:
    key = Key(page)
    log_in(page, "anna")
    add_passkey(page, alone=True)
    sign_out(page)
    key.send("setUserVerified", isUserVerified=False)
    page.get_by_role("button", name="Sign in with a passkey").click()
    notice = page.get_by_role("alert").filter(has_text="The passkey was not used.")
    expect(notice).to_be_visible()
    # The password still leads to the next step.
    page.get_by_label("User name or e-mail address").fill("anna")
    page.get_by_label("Password").fill(factories.PASSWORD)
    follow(page.get_by_role("button", name="Sign in", exact=True))
    assert page.url.endswith("/accounts/2fa/authenticate/")


def test_over_plain_http_passkeys_need_another_way(
    browser: Browser, live_server: Any, page_problems: list[str], settings: Any
) -> None:
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, PLAIN_HOST]
    url = live_server.url.replace("localhost", PLAIN_HOST)
    with open_context(browser, url, page_problems) as context:
        page = context.new_page()
        page.goto("/accounts/login/")
        page.get_by_role("button", name="Sign in with a passkey").click()
        reason = "Browsers allow passkeys only over HTTPS. Choose another way."
        expect(page.get_by_role("alert")).to_have_text(reason)
    forget(page_problems, "Cross-Origin-Opener-Policy")
    assert page_problems == []


def test_a_required_second_factor_is_set_up(page: Page, settings: Any) -> None:
    settings.MFA_REQUIRED_ROLES = ["lead"]
    factories.make_user("lea", Role.LEAD)
    page.goto("/accounts/login/")
    page.fill("[name=login]", "lea")
    page.fill("[name=password]", factories.PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_url("**/accounts/2fa/")
    expect(page.get_by_text("Your role requires a second factor.")).to_be_visible()
    check_page(page)
    follow(page.get_by_role("link", name="Set up an app"))
    confirm_password(page)
    check_page(page)
    picture = page.get_by_alt_text("The key as a QR code")
    assert picture.evaluate("(image) => image.complete && image.naturalWidth > 0")
    secret = re.search(r"[A-Z2-7]{32}", page.get_by_role("main").inner_text())
    assert secret
    page.get_by_label("Code").fill(code_now(secret[0]))
    follow(page.get_by_role("button", name="Turn on the app"))
    page.goto("/people/")
    expect(page.get_by_role("heading", name="People")).to_be_visible()


@pytest.mark.parametrize(
    "address",
    [
        "/accounts/sessions/",
        "/account/token/",
        "/accounts/password/change/",
        "/accounts/3rdparty/",
        "/accounts/email/",
    ],
)
def test_pages_of_an_account(anna: User, page: Page, address: str) -> None:
    log_in(page, "anna")
    page.goto(address)
    check_page(page)


def test_a_token_is_made_and_copied(anna: User, page: Page) -> None:
    log_in(page, "anna")
    page.goto("/account/token/")
    page.get_by_label("Name").fill("nightly")
    page.get_by_label("Judge: get pairs and submit answers").check()
    follow(page.get_by_role("button", name="Create a token"))
    check_page(page)
    assert page.get_by_label("Your new token nightly").input_value().startswith("hearth_")
    follow(page.get_by_role("button", name="Revoke the token nightly"))
    expect(page.get_by_text("The token is revoked")).to_be_visible()
