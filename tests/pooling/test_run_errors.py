"""The errors of an uploaded run, on pages, in the API and on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from hearth.accounts.roles import Role
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from pooling.models import Run
from tests import factories

CONTENT = b"c0 Q0 v0 1 1 x\nc0 Q0 v0 2 1 x\nc9 Q0 v0 2 1 x\n"
PROBLEMS = [
    {"file": "", "reason": "the same caption and video as in line 1", "line": 2},
    {"file": "", "reason": "unknown caption 'c9'", "line": 3},
]


@pytest.fixture
def client_of_rosa(tmp_path: Path, client: Client) -> Client:
    factories.make_benchmark(tmp_path)
    client.force_login(factories.make_user("rosa", Role.RESEARCHER))
    return client


def failed_job(client: Any, address: str) -> Job:
    file = SimpleUploadedFile("clip.run", CONTENT)
    client.post(address, {"file": file, "system": "CLIP", "format": "auto"})
    job = Job.objects.get()
    run_job(job.pk)
    job.refresh_from_db()
    return job


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_pages_show_all_errors_by_line(client_of_rosa: Client) -> None:
    job = failed_job(client_of_rosa, "/benchmarks/tiny/runs/new/")
    assert (job.state, job.problems) == (JobState.FAILED, PROBLEMS)
    for address in (f"/jobs/{job.pk}/", f"/jobs/{job.pk}/line/"):
        page = client_of_rosa.get(address).content.decode()
        assert "clip.run, line 2: the same caption and video as in line 1" in page
        assert "<summary>2 errors</summary>" in page
        assert "unknown caption &#x27;c9&#x27;" in page
    assert Run.objects.count() == 0


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_the_line_of_a_job_shows_its_result(client_of_rosa: Client) -> None:
    file = SimpleUploadedFile("clip.run", b"c0 Q0 v0 1 1 x\n")
    form = {"file": file, "system": "CLIP", "format": "auto"}
    client_of_rosa.post("/benchmarks/tiny/runs/new/", form)
    job = Job.objects.get()
    waiting = client_of_rosa.get(f"/jobs/{job.pk}/line/").content.decode()
    assert f'hx-get="/jobs/{job.pk}/line/"' in waiting
    run_job(job.pk)
    done = client_of_rosa.get(f"/jobs/{job.pk}/line/").content.decode()
    assert "hx-get" not in done
    run = Run.objects.get()
    assert f'<a href="/benchmarks/tiny/runs/{run.pk}/">To the scores of the run</a>' in done


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_the_api_returns_all_errors(client_of_rosa: Client) -> None:
    api = APIClient()
    api.force_login(factories.User.objects.get(username="rosa"))
    job = failed_job(api, "/api/v1/benchmarks/tiny/runs/")
    assert api.get(f"/api/v1/jobs/{job.pk}/").json()["problems"] == PROBLEMS


def test_the_command_prints_all_errors(tmp_path: Path, db: None) -> None:
    factories.make_benchmark(tmp_path)
    path = tmp_path / "clip.run"
    path.write_bytes(CONTENT)
    with pytest.raises(CommandError) as refused:
        call_command("import_run", "tiny", str(path), "--system", "CLIP")
    assert refused.value.returncode == 2
    assert str(refused.value).splitlines() == [
        f"{path}, line 2: the same caption and video as in line 1",
        f"{path}, line 3: unknown caption 'c9'",
    ]
