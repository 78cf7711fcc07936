"""The Django admin shows people and changes only passwords."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from hearth.accounts.models import Grant, Invitation
from hearth.accounts.roles import Role
from hearth.accounts.services import deactivate_person
from tests import factories
from tests.accounts.world import admin, consent_text, invited, make_member

pytestmark = pytest.mark.django_db


def test_people_are_read_only_except_for_the_password() -> None:
    anna = make_member("anna", Role.ANNOTATOR, of="tiny")
    made, _ = invited(note="for Anna"), consent_text()
    client = Client()
    client.force_login(admin())
    page = f"/admin/accounts/user/{anna.pk}/"
    for address in ("user/", "grant/", "invitation/", "consenttext/", "consent/"):
        assert client.get(f"/admin/accounts/{address}").status_code == 200
        assert client.get(f"/admin/accounts/{address}add/").status_code == 403
    assert client.get("/admin/auth/group/").status_code == 404
    assert (
        made.invitation.token_sha256
        not in client.get(
            f"/admin/accounts/invitation/{made.invitation.pk}/change/"
        ).content.decode()
    )
    assert client.get(f"{page}change/").status_code == 200
    client.post(
        f"{page}change/",
        {
            "username": "eve",
            "is_superuser": "on",
            "groups": str(Group.objects.get(name="admin").pk),
        },
    )
    assert client.post(f"{page}delete/", {"post": "yes"}).status_code == 403
    anna.refresh_from_db()
    assert (anna.username, anna.is_superuser, anna.groups.count()) == ("anna", False, 0)
    assert (Grant.objects.count(), Invitation.objects.count()) == (1, 1)

    new = {"password1": "a new long one", "password2": "a new long one", "usable_password": "true"}
    assert client.post(f"{page}password/", new).status_code == 302
    anna.refresh_from_db()
    assert anna.check_password("a new long one")


def test_the_admin_changes_nothing_that_a_service_checks(tmp_path: Path) -> None:
    benchmark = factories.make_benchmark(tmp_path)
    video = benchmark.videos.all()[0]
    client = Client()
    client.force_login(admin())
    pages = {
        f"/admin/pooling/video/{video.pk}/change/": {
            "url": "http://127.0.0.1/a.mp4",
            "state": "playable",
        },
        f"/admin/pooling/benchmark/{benchmark.pk}/change/": {
            "name": "x",
            "equal_texts": "separate",
        },
    }
    for page, content in pages.items():
        assert client.post(page, content).status_code == 403


def test_a_deactivated_person_sees_why_they_cannot_sign_in() -> None:
    anna = factories.make_user("anna", Role.ANNOTATOR)
    deactivate_person(person=anna, by=admin())
    client = Client()

    def sign_in(password: str) -> str:
        content = {"login": "anna", "password": password}
        return client.post("/accounts/login/", content, follow=True).content.decode()

    # With a wrong password, the page must not reveal that the account exists.
    assert "Your account is deactivated" in sign_in(factories.PASSWORD)
    assert "Your account is deactivated" not in sign_in("wrong")
    assert client.get("/jobs/").status_code == 302
