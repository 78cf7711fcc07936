"""Opening, steering and describing campaigns; bringing in judgments."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.enums import CampaignState
from annotation.models import Campaign, Guideline
from config.accounts.roles import Role
from config.jobs.models import Job
from tests import factories


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return factories.make_campaign(tmp_path)


@pytest.fixture
def lead(client: Client, db: None) -> Client:
    client.force_login(factories.make_user("lena", Role.LEAD))
    return client


def test_opening_becomes_a_job(campaign: Campaign, lead: Client) -> None:
    form = {"name": "دورة", "double_percent": "12.5", "seed": "42", "scale": "binary"}
    lead.post("/benchmarks/tiny/campaigns/new/", form)
    job = Job.objects.get()
    assert (job.kind, job.benchmark_key, job.params) == (
        "open_campaign",
        "tiny",
        {
            "benchmark": "tiny",
            "double_share": 0.125,
            "seed": 42,
            "scale": "binary",
            "name": "دورة",
        },
    )


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("double_percent", "100.01", "Ensure this value is less than or equal to 100."),
        ("double_percent", "NaN", "Enter a number."),
        ("seed", "1" * 400, "Ensure this value is less than or equal to 9223372036854775807."),
        ("scale", "stars", "Select a valid choice. stars is not one of the available choices."),
    ],
)
def test_opening_with_an_error(
    field: str, value: str, error: str, campaign: Campaign, lead: Client
) -> None:
    form = {"double_percent": "10", "seed": "0", "scale": "binary", field: value}
    answer = lead.post("/benchmarks/tiny/campaigns/new/", form)
    assert answer.status_code == 422
    assert answer.content.decode().count(error) == 2
    assert Job.objects.count() == 0


def test_judgments_become_a_job_with_the_file(campaign: Campaign, lead: Client) -> None:
    content = b"caption_id,video_id,annotator,label\nc0,v0,anna,1\n"
    file = SimpleUploadedFile("judged.csv", content)
    lead.post("/benchmarks/tiny/judgments/new/", {"file": file})
    job = Job.objects.get()
    kept = job.params.pop("upload")
    assert (job.kind, job.params) == (
        "import_judgments",
        {"benchmark": "tiny", "source": "judged.csv"},
    )
    with storages["uploads"].open(kept) as stored:
        assert stored.read() == content


def test_pause_open_close(campaign: Campaign, lead: Client) -> None:
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


def test_guideline_in_versions(campaign: Campaign, lead: Client) -> None:
    address = f"/campaigns/{campaign.pk}/guideline/"
    lead.post(address, {"text": "<b>First</b>\r\n\r\nand more"})
    lead.post(address, {"text": "Second"})
    texts = list(Guideline.objects.order_by("version").values_list("version", "text"))
    assert texts == [(1, "<b>First</b>\n\nand more"), (2, "Second")]
    campaign.refresh_from_db()
    assert campaign.guideline is not None
    assert campaign.guideline.version == 2
    assert ">Second</textarea>" in lead.get(address).content.decode().replace(">\n", ">")
    assert "<p>Second</p>" in lead.get(f"/campaigns/{campaign.pk}/").content.decode()


def test_empty_guideline_is_refused(campaign: Campaign, lead: Client) -> None:
    answer = lead.post(f"/campaigns/{campaign.pk}/guideline/", {"text": " \r\n "})
    assert answer.status_code == 422
    assert Guideline.objects.count() == 0
