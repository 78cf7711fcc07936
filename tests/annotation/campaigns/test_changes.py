"""Changing the policy and the members of a running campaign, and the record of changes."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.enums import CampaignState, Joining
from annotation.forms.campaigns import CampaignForm
from annotation.models import Campaign, CampaignChange, Membership
from annotation.services import Policy, change_policy, pause_member, policy_of, set_campaign_state
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import deactivate_person
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from tests import factories
from tests.factories import add_gold_items, claim, make_annotator, make_campaign, make_user


@pytest.fixture
def desk(client: Client, lead: User) -> Client:
    client.force_login(lead)
    return client


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return make_campaign(tmp_path, captions=2, videos=4, double_share=0.5, name="First")


def stored(campaign: Campaign) -> dict[str, Any]:
    row: dict[str, Any] = Campaign.objects.filter(pk=campaign.pk).values().get()
    return row


# --- Services ---------------------------------------------------------------------------------


def test_every_change_of_the_policy_is_recorded(campaign: Campaign, lead: User) -> None:
    before = stored(campaign)
    change_policy(
        campaign=campaign,
        changes={"name": " Second ", "ceiling": 1 / 3, "joining": "chosen", "checklist": True},
        by=lead,
    )
    noted = CampaignChange.objects.get()
    assert (noted.campaign, noted.lead, noted.changes) == (
        campaign,
        lead,
        {
            "name": ["First", "Second"],
            "joining": ["everybody", "chosen"],
            "ceiling": [1.0, 0.3333],
            "checklist": [False, True],
        },
    )
    assert stored(campaign) == before | {
        "name": "Second",
        "joining": "chosen",
        "ceiling": Decimal("0.3333"),
        "checklist": True,
    }
    # The same values again are not a change.
    assert change_policy(campaign=campaign, changes={"ceiling": 1 / 3}, by=lead) is None
    assert CampaignChange.objects.count() == 1


def test_every_change_of_the_state_is_recorded(campaign: Campaign, lead: User) -> None:
    for state in (CampaignState.PAUSED, CampaignState.PAUSED, CampaignState.OPEN):
        set_campaign_state(campaign=campaign, state=state, by=lead)
    changes = CampaignChange.objects.order_by("pk").values_list("lead", "changes")
    assert list(changes) == [
        (lead.pk, {"state": ["open", "paused"]}),
        (lead.pk, {"state": ["paused", "open"]}),
    ]


@pytest.mark.parametrize(
    "name",
    ["scale", "steps", "threshold", "labels_each", "double_share", "labels_max", "order", "seed"],
)
def test_settings_that_determine_tasks_and_labels_cannot_be_changed(
    name: str, campaign: Campaign, lead: User
) -> None:
    before = stored(campaign)
    with pytest.raises(InvalidInput) as refused:
        change_policy(campaign=campaign, changes={name: 2, "ceiling": 0.5}, by=lead)
    assert str(refused.value) == f"{name} cannot be changed while the campaign runs."
    assert stored(campaign) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"ceiling": 0},
        {"ceiling": 1.5},
        {"gate_share": -0.1},
        {"gate_last": 10_001},
        {"gold_last": 0},
        {"name": " "},
        {"name": "x" * 151},
        # There are no control pairs to mix in.
        {"gold_share": 0.1},
    ],
)
def test_an_impossible_policy_is_refused(
    changes: dict[str, Any], campaign: Campaign, lead: User
) -> None:
    before = stored(campaign)
    with pytest.raises(InvalidInput):
        change_policy(campaign=campaign, changes=changes | {"checklist": True}, by=lead)
    assert stored(campaign) == before
    assert CampaignChange.objects.count() == 0


def test_gold_is_added_when_the_policy_requests_it(
    campaign: Campaign, lead: User, tmp_path: Path
) -> None:
    other = factories.make_benchmark(tmp_path, captions=4, videos=4, key="other")
    factories.make_run(tmp_path, other, {"c0": ["v0", "v1"]})
    factories.build_pool(benchmark=other, depth=2)
    made = factories.open_campaign(benchmark=other, by=OPERATOR)
    add_gold_items(tmp_path, other, [("c2", "v0", 1, ""), ("c3", "v0", 0, "")])
    assert made.tasks.filter(gold__isnull=False).count() == 0
    change_policy(campaign=made, changes={"gold_share": 0.5, "gold_bar": 0.8}, by=lead)
    assert made.tasks.filter(gold__isnull=False).count() == 2


def test_changes_without_permission_are_refused(
    campaign: Campaign, lead: User, tmp_path: Path
) -> None:
    rosa = make_user("rosa", Role.RESEARCHER, Role.ANNOTATOR)
    with pytest.raises(NotPermitted):
        change_policy(campaign=campaign, changes={"ceiling": 0.5}, by=rosa)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    with pytest.raises(Conflict):
        change_policy(campaign=campaign, changes={"ceiling": 0.5}, by=lead)
    assert CampaignChange.objects.count() == 1


def test_policy_of_a_campaign_equals_the_policy_at_opening(db: None, tmp_path: Path) -> None:
    policy = Policy(
        scale="graded",
        steps=["a", "b", "c"],
        threshold=2,
        labels_each=2,
        gate_last=5,  # type: ignore[arg-type]
    )
    benchmark = factories.make_benchmark(tmp_path)
    factories.make_run(tmp_path, benchmark, {"c0": ["v0"]})
    factories.build_pool(benchmark=benchmark, depth=1)
    made = factories.open_campaign(benchmark=benchmark, by=OPERATOR, policy=policy)
    made.refresh_from_db()
    assert policy_of(made).columns() == policy.columns()


# --- The page of the policy -------------------------------------------------------------------

FORM = {
    "after": "0",
    "name": "First",
    "joining": "everybody",
    "ceiling_percent": "100",
    "gate_right": "0",
    "gate_last": "0",
    "gold_percent": "0",
    "bar_right": "0",
    "bar_last": "10",
}


def test_the_page_shows_and_changes_the_current_policy(campaign: Campaign, desk: Client) -> None:
    address = f"/campaigns/{campaign.pk}/policy/"
    changed = FORM | {"ceiling_percent": "12.5", "gate_right": "2", "gate_last": "3"}
    answer = desk.post(address, changed)
    assert answer["Location"] == f"/campaigns/{campaign.pk}/"
    form = desk.get(address).context["form"]
    changed |= {"after": str(CampaignChange.objects.get().pk)}
    assert {name: str(form[name].value()) for name in FORM} == changed
    assert [
        (fieldset.title, fieldset.is_open) for fieldset in form.fieldsets() if fieldset.is_folded
    ] == [
        ("Entry requirement", True),
        ("Control pairs", False),
    ]
    # Sending the form unchanged changes nothing, although the stored share 0.6667 is not 2/3.
    desk.post(address, changed)
    assert CampaignChange.objects.count() == 1
    page = " ".join(desk.get(f"/campaigns/{campaign.pk}/").content.decode().split())
    assert "maximum share per annotator: 100 % → 12.5 %" in page
    assert "entry requirement, share of correct answers: 0 % → 66.67 %" in page
    assert "<bdi>2 of the last 3 training answers correct</bdi>" in page


def test_the_page_shows_the_errors_of_the_service(campaign: Campaign, desk: Client) -> None:
    address = f"/campaigns/{campaign.pk}/policy/"
    assert desk.post(address, FORM | {"name": ""}).status_code == 422
    refused = desk.post(address, FORM | {"gold_percent": "2"})
    assert refused.status_code == 422
    assert refused.context["form"].errors == {
        "gold_percent": ["tiny has no control pairs. Import control pairs first."]
    }
    refused = desk.post(address, FORM | {"gold_percent": "51"})
    assert list(refused.context["form"].errors) == ["gold_percent"]
    # Values that are not fields of this form are ignored.
    desk.post(address, FORM | {"labels_max": "9", "seed": "7", "state": "closed"})
    assert (CampaignChange.objects.count(), stored(campaign)["labels_max"]) == (0, 3)


def test_an_outdated_form_changes_nothing(campaign: Campaign, desk: Client, lead: User) -> None:
    """A stale form changes nothing and keeps its input.

    A change of a member or of the state does not make a form stale.
    """
    address = f"/campaigns/{campaign.pk}/policy/"
    claim(campaign, make_annotator("anna"))
    change_policy(campaign=campaign, changes={"joining": Joining.ADDED}, by=lead)
    stale = desk.post(address, FORM | {"gate_right": "2", "gate_last": "3"})
    assert stale.status_code == 422
    assert "The campaign was changed after you opened this page." in stale.content.decode()
    assert stale.context["form"]["gate_last"].value() == "3"
    assert (stored(campaign)["joining"], stored(campaign)["gate_last"]) == ("chosen", 0)

    seen = {"after": str(CampaignChange.objects.get().pk), "joining": "chosen"}
    pause_member(membership=Membership.objects.get(), reason="wait", by=lead)
    set_campaign_state(campaign=campaign, state=CampaignState.PAUSED, by=lead)
    assert desk.post(address, FORM | seen | {"gate_last": "3"}).status_code == 302
    assert stored(campaign)["gate_last"] == 3


OPENING = FORM | {
    "labels_each": "1",
    "double_percent": "10",
    "labels_max": "3",
    "scale": "graded",
    "steps": "a\nb\nc\nd",
    "relevant_from": "2",
    "order": "grouped",
    "priority": "none",
    "seed": "0",
}


@pytest.mark.parametrize(
    ("changed_fields", "errors"),
    [
        ({}, {}),
        (
            {"relevant_from": "5"},
            {"relevant_from": ["The scale has 4 steps, so this must be 2 to 4."]},
        ),
        ({"steps": " \n"}, {"steps": ["Enter 2 to 9 steps, one per line."]}),
        ({"steps": " ", "scale": "binary"}, {}),
        ({"steps": "a\nA"}, {"steps": ["Two steps of the scale have the same name."]}),
        (
            {"labels_each": "3"},
            {"labels_max": ["Pairs with an extra label get 4 labels, but the maximum is 3."]},
        ),
        ({"labels_each": "3", "double_percent": "0"}, {}),
    ],
)
def test_an_error_is_shown_next_to_its_field(
    changed_fields: dict[str, str], errors: dict[str, list[str]]
) -> None:
    assert CampaignForm(OPENING | changed_fields).errors == errors


def test_a_campaign_whose_maximum_is_no_longer_valid_can_be_changed(
    campaign: Campaign, lead: User
) -> None:
    """Its maximum is below the planned labels. A new campaign with this maximum is refused."""
    Campaign.objects.update(labels_max=1)
    assert change_policy(campaign=campaign, changes={"checklist": True}, by=lead) is not None


def test_a_closed_campaign_has_no_policy_page(campaign: Campaign, desk: Client, lead: User) -> None:
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    for part in ("policy", "members"):
        assert desk.get(f"/campaigns/{campaign.pk}/{part}/").status_code == 409
    assert "policy/" not in desk.get(f"/campaigns/{campaign.pk}/").content.decode()


# --- Who may judge ----------------------------------------------------------------------------


def test_annotators_are_added(campaign: Campaign, desk: Client, lead: User) -> None:
    anna, ben, cara = (make_annotator(name) for name in ("anna", "ben", "cara"))
    claim(campaign, anna)
    make_user("rosa", Role.RESEARCHER)
    deactivate_person(person=cara.user, by=make_user("ada", Role.ADMIN))
    emil = make_user("emil", Role.ANNOTATOR)
    address = f"/campaigns/{campaign.pk}/members/"
    refused_page = desk.get(address)
    assert (refused_page.status_code, refused_page.context["campaign"]) == (409, campaign)
    shown = " ".join(refused_page.content.decode().split())
    assert "All annotators of this benchmark may judge here. You need not add anyone." in shown
    assert "This campaign has" not in shown
    assert "are in this campaign" not in shown
    change_policy(campaign=campaign, changes={"joining": Joining.ADDED}, by=lead)

    shown = desk.get(address).context["form"].fields["people"].choices
    assert list(shown) == [(ben.user_id, "ben"), (emil.pk, "emil")]
    answer = desk.post(address, {"people": [emil.pk]})
    assert answer["Location"] == f"/campaigns/{campaign.pk}/people/"
    members = Membership.objects.filter(campaign=campaign).values_list("annotator__user__username")
    assert sorted(members) == [("anna",), ("emil",)]
    shown = desk.get(address).context["form"].fields["people"].choices
    assert list(shown) == [(ben.user_id, "ben")]


def test_other_people_cannot_be_added(campaign: Campaign, desk: Client, lead: User) -> None:
    change_policy(campaign=campaign, changes={"joining": Joining.ADDED}, by=lead)
    rosa = make_user("rosa", Role.RESEARCHER)
    address = f"/campaigns/{campaign.pk}/members/"
    for people in ([], [rosa.pk], ["x"]):
        assert desk.post(address, {"people": people}).status_code == 422
    assert Membership.objects.count() == 0
