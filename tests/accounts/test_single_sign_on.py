"""Single sign-on by OpenID Connect: the whole flow, over HTTP, with a small provider."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount, SocialToken

from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.selectors import all_roles
from tests.accounts.oidc_provider import CLIENT, SECRET
from tests.accounts.servers import Visitor
from tests.accounts.world import token_of
from tests.conftest import ROOT
from tests.factories import PASSWORD, make_user
from tests.services import free_port
from tests.waiting import wait_for
from tests.webserver import WebServer, web_server

START = "/accounts/oidc/sso/login/"
NO_ACCOUNT = "No account is connected"

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class Site:
    """A running site with its provider."""

    server: WebServer
    provider: str

    def choose_person(self, person: dict[str, Any] | None) -> None:
        requests.post(f"{self.provider}/be", json=person or {}, timeout=30)

    def sign_in(
        self, person: dict[str, Any] | None, visitor: Visitor | None = None, query: str = ""
    ) -> tuple[Visitor, requests.Response]:
        """Sign in as this person of the provider, as a browser does."""
        self.choose_person(person)
        visitor = visitor or Visitor(self.server)
        page = visitor.submit(f"{START}?{query or 'process=login'}", {})
        assert page.status_code == 200, page.text
        goal = re.fullmatch(r"0;url=(.*)", page.headers["Refresh"])
        assert goal
        assert goal[1].startswith(f"{self.provider}/authorize?")
        return visitor, visitor.get(goal[1], timeout=60)


@contextmanager
def site(folder: Path, **variables: str) -> Iterator[Site]:
    port, web_port = free_port(), free_port()
    issuer = f"http://127.0.0.1:{port}"
    callback = f"http://127.0.0.1:{web_port}/accounts/oidc/sso/login/callback/"
    command = [sys.executable, "-m", "tests.accounts.oidc_provider", str(port), callback]
    provider = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    variables |= {"OIDC_ISSUER": issuer, "OIDC_NAME": "Example University"}
    variables |= {"OIDC_CLIENT_ID": CLIENT, "OIDC_CLIENT_SECRET": SECRET, "LOG_LEVEL": "INFO"}
    try:
        assert wait_for(lambda: is_up(issuer))
        with web_server(folder / "home", port=web_port, **variables) as server:
            yield Site(server, issuer)
    finally:
        provider.terminate()
        provider.wait(timeout=30)


def is_up(url: str) -> bool:
    try:
        return requests.get(url, timeout=5).ok
    except requests.RequestException:
        return False


def person(name: str, *, verified: Any = True) -> dict[str, Any]:
    return {
        "sub": f"sub-{name}",
        "preferred_username": name,
        "given_name": name.title(),
        "email": f"{name}@example.org",
        "email_verified": verified,
    }


def with_email(user: User, name: str) -> User:
    user.email = f"{name}@example.org"
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=False)
    return user


def is_signed_in(visitor: Visitor) -> bool:
    return visitor.open("/account/token/", allow_redirects=False).status_code == 200


def test_by_default_only_connected_accounts_can_sign_in(tmp_path: Path) -> None:
    anna = with_email(make_user("anna", Role.ANNOTATOR), "anna")
    with site(tmp_path) as hearth:
        assert (
            "Sign in with Example University"
            in Visitor(hearth.server).open("/accounts/login/").text
        )
        # A person without an account and one whose address has an account get the same refusal.
        pages = [hearth.sign_in(person(name)) for name in ("nina", "anna")]
        assert [(page.status_code, NO_ACCOUNT in page.text) for _, page in pages] == [
            (403, True)
        ] * 2
        assert [is_signed_in(visitor) for visitor, _ in pages] == [False, False]
        assert (User.objects.count(), SocialAccount.objects.count()) == (1, 0)

        # The owner connects the account, and can then sign in with it.
        visitor = Visitor(hearth.server)
        visitor.sign_in("anna", PASSWORD)
        _, page = hearth.sign_in(person("anna"), visitor, "process=connect")
        assert "You can sign in with these accounts" in page.text
        again, page = hearth.sign_in(person("anna"), query="process=login&next=/me/")
        assert page.url == f"{hearth.server.url}/me/"
        assert is_signed_in(again)
        assert User.objects.get(pk=anna.pk).password == anna.password

        # After the sign-in, the browser goes only to an address of this site.
        _, page = hearth.sign_in(person("anna"), query="process=login&next=//evil.example/")
        assert page.url == f"{hearth.server.url}/"

        # A deactivated person cannot sign in with the connected account either.
        User.objects.update(is_active=False)
        outside, page = hearth.sign_in(person("anna"))
        assert "Your account is deactivated" in page.text
        assert not is_signed_in(outside)

        cancelled, page = hearth.sign_in(None)
        assert "You are not signed in" in page.text
        forged = cancelled.open("/accounts/oidc/sso/login/callback/?code=x&state=y")
        assert "Sign-in failed" in forged.text
        log = hearth.server.log
    assert "canary" not in log
    assert SocialToken.objects.count() == 0


def test_new_accounts_get_the_configured_role(tmp_path: Path) -> None:
    with_email(make_user("taken", Role.LEAD), "taken")
    variables = {"OIDC_NEW_ACCOUNTS": "1", "OIDC_NEW_ACCOUNT_ROLE": "annotator"}
    with site(tmp_path, **variables) as hearth:
        visitor, page = hearth.sign_in(person("nina"))
        assert page.status_code == 200
        assert is_signed_in(visitor)
        nina = User.objects.get(username="nina")
        assert all_roles(nina) == {("annotator", "")}
        assert (nina.email, nina.has_usable_password()) == ("nina@example.org", False)
        assert (nina.is_staff, nina.is_superuser) == (False, False)
        # A second sign-in finds the same account, even after the address has changed.
        hearth.sign_in(person("nina") | {"email": "other@example.org"})
        assert User.objects.count() == 2
        # An address in use gets no second account, and the page does not reveal that it is in use.
        _, page = hearth.sign_in(person("taken"))
        assert (page.status_code, NO_ACCOUNT in page.text) == (403, True)
        # If the user name at the provider is taken on this site, the new account gets another one.
        hearth.sign_in(person("taken") | {"email": "free@example.org"})
        assert User.objects.filter(username__startswith="taken").count() == 2


def test_accounts_are_found_by_an_address_that_the_provider_verified(tmp_path: Path) -> None:
    anna = with_email(make_user("anna", Role.ANNOTATOR), "anna")
    token_of(anna)
    ben = with_email(make_user("ben", Role.ANNOTATOR), "ben")
    TOTP.activate(ben, "A" * 32)
    for name in ("one", "two"):
        with_email(make_user(name), "shared")
    with site(tmp_path, OIDC_MATCH_EMAIL="1") as hearth:
        for stranger in (
            person("anna", verified=False),
            person("anna", verified="false"),
            person("ben"),  # has a second factor
            person("shared"),  # two accounts
        ):
            visitor, page = hearth.sign_in(stranger)
            assert (page.status_code, is_signed_in(visitor)) == (403, False)
        assert SocialAccount.objects.count() == 0

        # The site has not verified the address, so another person may have created the account.
        # Its password, sessions and tokens end.
        earlier = Visitor(hearth.server)
        earlier.sign_in("anna", PASSWORD)
        assert is_signed_in(earlier)
        visitor, _ = hearth.sign_in(person("anna"))
        assert (is_signed_in(visitor), is_signed_in(earlier)) == (True, False)
        anna.refresh_from_db()
        assert (anna.has_usable_password(), anna.api_tokens.count()) == (False, 0)
        assert SocialAccount.objects.get().user == anna


def test_the_site_works_while_the_provider_is_down(tmp_path: Path) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    with web_server(tmp_path / "home", OIDC_ISSUER=dead, OIDC_CLIENT_ID="x") as server:
        page = Visitor(server).submit(f"{START}?process=login", {})
        assert (page.status_code, "Sign-in failed" in page.text) == (503, True)
        assert Visitor(server).open("/accounts/login/").status_code == 200
