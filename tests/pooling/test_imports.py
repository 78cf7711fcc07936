"""A benchmark imported on the pages and over the API: files, plan, acceptance, and cleaning up."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, TestCase
from django.utils import timezone

from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.operations.backup.contents import named_files
from hearth.operations.backup.databases import run_query
from hearth.operations.housekeeping import run_housekeeping
from pooling.core.readers.benchmarks import BENCHMARKS
from pooling.models import Benchmark, BenchmarkImport, Query
from tests.accounts.world import make_member
from tests.factories import caption_rows, make_benchmark, make_user, row_counts, write_captions
from tests.test_api import API, client_for

pytestmark = pytest.mark.django_db

TABLE = "id,de,video_id\nc0,eine Katze,v0\nc1,ein Hund,v1\n"
MSVD = json.dumps({"v0": ["a cat", "a dog"], "v1": ["a bird"]})


def upload(content: str, name: str = "captions.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode())


def finished(kind: str) -> Job:
    """Run the newest job of a kind, and return it."""
    job = Job.objects.filter(kind=kind).latest("created_at")
    with TestCase.captureOnCommitCallbacks(execute=True):
        run_job(job.pk)
    job.refresh_from_db()
    return job


def uploads() -> list[Path]:
    return [path for path in Path(settings.UPLOAD_ROOT).iterdir() if path.is_file()]


@pytest.fixture
def lead(client: Client) -> Client:
    client.force_login(make_user("lea", Role.LEAD))
    return client


def test_a_lead_imports_a_benchmark_on_the_pages(lead: Client) -> None:
    """The file has other column names than expected, so the first plan has an error.

    Selecting the columns corrects it.
    """
    form = {"name": "Kleine Formen", "key": "klein", "licence": "CC0", "captions": upload(TABLE)}
    answer = lead.post("/imports/new/", form)
    job = finished("plan_import")
    assert (answer.status_code, answer["Location"]) == (302, f"/jobs/{job.pk}/")
    found = BenchmarkImport.objects.get()
    assert job.result is not None
    assert job.result["problems"] == [
        {"file": "captions.csv", "line": 1, "reason": "the header has no column 'caption'"}
    ]
    page, stored = f"/imports/{found.pk}/", Path(found.captions.path)
    shown = lead.get(page).content.decode()
    assert "The files have 1 error, so nothing can be imported." in " ".join(shown.split())
    assert "eine Katze" in shown  # the first rows of the file
    assert lead.post(f"{page}accept/", {"plan": job.result["plan"]}).status_code == 409

    lead.post(page, {"caption_id": "id", "caption": "de", "video_id": "video_id"})
    plan = finished("plan_import").result
    assert plan is not None
    assert (plan["queries"], plan["videos"], plan["original_positives"]) == (2, 2, 2)
    assert lead.post(f"{page}accept/", {"plan": "older"}).status_code == 412
    assert not Benchmark.objects.exists()
    lead.post(f"{page}accept/", {"plan": plan["plan"]})
    made = finished("import_benchmark").result
    assert made is not None
    benchmark = Benchmark.objects.get()
    assert (benchmark.key, benchmark.name, benchmark.licence) == ("klein", "Kleine Formen", "CC0")
    assert benchmark.created_by is not None
    assert list(Query.objects.values_list("key", "text")) == [
        ("c0", "eine Katze"),
        ("c1", "ein Hund"),
    ]
    assert made["created"] is True
    assert not stored.exists()
    found.refresh_from_db()
    assert not found.captions
    assert lead.get(page)["Location"] == "/benchmarks/klein/"
    assert lead.post(f"{page}accept/", {"plan": plan["plan"]}).status_code == 409


@pytest.mark.parametrize(("last", "is_open"), [("c1,ein Hund,v1\n", False), ("c0,x,v1\n", True)])
def test_the_column_fields_are_unfolded_if_there_are_errors(
    lead: Client, last: str, is_open: bool
) -> None:
    """If there are no errors, the fields are folded below the plan, and a text refers to them."""
    table = f"caption_id,caption,video_id\nc0,eine Katze,v0\n{last}"
    lead.post("/imports/new/", {"name": "Formen", "key": "formen", "captions": upload(table)})
    finished("plan_import")
    page = f"/imports/{BenchmarkImport.objects.get().pk}/"
    shown = " ".join(lead.get(page).content.decode().split())
    assert "Numbers after the import" in shown
    assert ('<details class="fold" open>' in shown) is is_open
    assert ("To use other columns, open “How the files are read” below." in shown) is not is_open
    assert ("or select other columns below." in shown) is is_open


def test_a_misspelt_column_of_ids_is_refused_and_selected(lead: Client) -> None:
    table = "captionid,caption,video_id\nq1,a man,v1\nq2,a dog,v1\n"
    lead.post("/imports/new/", {"name": "Typo", "key": "typo", "captions": upload(table)})
    assert (finished("plan_import").result or {})["refused"] == 1
    page = f"/imports/{BenchmarkImport.objects.get().pk}/"
    selected = '<option value="captionid" selected>captionid</option>'
    assert lead.get(page).content.decode().count(selected) == 1

    lead.post(page, {"caption_id": "", "caption": "caption", "video_id": "video_id"})
    assert (finished("plan_import").result or {})["refused"] == 0
    shown = lead.get(page).content.decode()
    assert (shown.count(selected), shown.count("v1#1")) == (0, 1)


def test_files_that_fit_two_formats_are_a_question_on_the_plan(lead: Client) -> None:
    table = "caption_id,caption,video_id\nc0,eine Katze,v0\n"
    other = replace(BENCHMARKS.find("table"), name="other", title="Other table")
    with BENCHMARKS.including(other):
        lead.post("/imports/new/", {"name": "Formen", "key": "formen", "captions": upload(table)})
        plan = finished("plan_import").result or {}
        found = BenchmarkImport.objects.get()
        shown = lead.get(f"/imports/{found.pk}/").content.decode()
        lead.post(f"/imports/{found.pk}/", {"format": "other"})
        again = finished("plan_import").result or {}
    assert (plan["question"], plan["queries"]) == (["table", "other"], 0)
    assert [problem["reason"] for problem in plan["problems"]] == [
        "this fits several formats: Table, Other table; choose the format (table, other)"
    ]
    assert "The files fit several formats. Choose one of them below." in " ".join(shown.split())
    assert shown.count('type="radio" name="format"') == 2
    assert ("question" in again, again["queries"], again["refused"]) == (False, 1, 0)
    found.refresh_from_db()
    assert found.format == "other"


def test_the_page_offers_a_video_for_each_clip(lead: Client) -> None:
    table = "video_id,end,start,text\nv0,9,0,mix\nv0,19,9.5,stir\nv1,3,1,cut\n"
    lead.post("/imports/new/", {"name": "Clips", "key": "clips", "captions": upload(table)})
    assert (finished("plan_import").result or {})["question"] == ["table", "clips"]
    page = f"/imports/{BenchmarkImport.objects.get().pk}/"
    lead.post(page, {"format": "table"})
    assert (finished("plan_import").result or {})["videos"] == 2
    option = '<option value="video_id+start+end">video_id + start + end</option>'
    assert lead.get(page).content.decode().count(option) == 2  # for captions and for videos

    lead.post(page, {"caption_id": "", "caption": "text", "video_id": "video_id+start+end"})

    plan = finished("plan_import").result or {}
    assert (plan["videos"], plan["refused"]) == (3, 0)
    assert [row["video_ids"] for row in plan["first_rows"]] == [
        ["v0_0_9"], ["v0_9.5_19"], ["v1_1_3"],
    ]  # fmt: skip
    assert option.replace('end">', 'end" selected>') in lead.get(page).content.decode()


def test_a_benchmark_is_imported_over_the_api(db: None) -> None:
    client = client_for(Role.LEAD)
    files = {"captions": upload(MSVD, "msvd.json"), "companion": upload("v1\nv0\n", "test.txt")}
    answer = client.post(f"{API}imports/", {"key": "MSVD", **files})
    assert answer.status_code == 202
    pk = finished("plan_import").result["import"]  # type: ignore[index]
    plan = client.get(f"{API}imports/{pk}/").json()["plan"]
    assert plan["files"] == [
        {"file": "msvd.json", "format": "MSVD captions"},
        {"file": "test.txt", "format": "list of videos"},
    ]
    assert [row["caption_id"] for row in plan["first_rows"]] == ["v1#0", "v0#0", "v0#1"]
    assert client.post(f"{API}imports/{pk}/accept/", {"plan": "x"}).status_code == 412
    accepted = client.post(f"{API}imports/{pk}/accept/", {"plan": plan["plan"]})
    assert accepted.status_code == 202
    assert finished("import_benchmark").result == {
        "benchmark": "MSVD",
        "queries": 3,
        "videos": 2,
        "original_positives": 3,
        "created": True,
        "changed": False,
        "without_media": 2,
        "notes": [],
    }
    again = client.post(f"{API}imports/", {"key": "MSVD", "captions": upload(MSVD)})
    assert again.status_code == 409


def test_the_captions_of_a_benchmark_are_updated_on_its_page(lead: Client, tmp_path: Path) -> None:
    make_benchmark(tmp_path)
    content = write_captions(tmp_path, [*caption_rows(3, 4), ("c3", "new", "v3")]).read_text()
    lead.post("/benchmarks/tiny/captions/update/", {"captions": upload(content)})
    plan = finished("plan_import").result
    assert plan is not None
    assert plan["new"] == {"captions": 1, "videos": 0, "original_positives": 1}
    shown = " ".join(lead.get(f"/imports/{plan['import']}/").content.decode().split())
    assert "Nothing has been changed yet." in shown
    # A caption changes before the import runs, so the accepted plan no longer fits the benchmark.
    lead.post(f"/imports/{plan['import']}/accept/", {"plan": plan["plan"]})
    Query.objects.filter(key="c0").update(text="changed")
    before = row_counts()
    job = finished("import_benchmark")
    assert (job.state, job.error) == (
        "failed",
        "The files or the benchmark have changed since the plan was made. Make a new plan.",
    )
    assert row_counts() == before


@pytest.mark.parametrize(
    ("key", "captions", "error"),
    [
        ("tiny", TABLE, "A benchmark already has this key."),
        ("a b", TABLE, "Use only letters, digits, dots, hyphens and underscores"),
        ("new", "\x89PNG\r\n\x1a\n" + "x" * 40, "A text file such as CSV or JSON is expected."),
        ("new", "", "The submitted file is empty."),
    ],
)
def test_a_wrong_form_stores_nothing(
    lead: Client, tmp_path: Path, key: str, captions: str, error: str
) -> None:
    make_benchmark(tmp_path)
    before, files = row_counts(), uploads()
    content = captions.encode("latin-1")
    form = {"name": "N", "key": key, "captions": SimpleUploadedFile("c.csv", content)}
    answer = lead.post("/imports/new/", form)
    assert answer.status_code == 422
    assert error in answer.content.decode()
    assert (row_counts(), uploads()) == (before, files)


def test_a_lead_of_one_benchmark_imports_no_other(client: Client) -> None:
    client.force_login(make_member("lena", Role.LEAD, of="mine"))
    form = {"name": "N", "key": "other", "captions": upload(TABLE)}
    answer = client.post("/imports/new/", form)
    assert "Only leads and admins may import a benchmark." in answer.content.decode()
    assert not BenchmarkImport.objects.exists()
    client.post("/imports/new/", {**form, "key": "mine", "captions": upload(TABLE)})
    found = BenchmarkImport.objects.get()
    assert client.get(f"/imports/{found.pk}/").status_code == 200
    found.benchmark_key = "other"
    found.save()
    assert client.get(f"/imports/{found.pk}/").status_code == 404


def test_an_import_that_starts_again_after_it_is_stored_changes_nothing(lead: Client) -> None:
    form = {"name": "N", "key": "new", "captions": upload(TABLE.replace(",de,", ",caption,"))}
    lead.post("/imports/new/", form)
    plan = finished("plan_import").result
    assert plan is not None
    lead.post(f"/imports/{plan['import']}/accept/", {"plan": plan["plan"]})
    first = finished("import_benchmark")
    before = row_counts()
    Job.objects.filter(pk=first.pk).update(state="queued")
    assert finished("import_benchmark").result == {**(first.result or {}), "notes": []}
    assert row_counts() == before


def test_files_of_an_import_stay_until_it_is_too_old(lead: Client) -> None:
    lead.post("/imports/new/", {"name": "N", "key": "new", "captions": upload(TABLE)})
    found = BenchmarkImport.objects.get()
    path = Path(found.captions.path)
    assert found.captions.name in {file.name for file in named_files(run_query)}
    run_housekeeping(by=OPERATOR)
    assert path.exists()
    found.created_at = timezone.now() - timedelta(days=8)
    found.save()
    figures: list[Any] = run_housekeeping(by=OPERATOR)
    assert [row["removed"] for row in figures if row["step"] == "imports"] == [1]


def test_a_table_without_names_is_mapped_on_the_page_once(lead: Client) -> None:
    """The columns are saved with the benchmark, so an update needs no mapping again."""
    table = "x 1;v0;eine Katze\nx 2;v1;ein Hund\n"
    lead.post("/imports/new/", {"name": "Formen", "key": "formen", "captions": upload(table)})
    assert (finished("plan_import").result or {})["refused"] == 1
    page = f"/imports/{BenchmarkImport.objects.get().pk}/"
    lead.post(page, {"first_line": "rows", "caption": "", "video_id": ""})
    assert (finished("plan_import").result or {})["problems"][0]["reason"] == (
        "the table has no header, so choose its columns by their numbers, 1 to 3: caption=NUMBER "
        "and video_id=NUMBER"
    )
    lead.post(page, {"first_line": "rows", "caption_id": "", "caption": "3", "video_id": "2"})
    plan = finished("plan_import").result or {}
    assert (plan["refused"], [row["caption"] for row in plan["first_rows"]]) == (
        0, ["eine Katze", "ein Hund"],
    )  # fmt: skip
    lead.post(f"{page}accept/", {"plan": plan["plan"]})
    finished("import_benchmark")
    assert Benchmark.objects.get().reading == {
        "format": "rows",
        "columns": {"caption_id": "", "caption": "3", "video_id": "2"},
    }
    again = upload(table.replace("Hund", "Fuchs"))
    lead.post("/benchmarks/formen/captions/update/", {"captions": again})
    plan = finished("plan_import").result or {}
    assert plan["problems"] == []
    assert (plan["refused"], [row["after"] for row in plan["changes"]]) == (0, ["ein Fuchs"])


def test_three_files_of_beir_are_imported_in_any_order(lead: Client) -> None:
    qrels = "query-id\tcorpus-id\tscore\nq1\tv1\t1\n"
    lead.post(
        "/imports/new/",
        {
            "name": "BEIR",
            "key": "beir",
            "captions": upload('{"_id": "v0", "title": ""}\n{"_id": "v1", "title": ""}\n'),
            "companion": upload(qrels),
            "second_companion": upload('{"_id": "q1", "text": "a cat"}\n'),
        },
    )
    plan = finished("plan_import").result or {}
    assert (plan["queries"], plan["videos"], plan["refused"]) == (1, 2, 0)
