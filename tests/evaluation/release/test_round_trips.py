"""Labels that are exported and imported again, and labels that were judged elsewhere."""

from __future__ import annotations

import datetime
import gzip
import json
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import Campaign, Judgment
from annotation.services import import_judgments, plan_judgments
from evaluation.models import LabelSet
from evaluation.release.exports import open_export
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from tests.factories import add_judgments, make_benchmark, make_user, row_counts

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]

ROWS = [
    ("c0", "v0", "a", 1),
    ("c0", "v1", "a", 1),
    ("c0", "v1", "b", 0),
    ("c1", "v2", "a", 0),
    ("c1", "v2", "b", 1),
    ("c1", "v2", "c", 1),
]


def publish(benchmark: Benchmark) -> LabelSet:
    return publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)


@pytest.mark.parametrize("format", ["judgments", "fire"])
def test_exported_labels_are_imported_with_the_same_hash(tmp_path: Path, format: str) -> None:
    benchmark = make_benchmark(tmp_path, captions=2, videos=3)
    add_judgments(tmp_path, benchmark, ROWS)
    first = publish(benchmark)
    path = tmp_path / "export.gz"
    path.write_bytes(gzip.compress(b"".join(open_export(first, format))))
    copy = make_benchmark(tmp_path, captions=2, videos=3, key="copy")
    import_judgments(benchmark=copy, by=OPERATOR, path=path)
    again = publish(copy)
    assert (again.sha256, again.n_judgments) == (first.sha256, 6)


FIRE: dict[str, Any] = {
    "license": "CC BY-NC 4.0",
    "annotations": [
        {
            "query": "caption 0",
            "video_id": "v1",
            "annotator_ids": [7, 9],
            "annotator_labels": ["relevant", "relevant"],
            "label": "relevant",
            "dataset": "MSVD",
        },
        {
            "query": "caption 1",
            "video_id": "v0",
            "annotator_ids": [7, 7],
            "annotator_labels": ["irrelevant", "relevant"],
            "label": "relevant",
            "dataset": "MSVD",
        },
    ],
    "disagreements": [],
    "licence": "CC0",
    "datasets": ["MSVD"],
}


def write(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "labels.txt"
    path.write_text(content, encoding="utf-8")
    return path


def test_both_licences_of_a_fire_file_are_kept(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    done = import_judgments(
        benchmark=benchmark,
        by=OPERATOR,
        path=write(tmp_path, json.dumps(FIRE, indent=1)),
        source="folder/fire.json",
        licence=" MIT, in the repository ",
    )
    assert Campaign.objects.get().source == {
        "format": "fire",
        "name": "fire.json",
        "data_set": "",
        "licences_in_file": ["CC BY-NC 4.0", "CC0"],
        "licence_stated_elsewhere": "MIT, in the repository",
        "has_annotators": True,
        "has_times": False,
    }
    # The second answer of the same annotator to a pair does not count.
    rows = Judgment.objects.order_by("pk").values_list("annotator__key", "label", "state")
    assert list(rows) == [
        ("7", 1, "live"),
        ("9", 1, "live"),
        ("7", 0, "live"),
        ("7", 1, "surplus"),
    ]
    assert done.campaign.tasks.filter(unit__isnull=False).count() == 2


def test_times_are_stored_with_the_judgments(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    text = (
        "judged_at,caption_id,video_id,annotator,label\n"
        "2024-05-31T12:00:00+02:00,c0,v0,a,1\n2024-05-31 12:00,c0,v1,a,0\n,c0,v2,a,1\n"
    )
    done = import_judgments(benchmark=benchmark, by=OPERATOR, path=write(tmp_path, text))
    times = list(Judgment.objects.order_by("pk").values_list("created_at", flat=True))
    at = datetime.datetime(2024, 5, 31, 10, tzinfo=datetime.UTC)
    assert times[:2] == [at, at + datetime.timedelta(hours=2)]
    assert times[2] >= done.campaign.created_at - datetime.timedelta(minutes=1)
    assert done.campaign.source["has_times"] is True


def test_qrels_have_one_unnamed_annotator(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    path = write(tmp_path, "c0 0 v0 1\nc0\t0\tv1\t0\n\nc2 Q0 v3 1\n")
    call_command("import_judgments", "tiny", str(path), stdout=StringIO())
    assert list(Judgment.objects.values_list("annotator__key", "label").order_by("pk")) == [
        ("unnamed", 1),
        ("unnamed", 0),
        ("unnamed", 1),
    ]
    lines = b"".join(open_export(publish(benchmark), "csv")).decode().splitlines()
    assert lines[1:] == [
        "c0,v0,1,majority,1,1",
        "c0,v1,0,majority,1,0",
        "c2,v3,1,majority,1,1",
    ]


def changed(entry: int, **values: Any) -> str:
    entries = [dict(row) for row in FIRE["annotations"]]
    entries[entry] |= values
    return json.dumps(FIRE | {"annotations": entries}, indent=1)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("c0 0 v0 1\nc0 0 v9 1\n", "line 2: unknown video 'v9'"),
        ("c0 0 v0 1\nc0 0 v1\n", "line 2: the line has 3 columns, but qrels have 4"),
        ("c0 0 v0 -1\n", "line 1: the file has no judgments"),
        ("c0 0 v0 1\nc0 0 v0 1\n", "line 2: annotator 'unnamed' already judged this pair in line"),
        (changed(1, query="caption"), "line 18: unknown caption text 'caption'"),
        (changed(1, annotator_ids=[7]), "the entry has 1 `annotator_ids`, but 2"),
        (changed(1, video_id=None), "line 18: the entry needs the texts `query` and `video_id`"),
        (
            changed(1, dataset="X"),
            "the file has several data sets: 'MSVD', 'X'; select one of them",
        ),
        (json.dumps(FIRE) + "x", "line 1: the file is not JSON: there is text after its end"),
        (json.dumps(FIRE)[:-1], "line 2: the file is not JSON: '}' is expected"),
        ('{"annotations": [{]}', "line 1: the file is not JSON: "),
        ('{"annotations": []}', "line 1: the file has no judgments"),
        (
            "caption_id,video_id,annotator,label,judged_at\nc0,v0,a,1,yesterday\n",
            "line 2: the time must be like 2026-01-31T12:00:00+00:00, from 1990 on",
        ),
    ],
)
def test_a_bad_file_changes_nothing(tmp_path: Path, content: str, reason: str) -> None:
    benchmark = make_benchmark(tmp_path)
    path, before = write(tmp_path, content), row_counts()
    with pytest.raises(InvalidInput) as refused:
        import_judgments(benchmark=benchmark, by=OPERATOR, path=path, source="f")
    assert reason in str(refused.value)
    assert row_counts() == before


def test_one_of_several_data_sets_is_imported(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    path = write(tmp_path, changed(1, dataset="X", query="a text of another benchmark"))
    done = import_judgments(benchmark=benchmark, by=OPERATOR, path=path, data_set="MSVD")
    assert done.judgments == 2


def test_a_plan_stores_nothing(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    path, before = write(tmp_path, json.dumps(FIRE)), row_counts()
    plan = asdict(plan_judgments(benchmark=benchmark, by=OPERATOR, path=path))
    assert len(plan.pop("sha256")) == 64
    assert row_counts() == before
    assert plan == {
        "format": "fire",
        "judgments": 4,
        "pairs": 2,
        "new_pairs": 2,
        "annotators": 2,
        "has_annotators": True,
        "has_times": False,
        "pool_equal": True,
        "repeated": 1,
        "labels": {"not relevant": 1, "relevant": 3},
        "licences": ("CC BY-NC 4.0", "CC0"),
        "notes": (
            "labels that differ from the majority of their responses: 1; only the responses are "
            "imported",
        ),
        "first_rows": (
            ("c0", "v1", "annotator 1", "1"),
            ("c0", "v1", "annotator 2", "1"),
            ("c1", "v0", "annotator 1", "0"),
            ("c1", "v0", "annotator 1", "1"),
        ),
        "campaign": None,
    }


def test_the_page_shows_the_plan_and_then_imports(tmp_path: Path, client: Client) -> None:
    make_benchmark(tmp_path)
    client.force_login(make_user("lena", Role.LEAD))
    file = SimpleUploadedFile("fire.json", json.dumps(FIRE).encode())
    fields = {"file": file, "licence": "MIT, in the repository"}
    client.post("/benchmarks/tiny/judgments/new/", fields)
    planned = Job.objects.get()
    address = f"/benchmarks/tiny/judgments/plan/{planned.pk}/"
    assert client.get(address)["Location"] == f"/jobs/{planned.pk}/"
    run_job(planned.pk)
    assert not Judgment.objects.exists()
    text = " ".join(client.get(address).content.decode().split())
    for part in ("fire.json", "CC BY-NC 4.0", "CC0", "MIT, in the repository", "annotator 2"):
        assert part in text
    client.post(address)
    run_job(Job.objects.get(kind="import_judgments").pk)
    campaign = Campaign.objects.get()
    assert campaign.source["licence_stated_elsewhere"] == "MIT, in the repository"
    assert "was imported before" in client.get(address).content.decode()
    page = client.get(f"/campaigns/{campaign.pk}/").content.decode()
    assert "CC BY-NC 4.0 · CC0" in page

    label_set = publish(Benchmark.objects.get())
    page = client.get(f"/benchmarks/tiny/labels/{label_set.version}/").content.decode()
    assert "0 made here, 3 imported" in " ".join(page.split())


def test_judgments_are_planned_and_imported_over_the_api(tmp_path: Path) -> None:
    make_benchmark(tmp_path)
    api = APIClient()
    api.force_authenticate(make_user("lena", Role.LEAD))
    results = []
    for plan_only in (True, False):
        file = SimpleUploadedFile("a.qrels", b"c0 0 v0 1\n")
        answer = api.post(
            "/api/v1/benchmarks/tiny/judgment-imports/", {"file": file, "plan_only": plan_only}
        )
        assert answer.status_code == 202
        run_job(answer.json()["id"])
        results.append(api.get(f"/api/v1/jobs/{answer.json()['id']}/").json()["result"])
    assert (results[0]["format"], results[0]["has_annotators"]) == ("qrels", False)
    assert (results[1]["judgments"], Judgment.objects.count()) == (1, 1)
