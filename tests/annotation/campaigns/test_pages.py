"""The pages that open campaigns and change their state and policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from annotation import services
from annotation.enums import CampaignState, EscalationKind
from annotation.models import Campaign
from annotation.services import Policy
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from tests import factories


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return factories.make_campaign(tmp_path)


@pytest.fixture
def lead(client: Client, db: None) -> Client:
    client.force_login(factories.make_user("lena", Role.LEAD))
    return client


# The data of an unchanged form.
USUAL = {
    "name": "",
    "question": "label",
    "only": "relevant",
    "tolerance": "0.5",
    "labels_each": "1",
    "double_percent": "10",
    "labels_max": "3",
    "scale": "binary",
    "steps": "not relevant\r\npartly relevant\r\nmostly relevant\r\nrelevant",
    "relevant_from": "2",
    "original_step": "",
    "joining": "everybody",
    "ceiling_percent": "100",
    "gate_right": "0",
    "gate_last": "0",
    "gold_percent": "0",
    "bar_right": "0",
    "bar_last": "10",
    "order": "grouped",
    "priority": "none",
    "proxy": "",
    "seed": "0",
}


@pytest.fixture
def unjudged(campaign: Campaign) -> Campaign:
    """A campaign that was closed without judgments, so its pairs can be in a new campaign."""
    Campaign.objects.update(state=CampaignState.CLOSED)
    return campaign


def test_the_form_shows_the_default_policy(unjudged: Campaign, lead: Client) -> None:
    form = lead.get("/benchmarks/tiny/campaigns/new/").context["form"]
    shown = {
        name: "" if field.initial in (None, "") else str(field.initial).replace("\n", "\r\n")
        for name, field in form.fields.items()
        if name not in ("checklist", "contact_sheet")
    }
    assert shown == USUAL
    collapsed = {
        fieldset.title: fieldset.is_open for fieldset in form.fieldsets() if fieldset.is_folded
    }
    assert set(collapsed.values()) == {False}
    lead.post("/benchmarks/tiny/campaigns/new/", USUAL)
    assert Policy(**Job.objects.get().params["policy"]) == Policy()


def test_opening_a_campaign_starts_a_job(unjudged: Campaign, lead: Client) -> None:
    form = {
        **USUAL,
        "name": "دورة",
        "labels_each": "2",
        "double_percent": "12.5",
        "labels_max": "5",
        "scale": "graded",
        "steps": " no \r\n\r\nhalf\r\n<b>all</b>\r\n",
        "relevant_from": "3",
        "original_step": "3",
        "joining": "chosen",
        "ceiling_percent": "7.5",
        "gate_right": "18",
        "gate_last": "20",
        "gold_percent": "2",
        "bar_right": "8",
        "bar_last": "10",
        "checklist": "on",
        "contact_sheet": "on",
        "order": "shuffled",
        "priority": "rank",
        "seed": "42",
    }
    lead.post("/benchmarks/tiny/campaigns/new/", form)
    job = Job.objects.get()
    assert (job.kind, job.benchmark_key, job.params) == (
        "open_campaign",
        "tiny",
        {
            "benchmark": "tiny",
            "policy": {
                "labels_each": 2,
                "double_share": 0.125,
                "labels_max": 5,
                "scale": "graded",
                "steps": ["no", "half", "<b>all</b>"],
                "threshold": 2,
                "original_grade": 2,
                "joining": "chosen",
                "ceiling": 0.075,
                "gate_share": 0.9,
                "gate_last": 20,
                "gold_share": 0.02,
                "gold_bar": 0.8,
                "gold_last": 10,
                "checklist": True,
                "contact_sheet": True,
                "order": "shuffled",
                "priority": "rank",
            },
            "seed": 42,
            "name": "دورة",
            "proxy": "",
            "question": "label",
            "only": "relevant",
            "tolerance": 0.5,
        },
    )


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("double_percent", "100.01", "Ensure this value is less than or equal to 100."),
        ("double_percent", "NaN", "Enter a number."),
        ("seed", "1" * 400, "Ensure this value is less than or equal to 9223372036854775807."),
        ("scale", "stars", "Select a valid choice. stars is not one of the available choices."),
        ("labels_each", "0", "Ensure this value is greater than or equal to 1."),
        ("ceiling_percent", "0", "Ensure this value is greater than or equal to 0.01."),
        ("gate_right", "1", "The minimum must not exceed the number of answers."),
        ("bar_right", "11", "The minimum must not exceed the number of answers."),
        ("priority", "", "This field is required."),
    ],
)
def test_opening_with_an_invalid_field_is_refused(
    field: str, value: str, error: str, campaign: Campaign, lead: Client
) -> None:
    answer = lead.post("/benchmarks/tiny/campaigns/new/", {**USUAL, field: value})
    assert answer.status_code == 422
    assert answer.content.decode().count(error) == 2
    assert Job.objects.count() == 0
    # The section of the form with the error is open.
    (fieldset,) = [
        fieldset
        for fieldset in answer.context["form"].fieldsets()
        if field in [shown.name for shown in fieldset.fields]
    ]
    assert fieldset.is_open


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (
            {"labels_each": "4"},
            "The labels per pair must be at least 1 and must not exceed the maximum, which",
        ),
        ({"scale": "graded", "steps": "one"}, "A scale must have 2 to 9 steps, not 1."),
        ({"scale": "graded", "steps": "a\nA"}, "Two steps of the scale have the same name."),
        (
            {"scale": "graded", "relevant_from": "5"},
            "The scale has 4 steps, so this must be 2 to 4.",
        ),
    ],
)
def test_opening_with_an_impossible_policy_is_refused(
    change: dict[str, str], error: str, campaign: Campaign, lead: Client
) -> None:
    answer = lead.post("/benchmarks/tiny/campaigns/new/", USUAL | change)
    assert (answer.status_code, Job.objects.count()) == (422, 0)
    assert error in answer.content.decode()


def test_a_campaign_needs_a_pool(lead: Client, tmp_path: Path) -> None:
    factories.make_benchmark(tmp_path)
    page = lead.get("/benchmarks/tiny/campaigns/new/").content.decode()
    assert "This benchmark has no pool." in page
    assert "All pooled pairs are already in a campaign." not in page


def test_unjudged_pairs_of_a_closed_campaign_can_be_in_a_new_campaign(
    campaign: Campaign, lead: Client
) -> None:
    address = "/benchmarks/tiny/campaigns/new/"
    page = lead.get(address).content.decode()
    assert "All pooled pairs are already in a campaign." in page
    assert lead.post(address, USUAL).status_code == 422
    anna = factories.make_annotator("anna")
    judged, escalated, *_ = factories.claim(campaign, anna)
    factories.submit(judged, 1)
    services.escalate_task(assignment_id=escalated.pk, annotator=anna, kind=EscalationKind.UNSURE)
    campaign.state = CampaignState.CLOSED
    campaign.save()
    left = campaign.n_tasks - 2
    assert f"<strong>{left} task" in lead.get(address).content.decode()
    second = services.open_campaign(benchmark=campaign.benchmark, by=OPERATOR)
    taken = {judged.task.pair_id, escalated.task.pair_id}
    assert second.n_tasks == left
    assert not second.tasks.filter(pair__in=taken).exists()


def test_a_campaign_is_paused_opened_and_closed(campaign: Campaign, lead: Client) -> None:
    address = f"/campaigns/{campaign.pk}/state/"
    seen = []
    for state in ("paused", "open", "closed", "open"):
        status = lead.post(address, {"state": state}).status_code
        campaign.refresh_from_db()
        seen.append((state, status, campaign.state))
    assert seen == [
        ("paused", 302, CampaignState.PAUSED),
        ("open", 302, CampaignState.OPEN),
        ("closed", 302, CampaignState.CLOSED),
        ("open", 409, CampaignState.CLOSED),
    ]
