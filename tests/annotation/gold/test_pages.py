"""The pages of gold items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.html import escape

from annotation.enums import GoldUse
from annotation.models import Annotator, Campaign, GoldItem
from hearth.accounts.roles import Role
from hearth.audit.models import AuditEntry
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from hearth.shared.numbers import PERCENT_SIGN
from tests.annotation.pages import client_of, queries_of, read
from tests.factories import (
    add_gold_items,
    judge,
    make_annotator,
    make_benchmark,
    make_campaign,
    make_training,
    make_user,
    train,
)


@pytest.fixture
def training(db: None, tmp_path: Path) -> Campaign:
    return make_training(tmp_path, items=6)


@pytest.fixture
def lead(db: None) -> Client:
    return client_of(make_user("lena", Role.LEAD))


def person_page(annotator: Annotator) -> str:
    return f"/benchmarks/tiny/training/{annotator.pk}/"


def test_the_list_of_gold(
    training: Campaign, tmp_path: Path, anna: Annotator, lead: Client
) -> None:
    add_gold_items(tmp_path, training.benchmark, [("c0", "v1", 0, "<i>hidden</i>")])
    train(training, anna, "rwr")
    page = lead.get("/benchmarks/tiny/gold/")
    assert [(option.value, option.count) for option in page.context["filters"]] == [
        ("", 7),
        ("training", 6),
        ("control", 1),
        ("retired", 0),
    ]
    rows = page.context["rows"]
    assert [(item.answered, percent) for item, percent in rows] == [
        (1, f"0.0{PERCENT_SIGN}"),
        (1, f"100.0{PERCENT_SIGN}"),
        (1, f"100.0{PERCENT_SIGN}"),
        *[(0, "–")] * 4,
    ]
    words = read(lead, "/benchmarks/tiny/gold/?kind=control")
    assert "caption 0 not relevant <i>hidden</i> Control 0 –" in words
    assert len(lead.get("/benchmarks/tiny/gold/?q=hidden").context["rows"]) == 1
    assert "No gold items match." in read(lead, "/benchmarks/tiny/gold/?q=nothing")
    assert "There are no gold items of this kind." in read(
        lead, "/benchmarks/tiny/gold/?kind=retired"
    )


def test_an_empty_list_of_gold(db: None, tmp_path: Path, lead: Client) -> None:
    make_benchmark(tmp_path)
    assert "There are no gold items yet." in read(lead, "/benchmarks/tiny/gold/")


def test_database_queries_do_not_grow_with_gold(
    training: Campaign,
    tmp_path: Path,
    anna: Annotator,
    lead: Client,
) -> None:
    before = queries_of(lead, "/benchmarks/tiny/gold/")
    train(training, anna, "rwr")
    add_gold_items(tmp_path, training.benchmark, [("c0", "v1", 0, ""), ("c1", "v1", 0, "")])
    assert queries_of(lead, "/benchmarks/tiny/gold/") == before


def test_an_item_is_explained_retired_and_restored(
    training: Campaign, anna: Annotator, lead: Client
) -> None:
    (answer,) = train(training, anna, "w")
    item = GoldItem.objects.get(tasks=answer.task)
    address = f"/benchmarks/tiny/gold/{item.pk}/"
    assert "Correct answer" in read(lead, address)
    lead.post(address, {"action": "explain", "explanation": " The dog is a <cat>. "})
    item.refresh_from_db()
    assert item.explanation == "The dog is a <cat>."
    lead.post(address, {"action": "retire"})
    item.refresh_from_db()
    assert item.retired_at is not None
    assert "This item was retired on" in read(lead, address)
    assert "The item is retired. This answer does not count." in read(lead, person_page(anna))
    lead.post(address, {"action": "restore"})
    item.refresh_from_db()
    assert item.retired_at is None
    long = lead.post(address, {"action": "explain", "explanation": "x" * 2001})
    assert (long.status_code, "at most 2000 characters" in long.content.decode()) == (422, True)
    assert lead.post(address, {"action": "explode"}).status_code == 400
    item.refresh_from_db()
    assert item.explanation == "The dog is a <cat>."


def test_gold_of_another_benchmark_is_not_found(
    training: Campaign, tmp_path: Path, lead: Client
) -> None:
    make_benchmark(tmp_path, key="other")
    item = GoldItem.objects.earliest("pk")
    assert lead.get(f"/benchmarks/other/gold/{item.pk}/").status_code == 404


def upload(lead: Client, content: bytes, use: str = "control") -> Job:
    file = SimpleUploadedFile("gold.csv", content)
    answer = lead.post("/benchmarks/tiny/gold/new/", {"file": file, "use": use})
    job = Job.objects.latest("created_at")
    assert (answer.status_code, answer["Location"]) == (302, f"/jobs/{job.pk}/")
    run_job(job.pk)
    job.refresh_from_db()
    return job


def test_gold_is_imported_by_upload(training: Campaign, lead: Client) -> None:
    before = GoldItem.objects.count()
    job = upload(lead, b"caption_id,video_id,label,explanation\nc0,v1,1,all is there\n")
    assert (job.state, job.result) == (JobState.DONE, {"gold": 1, "use": "control"})
    added = GoldItem.objects.get(use=GoldUse.CONTROL)
    assert added.created_by is not None
    assert added.created_by.username == "lena"
    assert "1 gold item for control is stored." in read(lead, f"/jobs/{job.pk}/")

    job = upload(lead, b"caption_id,video_id,label\nc1,v1,1\nc0,v1,0\n", use="training")
    assert (job.state, job.error) == (
        JobState.FAILED,
        "gold.csv, line 3: the pair is already a gold item (control)",
    )
    assert GoldItem.objects.count() == before + 1


@pytest.mark.parametrize(
    "form", [{}, {"use": "training"}, {"use": "both", "file": SimpleUploadedFile("a", b"a")}]
)
def test_an_upload_with_an_error_is_refused(
    training: Campaign, lead: Client, form: dict[str, Any]
) -> None:
    answer = lead.post("/benchmarks/tiny/gold/new/", form)
    assert answer.status_code == 422
    assert Job.objects.count() == 0


def test_a_judged_pair_becomes_a_gold_item(db: None, tmp_path: Path, lead: Client) -> None:
    campaign = make_campaign(tmp_path)
    judge(campaign, make_annotator("bert"), {"v0": 1, "v1": 0})
    task = campaign.tasks.get(pair__video__key="v1")
    desk = lead.get(f"/campaigns/{campaign.pk}/desk/pairs/{task.pk}/").content.decode()
    address = "/benchmarks/tiny/gold/pair/?caption=c0&video=v1&answer=0"
    assert f'<a class="btn btn-sm btn-outline-secondary" href="{escape(address)}"' in desk
    assert lead.get(address).context["form"]["answer"].initial == "0"
    form = {"use": "control", "answer": "0", "explanation": "There is no dog."}
    done = lead.post(address, form)
    item = GoldItem.objects.get()
    assert done["Location"] == f"/benchmarks/tiny/gold/{item.pk}/"
    assert (item.query.key, item.video.key, item.use) == ("c0", "v1", GoldUse.CONTROL)
    assert (item.is_relevant, item.explanation) == (False, "There is no dog.")
    assert AuditEntry.objects.filter(act="gold_added").count() == 1
    # A pair can be a gold item only once.
    assert lead.get(address)["Location"] == done["Location"]
