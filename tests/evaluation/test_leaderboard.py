"""From an uploaded run to its scores and its place, without a second button."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from config.accounts.roles import Role
from config.jobs.models import Job
from config.jobs.services import run_job
from evaluation.models import Evaluation
from evaluation.services import evaluate_runs
from pooling.models import Benchmark
from tests.evaluation.worked import make_worked_benchmark
from tests.factories import make_user, write_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def test_an_uploaded_run_is_scored_and_ranked(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    evaluate_runs(benchmark=benchmark)
    rita = make_user("rita", Role.RESEARCHER)
    client.force_login(rita)
    # Two of three originals in its top ten; two more positives by the labels, and one wrong.
    lists = {"c0": ["v0"], "c1": ["v3", "v1"], "c2": ["v2"]}
    run = SimpleUploadedFile("c.run", write_run(tmp_path / "c.run", lists).read_bytes())
    client.post("/benchmarks/tiny/runs/new/", {"file": run, "system": "C", "format": "auto"})
    upload = Job.objects.get()
    run_job(upload.pk)
    scoring = Job.objects.get(kind="evaluate")
    assert (scoring.created_by, scoring.params["runs"]) == (rita, ["C"])
    run_job(scoring.pk)
    assert Evaluation.objects.filter(run__name="C").count() == 2

    context = client.get("/benchmarks/tiny/results/", {"sort": "-C@1"}).context
    # By the original positives C is first with two of three right; by the labels A and B have all.
    assert {row.run.name: (row.rank_before, row.rank) for row in context["rows"]} == {
        "A": (2, 1),
        "B": (2, 1),
        "C": (1, 3),
    }
    page = client.get("/benchmarks/tiny/results/").content.decode()
    assert "1 → <strong>3</strong>" in " ".join(page.split())
    assert "is being scored" in client.get(f"/jobs/{upload.pk}/").content.decode()


def test_the_same_file_again_is_not_scored_again(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    content = write_run(tmp_path / "c.run", {"c0": ["v0"]}).read_bytes()
    for _ in range(2):
        run = SimpleUploadedFile("c.run", content)
        client.post("/benchmarks/tiny/runs/new/", {"file": run, "system": "C", "format": "auto"})
        run_job(Job.objects.filter(kind="import_run").latest("created_at").pk)
    assert Job.objects.filter(kind="evaluate").count() == 1
