"""The page that imports judgments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Campaign
from hearth.accounts.roles import Role
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from tests import factories


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return factories.make_campaign(tmp_path)


@pytest.fixture
def lead(client: Client, db: None) -> Client:
    client.force_login(factories.make_user("lena", Role.LEAD))
    return client


FOREIGN = (
    "Task,Worker,Text id,Clip,Verdict,WorkTime\n"
    + "t1,ann,c0,v0,match,3\nt2,ben,c0,v1,no match,4\n"
)
SELECTED = {
    "caption_id": "Text id",
    "video_id": "Clip",
    "annotator": "Worker",
    "label": "Verdict",
    "judged_at": "",
    "values": "match=1\nno match=0",
}


def uploaded(lead: Client, text: str, name: str = "foreign.csv") -> Job:
    file = SimpleUploadedFile(name, text.encode())
    lead.post("/benchmarks/tiny/judgments/new/", {"file": file})
    return finished()


def finished() -> Job:
    job = Job.objects.order_by("-created_at").first()
    assert job is not None
    run_job(job.pk)
    job.refresh_from_db()
    return job


def test_columns_are_selected_once_for_a_benchmark(campaign: Campaign, lead: Client) -> None:
    job = uploaded(lead, FOREIGN)
    assert job.state == JobState.DONE
    assert job.result is not None
    assert "no column 'caption_id'" in job.result["refused"]
    # A job does not store names of annotators, which the page shows to leads.
    assert "ann" not in json.dumps(job.result)
    address = f"/benchmarks/tiny/judgments/plan/{job.pk}/"
    page = lead.get(address).content.decode()
    assert '<td class="wide" dir="auto">no match</td>' in page
    missing = lead.post(address, {**SELECTED, "annotator": ""}).content.decode()
    assert "This field is required." in missing

    lead.post(address, SELECTED)
    again = finished()
    assert (again.result or {})["labels"] == {"not relevant": 1, "relevant": 1}
    address = f"/benchmarks/tiny/judgments/plan/{again.pk}/"
    assert "selected>Verdict" in lead.get(address).content.decode()
    lead.post(address)
    stored = finished()
    assert (stored.state, (stored.result or {})["judgments"]) == (JobState.DONE, 2)
    imported = Campaign.objects.get(pk=(stored.result or {})["campaign"])
    assert imported.source["values"] == ["match=1", "no match=0"]

    later = uploaded(lead, FOREIGN.replace("t1,ann", "t3,eve"))
    assert (later.result or {})["judgments"] == 2
    assert "as in the last import: caption_id=Text id" in (later.result or {})["notes"][0]
    # A file without these columns is asked about again.
    other = uploaded(lead, FOREIGN.replace("Verdict", "Answer"))
    assert "refused" in (other.result or {})


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
            "asks": True,
        },
    )
    with storages["uploads"].open(kept) as stored:
        assert stored.read() == content
