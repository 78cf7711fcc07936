"""The pages about people: the counts, and forms that are sent twice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from annotation.models import Membership
from hearth.accounts.models import Invitation
from hearth.accounts.roles import Role
from tests import factories
from tests.factories import claim, make_annotator, submit


@pytest.fixture
def ada(client: Client, db: None) -> Client:
    client.force_login(factories.make_user("ada", Role.ADMIN))
    return client


def test_the_number_of_judged_pairs_is_the_same_on_all_pages(ada: Client, tmp_path: Path) -> None:
    """Only pairs are counted, as in the campaign's table. Answers to gold are a separate column."""
    campaign = factories.make_campaign_with_gold(
        tmp_path, captions=2, videos=4, gold=4, gold_share=1
    )
    anna = make_annotator("anna")
    while held := claim(campaign, anna):
        for assignment in held:
            submit(assignment, 1)
    membership = Membership.objects.get()
    assert (membership.judged, membership.gold_judged) == (8, 4)
    page = ada.get(f"/people/{anna.user_id}/")
    assert page.context["judged"] == 8
    assert re.findall(r'<td class="num">(\d+)</td>', page.content.decode()) == ["8", "4"]
    (row,) = [person for person, _ in ada.get("/people/").context["rows"] if person.judged]
    assert (row.username, row.judged) == ("anna", 8)
    table = ada.get(f"/campaigns/{campaign.pk}/people/").context["rows"]
    assert [row.numbers["judged"].value for row in table] == [8]


def test_a_form_sent_twice_creates_one_link(ada: Client) -> None:
    address = "/people/invitations/new/"
    once = ada.get(address).context["once"]
    form = {"role": "annotator", "scope": "*", "days": "7", "once": once}
    assert "The invitation link is ready" in ada.post(address, form).content.decode()
    again = ada.post(address, form)
    assert (again["Location"], Invitation.objects.count()) == ("/people/invitations/", 1)
    assert "is not shown again" in ada.get(again["Location"]).content.decode()
    ada.post(address, form | {"once": ada.get(address).context["once"]})
    assert Invitation.objects.count() == 2


def test_an_existing_role_is_not_granted_again(ada: Client) -> None:
    address = f"/people/{factories.make_user('emil').pk}/"
    for message in (
        "The role of researcher is granted.",
        "This person already has this role.",
    ):
        ada.post(f"{address}roles/grant/", {"role": "researcher", "scope": "*"})
        assert message in ada.get(address).content.decode()
