"""The page that imports judgments."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Campaign
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


def test_importing_judgments_starts_a_job_with_the_file(campaign: Campaign, lead: Client) -> None:
    content = b"caption_id,video_id,annotator,label\nc0,v0,anna,1\n"
    file = SimpleUploadedFile("judged.csv", content)
    lead.post("/benchmarks/tiny/judgments/new/", {"file": file})
    job = Job.objects.get()
    kept = job.params.pop("upload")
    assert (job.kind, job.params) == (
        "plan_judgments",
        {
            "benchmark": "tiny",
            "source": "judged.csv",
            "format": "auto",
            "scale": "binary",
            "pool_equal": False,
            "data_set": "",
            "columns": [],
            "values": [],
            "licence": "",
        },
    )
    with storages["uploads"].open(kept) as stored:
        assert stored.read() == content
