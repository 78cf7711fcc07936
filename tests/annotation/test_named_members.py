"""Adding a list of annotators to a campaign."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.enums import Joining
from annotation.models import Annotator, Campaign
from annotation.services import Policy, annotator_for, open_campaign
from annotation.services.named_members import add_named_members
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.audit.models import AuditEntry
from hearth.shared.errors import NotPermitted
from tests.accounts.world import make_member
from tests.factories import build_pool, make_benchmark, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    benchmark = make_benchmark(tmp_path)
    make_run(tmp_path, benchmark, {"c0": ["v0"]})
    build_pool(benchmark=benchmark, depth=1)
    policy = Policy(joining=Joining.ADDED)
    return open_campaign(benchmark=benchmark, policy=policy, by=OPERATOR)


@pytest.fixture
def lead() -> User:
    return make_member("lena", Role.LEAD, of="tiny")


def test_each_name_has_a_result(campaign: Campaign, lead: User) -> None:
    anna, bob, cleo = (
        make_member(name, Role.ANNOTATOR, of="tiny") for name in ("Anna", "bob", "cleo")
    )
    User.objects.filter(pk=bob.pk).update(email="bob@example.org")
    make_member("eli", Role.ANNOTATOR, of="other")
    gone = make_member("gone", Role.ANNOTATOR, of="tiny")
    User.objects.filter(pk=gone.pk).update(is_active=False)
    pseudonym = annotator_for(cleo).pseudonym
    names = ["anna", "BOB@example.org", "bob", pseudonym, "eli", "gone", "anna"]
    results = add_named_members(campaign=campaign, names=names, by=lead)
    assert [(row.name, row.result.value, row.username) for row in results] == [
        ("anna", "added", "Anna"),
        ("BOB@example.org", "added", "bob"),
        ("bob", "member", "bob"),
        (pseudonym, "added", "cleo"),
        ("eli", "unknown", ""),
        ("gone", "unknown", ""),
    ]
    members = set(
        Annotator.objects.filter(memberships__campaign=campaign).values_list(
            "user__username", flat=True
        )
    )
    assert members == {"Anna", "bob", "cleo"}
    assert AuditEntry.objects.filter(act="members_added").count() == 1
    again = add_named_members(campaign=campaign, names=["anna"], by=lead)
    assert [row.result.value for row in again] == ["member"]
    assert AuditEntry.objects.filter(act="members_added").count() == 1
    with pytest.raises(NotPermitted):
        add_named_members(campaign=campaign, names=["anna"], by=anna)


def test_page_and_api_report_each_name(campaign: Campaign, lead: User, client: Client) -> None:
    make_member("anna", Role.ANNOTATOR, of="tiny")
    bob = make_member("bob", Role.ANNOTATOR, of="tiny")
    client.force_login(lead)
    path = f"/campaigns/{campaign.pk}/members/"
    page = client.post(path, {"people": [bob.pk], "names": "nobody\nanna"}).content.decode()
    assert "No active annotator of this benchmark has this name" in page
    assert campaign.members.count() == 2
    assert client.post(path, {"names": ""}).status_code == 422
    answer = client.post(f"/api/v1/campaigns/{campaign.pk}/members/", {"people": ["anna", "x"]})
    assert answer.json() == [
        {"name": "anna", "result": "member", "username": "anna"},
        {"name": "x", "result": "unknown", "username": ""},
    ]


def test_a_file_adds_the_same_people_on_the_page_and_by_the_command(
    campaign: Campaign, lead: User, client: Client, tmp_path: Path
) -> None:
    for name in ("anna", "bob"):
        make_member(name, Role.ANNOTATOR, of="tiny")
    path = tmp_path / "names.csv"
    path.write_text("Username,Note\nanna,tall\nx,\nbob,\n")
    added = []
    for way in ("page", "command"):
        if way == "page":
            client.force_login(lead)
            with path.open("rb") as file:
                client.post(f"/campaigns/{campaign.pk}/members/", {"file": file})
        else:
            call_command("add_members", campaign.pk, file=path)
        added.append(set(campaign.members.values_list("annotator__user__username", flat=True)))
        campaign.members.all().delete()
    assert added == [{"anna", "bob"}] * 2
    entries = AuditEntry.objects.filter(act="members_added").order_by("pk")
    assert [entry.by_id for entry in entries] == [lead.pk, None]
    assert entries[0].after == entries[1].after
