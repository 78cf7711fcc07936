"""Complete jobs and killed workers: a real Celery worker with Redis and with the file system."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from hearth.accounts.actors import OPERATOR
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import enqueue_job, sweep_jobs
from hearth.operations.models import WorkerTime
from hearth.shared.uploads import store_upload
from pooling.models import Benchmark, RankedList, Run
from pooling.selectors.runs import ranked_lists
from tests.conftest import Worker
from tests.factories import make_benchmark, row_counts
from tests.long_run import CAPTIONS, VIDEOS, long_run
from tests.processes import children_of
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]


def import_job(benchmark: Benchmark, content: bytes) -> Job:
    upload = store_upload(SimpleUploadedFile("my.run", content))
    return enqueue_job(
        kind="import_run",
        title="Run my.run",
        params={
            "benchmark": benchmark.key,
            "upload": upload,
            "source": "my.run",
            "system": "A",
            "name": "",
            "format": "auto",
            "depth": None,
        },
        benchmark_key=benchmark.key,
        by=OPERATOR,
    )


def wait_for_job(job: Job, is_so: Callable[[Job], Any], worker: Worker) -> Job:
    def holds() -> bool:
        job.refresh_from_db()
        return bool(is_so(job))

    wait_for(lambda: holds() or worker.process.poll() is not None)
    if not holds():
        pytest.fail(f"{job.state} {job.phase} {job.error}\n{worker.log.read_text()}")
    return job


def ended(job: Job) -> bool:
    return job.is_finished


def test_a_worker_does_jobs_from_end_to_end(celery_worker_process: Worker, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    before = row_counts()
    good = import_job(benchmark, b"c0 Q0 v1 1 2.0 t\nc0 Q0 v0 2 1.0 t\n")
    bad = import_job(benchmark, b"c0 Q0 v1 1 2.0 t\nc0 Q0 v9 2 1.0 t\n")

    done = wait_for_job(good, ended, celery_worker_process)
    assert (done.state, done.error, done.attempts) == (JobState.DONE, "", 1)
    run = Run.objects.get()
    assert done.result == {
        "run": "A",
        "pk": run.pk,
        "queries": 1,
        "depth": 2,
        "direction": "text-to-video",
        "sha256": run.sha256,
        "created": True,
        "scoring": [str(Job.objects.get(kind="evaluate").pk)],
        "warnings": ["captions without a ranked list: 2 of 3"],
    }
    assert ranked_lists(run).items[0].tolist() == [1, 0]

    failed = wait_for_job(bad, ended, celery_worker_process)
    assert (failed.state, failed.error) == (
        JobState.FAILED,
        "my.run, line 2: unknown video 'v9'",
    )
    # The uploaded run is scored, by the original positives because there are no labels.
    scored = wait_for_job(Job.objects.get(kind="evaluate"), ended, celery_worker_process)
    assert scored.result == {"labels": "original", "runs": ["A"]}
    worked = WorkerTime.objects.filter(seconds__gt=0).order_by("work")
    assert wait_for(lambda: sum(worked.values_list("number", flat=True)) == 3)
    expected = [("celery", "evaluate", 1), ("celery", "import_run", 2)]
    assert list(worked.values_list("worker", "work", "number")) == expected
    assert row_counts() == {
        **before,
        "audit.AuditEntry": before["audit.AuditEntry"] + 1,
        "evaluation.Evaluation": 1,
        "jobs.Job": 3,
        "operations.WorkerTime": 2,
        "pooling.Run": 1,
        "pooling.RankedList": 1,
        "pooling.System": 1,
    }


@pytest.fixture
def job_under_way(
    start_worker: Callable[..., Worker], tmp_path: Path
) -> Iterator[tuple[Job, Worker]]:
    """Return a job that a worker has started but not finished."""
    benchmark = make_benchmark(tmp_path, captions=CAPTIONS, videos=VIDEOS)
    worker = start_worker()
    job = import_job(benchmark, long_run())
    wait_for_job(job, lambda found: found.state == JobState.RUNNING and found.phase, worker)
    yield job, worker
    assert not storages["uploads"].exists(job.params["upload"])


def set_lease(left: timedelta) -> None:
    Job.objects.filter(state=JobState.RUNNING).update(lease_expires_at=timezone.now() + left)


def check_done_once(job: Job, attempts: int) -> None:
    job.refresh_from_db()
    assert (job.state, job.error, job.attempts) == (JobState.DONE, "", attempts)
    run = Run.objects.get()
    assert (job.result["run"], job.result["created"], job.result["sha256"]) == (
        "A",
        True,
        run.sha256,
    )
    assert (run.n_queries, run.depth) == (CAPTIONS, VIDEOS)
    assert RankedList.objects.count() == CAPTIONS
    ranked = ranked_lists(run).items
    assert (np.sort(ranked, axis=1) == np.arange(VIDEOS)).all()


@pytest.mark.slow
def test_a_job_whose_process_was_killed_is_done_once_after_the_sweep(
    job_under_way: tuple[Job, Worker], start_worker: Callable[..., Worker]
) -> None:
    job, worker = job_under_way
    (child,) = children_of(worker.process.pid)
    os.kill(child, signal.SIGKILL)
    assert wait_for(lambda: (now := children_of(worker.process.pid)) and child not in now)
    # The worker delivers the message again. The new process ends this task at once, because the job
    # is still leased.
    assert wait_for(lambda: " succeeded in " in worker.log.read_text()), worker.log.read_text()
    found = Job.objects.get(pk=job.pk)
    assert (found.state, found.attempts) == (JobState.RUNNING, 1)
    set_lease(timedelta(hours=1))
    assert sweep_jobs() == (0, 0)  # the lease is still valid
    assert Run.objects.count() == 0

    set_lease(-timedelta(seconds=1))
    assert sweep_jobs() == (1, 0)
    wait_for_job(job, ended, worker)
    check_done_once(job, attempts=2)


@pytest.mark.slow
def test_a_job_whose_worker_was_killed_is_done_once_after_a_restart(
    job_under_way: tuple[Job, Worker], start_worker: Callable[..., Worker]
) -> None:
    job, worker = job_under_way
    worker.kill()  # all its processes, as after a power cut
    assert Job.objects.get(pk=job.pk).state == JobState.RUNNING
    assert Run.objects.count() == 0

    again = start_worker()
    set_lease(-timedelta(seconds=1))
    assert sweep_jobs() == (1, 0)
    wait_for_job(job, ended, again)
    check_done_once(job, attempts=2)
