"""The page of a label set, and the differences between two label sets."""

from __future__ import annotations

import datetime
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from annotation.models import Judgment
from evaluation.models import Draft, LabelSetBasis
from evaluation.release.services import make_draft, publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from pooling.models import Benchmark
from tests.factories import add_judgments, make_benchmark, make_user

pytestmark = pytest.mark.django_db

# The file with the differences between the two label sets, with one row of each kind of change.
DIFF = """caption_id,video_id,change,label_before,label_after,source_before,source_after,\
judgments_before,judgments_after
c0,v0,support,1,1,majority,majority,1,2
c0,v1,lost,1,,majority,conflict,1,2
c0,v2,gained,,0,conflict,majority,2,3
c0,v3,new,,1,,majority,,1
c1,v0,removed,1,,majority,,1,
c1,v1,changed,1,0,majority,majority,1,3
"""
COUNTS = {
    "new": 1,
    "removed": 1,
    "changed": 1,
    "gained": 1,
    "lost": 1,
    "support": 1,
    "same": 1,
}


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    found = make_benchmark(tmp_path, captions=2, videos=4)

    def add_rows(*rows: tuple[str, str, str, int]) -> None:
        add_judgments(tmp_path, found, rows)

    add_rows(
        *(("c0", f"v{video}", "a", 1) for video in range(3)),
        ("c0", "v2", "b", 0),
        *(("c1", f"v{video}", "a", 1) for video in range(3)),
    )
    publish(found, notes="First round.\n\nBy <b>two</b>.")
    Judgment.objects.filter(task__pair__query__key="c1", task__pair__video__key="v0").update(
        state="withdrawn", slot=None
    )
    add_rows(
        ("c0", "v0", "b", 1),
        ("c0", "v1", "b", 0),
        ("c0", "v2", "c", 0),
        ("c0", "v3", "c", 1),
        ("c1", "v1", "b", 0),
        ("c1", "v1", "c", 0),
    )
    publish(found)
    return found


def publish(benchmark: Benchmark, **options: Any) -> None:
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR, **options)


@pytest.fixture
def rita(client: Client) -> Client:
    client.force_login(make_user("rita", Role.RESEARCHER))
    return client


def text_of(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_the_differences_by_command_and_api(benchmark: Benchmark, tmp_path: Path) -> None:
    out, file = StringIO(), tmp_path / "diff.csv"
    options = {"output": file, "json": True, "stdout": out}
    # A pair is missing from the second label set, so this label set has a new major version.
    call_command("diff_labels", "tiny", "1", "2", **options)
    result = json.loads(out.getvalue())
    assert (result["old"], result["new"], result["counts"]) == ("1.0.0", "2.0.0", COUNTS)
    assert file.read_text() == DIFF

    api = APIClient()
    api.force_authenticate(make_user("rob", Role.RESEARCHER))
    address = "/api/v1/benchmarks/tiny/label-sets/2/since/1/"
    assert api.get(address).json() == {"old": "1.0.0", "new": "2.0.0", "counts": COUNTS}
    assert b"".join(api.get(f"{address}csv/").streaming_content).decode() == DIFF
    assert api.get("/api/v1/benchmarks/tiny/label-sets/2/since/7/").status_code == 404


def test_the_page_filters_the_differences(benchmark: Benchmark, rita: Client) -> None:
    address = "/benchmarks/tiny/labels/2/since/1/"
    page = rita.get(address)
    assert [filter.count for filter in page.context["filters"]] == [6, 1, 1, 1, 1, 1, 1, 1]
    with CaptureQueriesContext(connection) as queries:
        page = rita.get(f"{address}?change=lost")
    assert len(queries) == 10
    (row,) = page.context["rows"]
    assert (row.query.key, row.video.key, row.before, row.after) == (
        "c0",
        "v1",
        ("1", "majority", "1"),
        ("", "conflict", "2"),
    )
    text = text_of(page)
    assert '<strong>relevant</strong> <small class="muted">(majority)</small>' in text
    assert '<strong>no label</strong> <small class="muted">(conflict)</small>' in text
    assert 'href="/benchmarks/tiny/caption/?id=c0"' in text
    assert 'href="/benchmarks/tiny/video/?id=v1"' in text
    assert '<label for="id_from">From</label>' in text
    assert '<label for="id_to">To</label>' in text
    link = "/benchmarks/tiny/labels/2.0.0/since/1.0.0/csv/?change=lost"
    assert link in text
    lines = b"".join(rita.get(link).streaming_content).decode().splitlines()
    assert lines == [DIFF.splitlines()[0], DIFF.splitlines()[2]]
    assert rita.get(f"{address}?change=other").status_code == 400
    compare = "/benchmarks/tiny/labels/compare/"
    form = rita.get(f"{compare}?from=2&to=1")
    assert form["Location"] == "/benchmarks/tiny/labels/1.0.0/since/2.0.0/"
    for query in ("", "?from=2", "?to=1"):
        assert rita.get(compare + query)["Location"] == "/benchmarks/tiny/labels/"
    assert rita.get(f"{compare}?from=2&to=9").status_code == 404


def test_a_label_set_is_compared_with_the_draft(
    benchmark: Benchmark, rita: Client, tmp_path: Path
) -> None:
    assert rita.get("/benchmarks/tiny/labels/draft/since/2/").status_code == 404
    add_judgments(tmp_path, benchmark, [("c1", "v3", "d", 0)])
    make_draft(benchmark=benchmark, by=OPERATOR)
    page = rita.get("/benchmarks/tiny/labels/draft/since/2/")
    assert [row.kind for row in page.context["rows"]] == ["New pair"]
    at = Draft.objects.get().created_at.astimezone(datetime.UTC)
    heading = f"<h1>Changes from label set 2.0.0 to draft of {at:%d %b %Y, %H:%M} UTC</h1>"
    assert heading in text_of(page)


def test_the_page_of_a_label_set(benchmark: Benchmark, rita: Client) -> None:
    with CaptureQueriesContext(connection) as queries:
        first = rita.get("/benchmarks/tiny/labels/1/")
    assert len(queries) == 19
    text = text_of(first)
    assert "<h1>Label set 1.0.0</h1>" in text
    assert "<p>First round.</p> <p>By &lt;b&gt;two&lt;/b&gt;.</p>" in text
    assert 'Newer: <a href="/benchmarks/tiny/labels/2.0.0/">' in text
    assert "0 made here, 7 imported" in text
    assert first.context["label_set"].sha256 in text
    assert "Krippendorff" in text
    second = text_of(rita.get("/benchmarks/tiny/labels/2.0.0/"))
    assert 'href="/benchmarks/tiny/labels/2.0.0/since/1.0.0/"' in second
    assert rita.get("/benchmarks/tiny/labels/1.1/").status_code == 404
    assert rita.get("/benchmarks/tiny/labels/first/").status_code == 404
    LabelSetBasis.objects.all().delete()
    assert "did not store its rules" in text_of(rita.get("/benchmarks/tiny/labels/1/"))


def test_a_label_set_is_verified_by_page_and_api(benchmark: Benchmark, rita: Client) -> None:
    rita.post("/benchmarks/tiny/labels/1/verify/")
    job = Job.objects.get()
    run_job(job.pk)
    job.refresh_from_db()
    assert job.result is not None
    assert (job.kind, job.result["same"], job.result["rebuilt"]) == ("verify_labels", True, True)
    api = APIClient()
    api.force_authenticate(make_user("rob", Role.RESEARCHER))
    Judgment.objects.filter(annotator__key="c").update(label=1)
    answer = api.post("/api/v1/benchmarks/tiny/label-sets/2/verify/")
    assert answer.status_code == 202
    run_job(answer.json()["id"])
    done = api.get(f"/api/v1/jobs/{answer.json()['id']}/").json()["result"]
    assert (done["same"], len(done["problems"])) == (False, 3)
