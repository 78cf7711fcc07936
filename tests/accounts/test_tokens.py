"""API tokens: their rights, their expiry, and what revokes them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.management.commands import changepassword
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from config.api_urls import urlpatterns
from hearth.accounts.models import ApiToken, TokenRight, User
from hearth.accounts.rights import right_needed
from hearth.accounts.roles import Role
from hearth.accounts.services import create_token, revoke_token
from hearth.shared.errors import Conflict, InvalidInput, NotFound, NotPermitted
from tests import factories
from tests.accounts.world import admin, token_of

pytestmark = pytest.mark.django_db

PAGE, API = "/account/token/", "/api/v1/benchmarks/"
RUNS = "/api/v1/benchmarks/none/runs/"
JUDGING = {
    "api-campaigns",
    "api-claim",
    "api-release",
    "api-history",
    "api-escalations",
    "api-escalations-withdraw",
    "api-judgments",
}
JUDGING_PATHS = tuple(
    f"/{name}/"
    for name in (
        "campaigns",
        "claim",
        "release",
        "history",
        "escalations",
        "escalations/withdraw",
        "judgments",
    )
)
NEW = {"name": "nightly", "rights": ["read"], "days": "30"}


def answer_to(key: str, address: str = API, method: str = "get") -> Any:
    headers = {"Authorization": f"Token {key}"}
    return getattr(Client(), method)(address, headers=headers)


@pytest.fixture
def rita() -> User:
    return factories.make_user("rita", Role.RESEARCHER)


def test_a_token_is_made_shown_once_and_revoked(rita: User) -> None:
    client = Client()
    client.force_login(rita)
    assert "You have no token." in client.get(PAGE).content.decode()
    shown = re.search(r"hearth_[\w-]{43}", client.post(PAGE, NEW).content.decode())
    assert shown
    assert answer_to(shown[0]).status_code == 200
    token = ApiToken.objects.get()
    assert (token.name, token.rights) == ("nightly", [TokenRight.READ])
    assert token.expires_at
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=30)
    page = client.get(PAGE).content.decode()
    assert "nightly" in page
    assert shown[0] not in page
    assert shown[0] not in str(ApiToken.objects.values())

    refused = client.post(PAGE, NEW)
    assert refused.status_code == 422
    assert "You already have a token named nightly." in refused.content.decode()

    assert client.post(f"/account/token/{token.public_id}/revoke/")["Location"] == PAGE
    assert answer_to(shown[0]).status_code == 401


def test_an_operation_needs_its_right() -> None:
    lea = factories.make_user("lea", Role.LEAD)
    reading = token_of(lea, TokenRight.READ, name="reads")
    writing = token_of(lea, TokenRight.WRITE, name="writes")
    judging = token_of(lea, TokenRight.JUDGE, name="judges")
    statuses = {
        (name, method, address): answer_to(key, address, method).status_code
        for name, key in (("read", reading), ("write", writing), ("judge", judging))
        for method, address in (
            ("get", API),
            ("post", RUNS),
            ("get", "/api/v1/campaigns/"),
        )
    }
    assert [list(statuses.values())[start : start + 3] for start in (0, 3, 6)] == [
        [200, 403, 403],
        # The status is 400, because the upload contains no file.
        [403, 400, 403],
        [403, 403, 200],
    ]
    assert answer_to(reading, RUNS, "post").json() == {
        "detail": "The token lacks the right 'write'."
    }


def test_every_operation_has_a_right_which_the_schema_states() -> None:
    for pattern in urlpatterns:
        expected = TokenRight.JUDGE if pattern.name in JUDGING else TokenRight.READ
        assert right_needed(pattern.callback.cls, "GET") == expected, pattern.name  # type: ignore[attr-defined]
    client = Client()
    client.force_login(admin())
    schema = client.get("/api/v1/schema/", headers={"Accept": "application/json"}).json()
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            named = re.search(r"A token needs the right `(\w+)`\.", operation["description"])
            assert named, (method, path)
            judging = path.endswith(JUDGING_PATHS)
            assert named[1] == ("judge" if judging else "read" if method == "get" else "write")


def test_a_token_expires(rita: User) -> None:
    made = create_token(by=rita, name="short", rights=[TokenRight.READ], days=1)
    assert answer_to(made.key).status_code == 200
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert answer_to(made.key).status_code == 401
    assert answer_to(made.key).json() == {"detail": "The token is not valid or has expired."}


def test_the_last_use_is_stored_at_most_once_an_hour(rita: User) -> None:
    key = token_of(rita)
    answer_to(key)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    answer_to(key)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(hours=2))
    answer_to(key)
    assert ApiToken.objects.get().last_used_at > first  # type: ignore[operator]


def change_on_the_page(person: User) -> None:
    client = Client()
    client.force_login(person)
    new = {"password1": "another one at noon", "password2": "another one at noon"}
    form = new | {"oldpassword": factories.PASSWORD}
    assert client.post("/accounts/password/change/", form).status_code == 302


def change_in_the_admin(person: User) -> None:
    client = Client()
    client.force_login(admin())
    new = {"password1": "another one at noon", "password2": "another one at noon"}
    form = new | {"usable_password": "true"}
    address = f"/admin/accounts/user/{person.pk}/password/"
    assert client.post(address, form).status_code == 302


def change_on_the_command_line(person: User) -> None:
    class Typed(changepassword.Command):
        def _get_pass(self, prompt: str = "") -> str:
            return "another one at noon"

    call_command(Typed(), person.username)


@pytest.mark.parametrize(
    "change", [change_on_the_page, change_in_the_admin, change_on_the_command_line]
)
def test_a_new_password_revokes_all_tokens(rita: User, change: Any) -> None:
    """Every kind of password change revokes the API tokens."""
    other = token_of(factories.make_user("otto", Role.RESEARCHER))
    key = token_of(rita)
    assert answer_to(key).status_code == 200
    change(rita)
    assert User.objects.get(pk=rita.pk).check_password("another one at noon")
    assert answer_to(key).status_code == 401
    assert answer_to(other).status_code == 200


def test_a_newer_hash_of_the_same_password_revokes_no_token(rita: User, settings: Any) -> None:
    key = token_of(rita)
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
        *settings.PASSWORD_HASHERS,
    ]
    assert Client().login(username="rita", password=factories.PASSWORD)
    assert User.objects.get(pk=rita.pk).password.startswith("pbkdf2_sha256$")
    assert answer_to(key).status_code == 200


def test_a_token_needs_a_name_a_right_and_a_valid_period(rita: User) -> None:
    read = [TokenRight.READ]
    for name, rights, days in (("", read, 1), ("x", [], 1), ("x", read, 0), ("x" * 101, read, 1)):
        with pytest.raises(InvalidInput):
            create_token(by=rita, name=name, rights=rights, days=days)
    for number in range(50):
        create_token(by=rita, name=str(number), rights=read, days=None)
    with pytest.raises(Conflict):
        create_token(by=rita, name="50", rights=read, days=None)


def test_no_one_revokes_the_token_of_another_person(rita: User) -> None:
    token_of(rita)
    with pytest.raises(NotFound):
        revoke_token(token_id=ApiToken.objects.get().pk, by=admin())
    client = Client()
    client.force_login(admin())
    token = ApiToken.objects.get()
    # The primary key counts the tokens of all people, so no address contains it.
    for number in (token.public_id, token.pk, 0, 10**30):
        assert client.post(f"/account/token/{number}/revoke/").status_code == 404
    assert ApiToken.objects.count() == 1


def test_a_deactivated_person_gets_no_token(rita: User) -> None:
    User.objects.update(is_active=False)
    with pytest.raises(NotPermitted):
        create_token(by=rita, name="x", rights=[TokenRight.READ], days=None)
