"""Jobs name runs by their ids, so that a run can be renamed while its jobs wait."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from evaluation.models import Evaluation
from evaluation.scores.services import begin_scoring
from hearth.accounts.roles import Role
from hearth.jobs.deleting import delete
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from pooling.models import Pool, Run
from pooling.services import change_run
from tests import factories

pytestmark = pytest.mark.django_db


def run_job_of(kind: str) -> Job:
    job = Job.objects.get(kind=kind)
    run_job(job.pk)
    job.refresh_from_db()
    return job


@pytest.fixture
def client(client: Client, tmp_path: Path) -> Client:
    benchmark = factories.make_benchmark(tmp_path, captions=3, videos=4)
    lead = factories.make_user("lea", Role.LEAD)
    for system in ("A", "B"):
        ranked = {f"c{number}": ["v0", f"v{number + 1}"] for number in range(3)}
        ranked["c0"] += ["v2"] if system == "B" else []
        factories.make_run(tmp_path, benchmark, ranked, system=system, by=lead)
    client.force_login(lead)
    return client


def rename() -> Run:
    run = Run.objects.get(name="A")
    user = factories.User.objects.get(username="lea")
    change_run(run=run, changes={"name": "a & b/ü"}, by=user)
    return run


def test_a_renamed_run_is_scored_pooled_and_analysed(client: Client) -> None:
    Job.objects.all().delete()
    begin_scoring(run=Run.objects.get(name="A"), by=factories.User.objects.get(username="lea"))
    pool = {"depth": 2, "runs": ["A"], "seed": 0}
    assert client.post("/benchmarks/tiny/pools/new/", pool).status_code == 302
    overlap = {"runs": ["A", "B"], "labels": "original"}
    address = "/benchmarks/tiny/analyses/overlap/compute/"
    assert client.post(address, overlap).status_code == 302
    run = rename()
    assert run_job_of("evaluate").result["runs"] == ["a & b/ü"]
    assert Evaluation.objects.filter(run=run).exists()
    assert run_job_of("build_pool").state == JobState.DONE
    assert list(Pool.objects.get().runs.all()) == [run]
    job = run_job_of("analyse")
    assert job.state == JobState.DONE
    assert "runs=a+%26+b%2F%C3%BC&amp;runs=B" in client.get(f"/jobs/{job.pk}/").content.decode()
    Run.objects.filter(name="B").delete()
    assert 'runs=a+%26+b%2F%C3%BC"' in client.get(f"/jobs/{job.pk}/").content.decode()


def test_a_job_of_a_deleted_run_states_why_it_fails(client: Client) -> None:
    client.post("/benchmarks/tiny/pools/new/", {"depth": 2, "runs": ["A"], "seed": 0})
    lead = factories.User.objects.get(username="lea")
    delete(Run.objects.get(name="A"), by=lead)
    job = run_job_of("build_pool")
    reason = "A run of this job has been deleted since the request."
    assert (job.state, job.error) == (JobState.FAILED, reason)
