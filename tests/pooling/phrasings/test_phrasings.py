"""Phrasings of captions: their files, pages, API and deletion."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.audit.models import AuditEntry
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from pooling.models import Benchmark
from pooling.phrasings.models import Phrasing, PhrasingSet
from pooling.phrasings.services import NewPhrasing, import_phrasings, store_phrasings
from pooling.signals import captions_changing
from tests.factories import make_benchmark, make_user, row_counts

pytestmark = pytest.mark.django_db

TABLE = """caption_id,phrasing,text,origin,model
c0,0,text 0,,
c0,2,"a boy, plugging in",person,
c1,1,a kid,model,gpt-4
"""


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    found = make_benchmark(tmp_path, captions=3, videos=3)
    for number, query in enumerate(found.queries.order_by("number")):
        query.text = f"text {number}"
        query.save()
    return found


def write(folder: Path, text: str, name: str = "p.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return path


def stored() -> list[tuple[str, int, str, str, str]]:
    rows = Phrasing.objects.order_by("query", "number")
    return list(rows.values_list("query__key", "number", "text", "origin", "model"))


def test_a_table_is_stored_once(benchmark: Benchmark, tmp_path: Path) -> None:
    done = import_phrasings(benchmark=benchmark, path=write(tmp_path, TABLE), by=OPERATOR)
    assert stored() == [
        ("c0", 2, "a boy, plugging in", "person", ""),
        ("c1", 1, "a kid", "model", "gpt-4"),
    ]
    report = done.report()
    assert (report["phrasings"], report["captions"], report["created"]) == (2, 2, True)
    assert report["notes"] == ["captions (phrasing 0) not stored again: 1"]
    again = import_phrasings(
        benchmark=benchmark, path=write(tmp_path, TABLE, "q.csv.gz"), by=OPERATOR
    )
    assert (again.set, again.created, PhrasingSet.objects.count()) == (done.set, False, 1)


def test_phrasings_without_numbers_get_the_next_free_ones(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    import_phrasings(benchmark=benchmark, path=write(tmp_path, TABLE), by=OPERATOR)
    lines = '{"caption_id": "c0", "text": ["x", "y"]}\n{"caption_id": "c2", "text": "z"}\n'
    path = write(tmp_path, lines, "p.jsonl")
    import_phrasings(benchmark=benchmark, path=path, by=OPERATOR, origin="lexicon")
    assert [row[:4] for row in stored() if row[3] == "lexicon"] == [
        ("c0", 3, "x", "lexicon"),
        ("c0", 4, "y", "lexicon"),
        ("c2", 1, "z", "lexicon"),
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("c9,1,x,person,", "unknown caption 'c9'"),
        ("c0,-1,x,person,", "'-1' is not the number of a phrasing (0 to 9,999)"),
        ("c0,1, ,person,", "the phrasing is empty"),
        ("c0,0,other,person,", "phrasing 0 is not the text of the caption 'c0'"),
        ("c0,2,x,person,", "the caption already has a phrasing 2, which is in line 3"),
        ("c2,7,x,person,", "the caption already has a phrasing 7, which is stored"),
        ("c0,1,x,robot,", "'robot' is not an origin; use person, caption, lexicon, model"),
        ("c0,1,x,person,gpt", "only phrasings with the origin model have a model or a prompt"),
        ("c0,1,x", "the row has 3 columns, but the header has 5"),
    ],
)
def test_a_bad_row_stores_nothing(
    benchmark: Benchmark, tmp_path: Path, row: str, reason: str
) -> None:
    first = NewPhrasing(query=2, number=7, text="seven", origin="person")
    store_phrasings(benchmark=benchmark, name="first", rows=[first], by=OPERATOR)
    before = row_counts()
    with pytest.raises(InvalidInput) as refused:
        import_phrasings(
            benchmark=benchmark,
            path=write(tmp_path, f"{TABLE}{row}\n"),
            source="p.csv",
            by=OPERATOR,
        )
    assert str(refused.value) == f"p.csv, line 5: {reason}"
    assert row_counts() == before


def test_only_leads_import_and_captions_with_phrasings_stay(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    path = write(tmp_path, TABLE)
    with pytest.raises(NotPermitted):
        import_phrasings(benchmark=benchmark, path=path, by=make_user("rita", Role.RESEARCHER))
    import_phrasings(benchmark=benchmark, path=path, by=OPERATOR)
    with pytest.raises(Conflict, match="have phrasings"):
        captions_changing.send(sender=Benchmark, benchmark=benchmark)


def test_a_lead_imports_sees_and_deletes_phrasings(benchmark: Benchmark, client: Client) -> None:
    client.force_login(make_user("lena", Role.LEAD))
    file = SimpleUploadedFile("my.csv", TABLE.encode())
    client.post("/benchmarks/tiny/phrasings/new/", {"file": file, "origin": "person"})
    job = Job.objects.latest("created_at")
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.title) == (JobState.DONE, "Import phrasings into tiny")
    page = client.get("/benchmarks/tiny/captions/").content.decode()
    assert "2 further texts of 2 captions." in page
    page = client.get("/benchmarks/tiny/caption/?id=c1").content.decode()
    assert "a kid" in page
    assert "Language model: <bdi>gpt-4</bdi>" in page
    added = PhrasingSet.objects.get()
    (listed,) = client.get("/api/v1/benchmarks/tiny/phrasings/").json()["results"]
    assert (listed["id"], listed["name"], listed["n_phrasings"]) == (added.pk, "my.csv", 2)
    page = client.get(f"/benchmarks/tiny/phrasings/{added.pk}/delete/").content.decode()
    assert ">Phrasings</th>" in page
    assert client.delete(f"/api/v1/benchmarks/tiny/phrasings/{added.pk}/").status_code == 204
    assert not Phrasing.objects.exists()
    assert AuditEntry.objects.get(act="phrasings_deleted").after == {
        "phrasings": 2,
        "set of phrasings": 1,
    }
