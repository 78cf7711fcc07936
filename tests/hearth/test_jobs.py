"""Jobs from start to end. The test process does them in place of a worker."""

from __future__ import annotations

import errno
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from config.celery import app
from hearth.accounts.actors import OPERATOR
from hearth.jobs import registry
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import (
    cancel_job,
    enqueue_job,
    queue,
    run_job,
    running,
    sweep_jobs,
)
from hearth.shared.errors import Cancelled, Conflict, InvalidInput
from hearth.shared.progress import Progress
from hearth.shared.uploads import store_upload, uploaded_file
from pooling.models import Benchmark, Run
from tests.conftest import use_broker
from tests.factories import at_once, make_benchmark, row_counts
from tests.waiting import wait_for

# These tests use the filesystem broker. tests/hearth/test_worker.py runs workers on both brokers.
pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("broker"),
    pytest.mark.parametrize("broker", ["filesystem"], indirect=True),
]

GOOD = b"c0 Q0 v1 1 1.0 t\n"
PAST, SOON = timedelta(seconds=-1), timedelta(seconds=60)


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_benchmark(tmp_path)


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that registers a function as the kind "tried" and queues such a job."""

    def register(function: registry.JobFunction) -> Job:
        kind = registry.JobKind(
            function, lambda job, result: registry.Outcome("Tried.", "/", "To it")
        )
        monkeypatch.setitem(registry._kinds, "tried", kind)
        return enqueue_job(kind="tried", title="Tried", params={}, by=OPERATOR)

    return register


def import_job(benchmark: Benchmark, content: bytes = GOOD, **params: Any) -> Job:
    upload = store_upload(SimpleUploadedFile("my.run", content))
    values = {"benchmark": benchmark.key, "upload": upload, "source": "my.run", "system": "A"}
    return enqueue_job(
        kind="import_run",
        title="Run my.run",
        params={**values, "name": "", "format": "auto", "depth": None, **params},
        benchmark_key=benchmark.key,
        by=OPERATOR,
    )


def now(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


def end_of(job: Job) -> tuple[str, Any, str, int]:
    job = now(job)
    return job.state, job.result, job.error, job.attempts


def sent_ids() -> list[str]:
    """Return the ids of the jobs in the queue."""
    ids = []
    with app.connection_for_read() as link:
        queue = link.SimpleQueue("celery")
        while queue.qsize():
            message = queue.get(block=False)
            ids.append(message.payload[0][0])
            message.ack()
    return sorted(ids)


# --- Ends -------------------------------------------------------------------------------------


def test_a_job_is_done_with_its_result(benchmark: Benchmark) -> None:
    job = import_job(benchmark)
    waiting = now(job)
    assert (waiting.state, waiting.attempts, waiting.started_at) == (JobState.QUEUED, 0, None)
    assert sent_ids() == [str(job.pk)]
    run_job(job.pk)

    run = Run.objects.get()
    done = now(job)
    assert (done.state, done.error, done.attempts) == (JobState.DONE, "", 1)
    assert (done.result["run"], done.result["sha256"]) == ("A", run.sha256)
    assert done.lease_expires_at is None
    assert done.created_at <= done.started_at <= done.finished_at  # type: ignore[operator]
    assert not storages["uploads"].exists(job.params["upload"])

    run_job(job.pk)  # delivered again
    assert end_of(job) == (JobState.DONE, done.result, "", 1)


def test_bad_input_fails_with_its_file_line_and_reason(benchmark: Benchmark) -> None:
    job = import_job(benchmark, GOOD + b"c0 Q0 v9 2 0.5 t\n")
    before = row_counts()
    run_job(job.pk)
    assert end_of(job) == (JobState.FAILED, None, "my.run, line 2: unknown video 'v9'", 1)
    assert now(job).finished_at is not None
    assert row_counts() == before
    assert not storages["uploads"].exists(job.params["upload"])


def test_an_unexpected_error_fails_with_its_name(
    kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        raise KeyError("unexpected")

    job = kind(broken)
    run_job(job.pk)
    reason = "Unexpected KeyError. The worker's log has the details."
    assert end_of(job) == (JobState.FAILED, None, reason, 1)
    assert f"job {job.pk} (tried) failed" in caplog.text


def test_a_deleted_upload_cancels_the_job(benchmark: Benchmark) -> None:
    job = import_job(benchmark)
    storages["uploads"].delete(job.params["upload"])
    run_job(job.pk)
    assert end_of(job) == (JobState.CANCELLED, None, "The uploaded file was deleted.", 1)
    assert Run.objects.count() == 0


def test_a_queued_job_is_cancelled_immediately(benchmark: Benchmark) -> None:
    job = import_job(benchmark)
    cancel_job(job=job, by=OPERATOR)
    assert not storages["uploads"].exists(job.params["upload"])
    run_job(job.pk)
    assert end_of(job) == (JobState.CANCELLED, None, "", 0)
    assert sweep_jobs() == (0, 0)
    with pytest.raises(Conflict):
        cancel_job(job=job, by=OPERATOR)
    assert Run.objects.count() == 0


def test_a_running_job_that_is_cancelled_stops_at_its_next_step(kind: Any) -> None:
    steps = []

    def walk(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        for step in range(5):
            progress(step, 5, f"step {step}")
            steps.append(step)
            if step == 2:
                cancel_job(job=job, by=OPERATOR)
                assert Job.objects.get().state == JobState.RUNNING
        return {}

    job = kind(walk)
    run_job(job.pk)
    assert steps == [0, 1, 2]
    assert end_of(job) == (JobState.CANCELLED, None, "", 1)


def test_an_unknown_kind_is_refused_before_it_is_written() -> None:
    with pytest.raises(KeyError):
        enqueue_job(kind="nothing of ours", title="", params={}, by=OPERATOR)
    assert Job.objects.count() == 0


def test_a_rollback_leaves_no_job(benchmark: Benchmark) -> None:
    def enqueue_and_fail() -> None:
        with transaction.atomic():
            import_job(benchmark)
            raise InvalidInput("never mind")

    with pytest.raises(InvalidInput):
        enqueue_and_fail()
    assert Job.objects.count() == 0
    assert sent_ids() == []


# --- Progress and lease -----------------------------------------------------------------------


def test_progress_is_written_now_and_then(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PROGRESS_EVERY_SECONDS", 3600)
    seen = []

    def work(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        def look() -> None:
            job = Job.objects.get()
            seen.append((job.phase, job.done, job.total, job.percent))

        progress(1, 4, "reading")
        look()
        progress(2, 4)  # too soon after the previous step
        progress(3, 4, "reading")
        look()
        progress(0, None, "storing")  # a new phase is stored immediately
        look()
        with transaction.atomic():
            progress(9, 9, "inside")  # not stored inside the job's transaction
        look()
        return {"ok": True}

    job = kind(work)
    run_job(job.pk)
    assert seen == [
        ("reading", 1, 4, 25),
        ("reading", 1, 4, 25),
        ("storing", 0, None, None),
        ("storing", 0, None, None),
    ]
    assert end_of(job) == (JobState.DONE, {"ok": True}, "", 1)


def test_a_job_delivered_twice_is_done_once(kind: Any) -> None:
    started = []

    def work(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        started.append(params["job"])
        run_job(uuid.UUID(params["job"]))  # the second delivery returns immediately
        return {"starts": len(started)}

    job = kind(work)
    run_job(job.pk)
    assert end_of(job) == (JobState.DONE, {"starts": 1}, "", 1)


def test_a_job_delivered_at_the_same_time_is_done_once(kind: Any) -> None:
    started = []

    def work(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        started.append(params["job"])
        return {}

    for rounds in range(1, 11):
        job = kind(work)
        at_once(*[lambda key=job.pk: run_job(key)] * 4)
        assert end_of(job) == (JobState.DONE, {}, "", 1)
        assert len(started) == rounds


def test_the_lease_is_renewed_without_progress(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "HEARTBEAT_SECONDS", 0.05)

    def work(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        Job.objects.update(lease_expires_at=timezone.now() + PAST)
        assert wait_for(lambda: now(job).lease_expires_at > timezone.now())  # type: ignore[operator]
        return {}

    job = kind(work)
    run_job(job.pk)
    assert now(job).state == JobState.DONE


def test_an_attempt_without_the_lease_writes_nothing(kind: Any, benchmark: Benchmark) -> None:
    """A worker continues after a long pause, while another already does the job."""
    other = uuid.uuid4()

    def work(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        Job.objects.update(lease_token=other, attempts=2)
        return {"result": "of the first attempt"}

    job = kind(work)
    run_job(job.pk)
    assert end_of(job) == (JobState.RUNNING, None, "", 2)
    assert now(job).lease_token == other


def test_an_attempt_without_the_lease_stops_and_leaves_the_upload(
    kind: Any, benchmark: Benchmark
) -> None:
    def work(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        Job.objects.update(lease_token=uuid.uuid4(), attempts=2)
        progress(1, 2, "reading")
        raise AssertionError("the first attempt goes on")

    job = kind(work)
    name = store_upload(SimpleUploadedFile("my.run", GOOD))
    Job.objects.update(params={"upload": name})
    run_job(job.pk)
    assert end_of(job) == (JobState.RUNNING, None, "", 2)
    assert storages["uploads"].exists(name)


# --- Sweeping ---------------------------------------------------------------------------------


def left_running(attempts: int, lease: timedelta) -> Job:
    """Create a job in the state in which a killed worker leaves it."""
    return Job.objects.create(
        kind="import_run",
        title="killed",
        state=JobState.RUNNING,
        attempts=attempts,
        lease_token=uuid.uuid4(),
        lease_expires_at=timezone.now() + lease,
        sent_at=timezone.now(),
    )


def test_a_job_whose_worker_died_is_queued_again_and_fails_at_the_third_death() -> None:
    once, twice = left_running(1, PAST), left_running(2, PAST)
    thrice, alive = left_running(3, PAST), left_running(1, SOON)

    assert sweep_jobs() == (2, 1)
    assert sent_ids() == sorted([str(once.pk), str(twice.pk)])
    assert [now(job).state for job in (once, twice, thrice, alive)] == [
        JobState.QUEUED,
        JobState.QUEUED,
        JobState.FAILED,
        JobState.RUNNING,
    ]
    assert now(thrice).error == "The worker died 3 times during this job."
    assert now(thrice).finished_at is not None
    assert sweep_jobs() == (0, 0)


def test_a_last_attempt_whose_lease_expires_during_a_sweep_is_not_queued_again() -> None:
    job = left_running(3, SOON)

    def expire_after(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        found = execute(sql, params, many, context)
        if sql.startswith("SELECT"):
            with connection.cursor() as cursor:
                cursor.execute("UPDATE jobs_job SET lease_expires_at = %s", [timezone.now() + PAST])
        return found

    with connection.execute_wrapper(expire_after):
        sweep_jobs()
    assert now(job).state == JobState.RUNNING
    assert sweep_jobs() == (0, 1)


def test_a_message_that_was_lost_is_sent_again_after_a_while(benchmark: Benchmark) -> None:
    job = import_job(benchmark)
    # This removes the message from the queue, as a flush of Redis would.
    assert sent_ids() == [str(job.pk)]
    assert sweep_jobs() == (0, 0)
    Job.objects.update(sent_at=timezone.now() - timedelta(seconds=61))
    assert sweep_jobs() == (1, 0)
    assert sent_ids() == [str(job.pk)]
    assert sweep_jobs() == (0, 0)


@pytest.mark.parametrize("scheme", ["redis", "filesystem"])
def test_an_unavailable_broker_loses_nothing(
    benchmark: Benchmark, tmp_path: Path, settings: Any, scheme: str
) -> None:
    before = app.conf.broker_url, app.conf.broker_transport_options
    if scheme == "redis":
        use_broker("redis://127.0.0.1:1/0", settings.REDIS_TRANSPORT_OPTIONS)
    else:
        (tmp_path / "queue").write_text("no folder")
        options = {"data_folder_out": str(tmp_path / "queue"), "data_folder_in": str(tmp_path)}
        use_broker("filesystem://", options)
    try:
        started = time.monotonic()
        job = import_job(benchmark)
        assert time.monotonic() - started < 60  # it does not wait until the broker is available
        assert (now(job).state, now(job).sent_at) == (JobState.QUEUED, None)
    finally:
        use_broker(*before)

    assert sent_ids() == []
    assert sweep_jobs() == (1, 0)
    assert sent_ids() == [str(job.pk)]
    run_job(job.pk)
    assert now(job).state == JobState.DONE


def test_an_unavailable_broker_does_not_keep_dead_jobs_running(settings: Any) -> None:
    job, last = left_running(1, PAST), left_running(3, PAST)
    before = app.conf.broker_url, app.conf.broker_transport_options
    use_broker("redis://127.0.0.1:1/0", settings.REDIS_TRANSPORT_OPTIONS)
    try:
        with pytest.raises(BrokerError):  # the worker logs this, and the sweeper runs again later
            sweep_jobs()
    finally:
        use_broker(*before)
    assert (now(job).state, now(last).state) == (JobState.QUEUED, JobState.FAILED)


# --- Equal jobs -------------------------------------------------------------------------------


def uploads() -> set[str]:
    return set(storages["uploads"].listdir("")[1])


def test_equal_work_is_one_job_while_it_is_unfinished(benchmark: Benchmark) -> None:
    before = uploads()
    first, second = import_job(benchmark), import_job(benchmark)
    assert second.pk == first.pk
    assert uploads() - before == {first.params["upload"]}  # the second file is deleted
    others = [import_job(benchmark, content=GOOD * 2), import_job(benchmark, name="other")]
    assert len({first.pk, *(job.pk for job in others)}) == 3
    assert sent_ids() == sorted(str(job.pk) for job in (first, *others))

    run_job(first.pk)
    assert import_job(benchmark).pk != first.pk


def test_an_upload_is_read_before_the_transaction(
    benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite, reading a large file in the transaction would stop all writers."""
    in_transaction = []

    def hashed(name: str) -> str:
        in_transaction.append(connection.in_atomic_block)
        return name

    monkeypatch.setattr(queue, "upload_sha256", hashed)
    import_job(benchmark)
    assert in_transaction == [False]


def test_clicks_at_the_same_time_start_one_job(benchmark: Benchmark) -> None:
    for _ in range(20):
        before = uploads()
        jobs = at_once(*[lambda: import_job(benchmark)] * 4)
        assert len({job.pk for job in jobs}) == 1
        assert uploads() - before == {jobs[0].params["upload"]}
        cancel_job(job=jobs[0], by=OPERATOR)


# --- A database that stops answering ----------------------------------------------------------


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_job_that_the_database_interrupts_starts_again(
    kind: Any, benchmark: Benchmark, error: type[Exception]
) -> None:
    calls = []

    def work(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        calls.append(uploaded_file(params["upload"]).read_bytes())
        if len(calls) <= 4:  # more often than a worker may die
            raise error("server closed the connection unexpectedly")
        return {}

    job = kind(work)
    name = store_upload(SimpleUploadedFile("my.run", GOOD))
    Job.objects.update(params={"upload": name})
    reason = (
        f"The database did not answer during this job ({error.__name__}). The job will start again."
    )
    for attempt in range(1, 5):
        run_job(job.pk)
        assert end_of(job) == (JobState.QUEUED, None, reason, attempt)
        run_job(job.pk)  # delivered too early
        assert sweep_jobs() == (0, 0)
        wait = now(job).run_after - timezone.now()  # type: ignore[operator]
        assert timedelta() < wait <= timedelta(seconds=5 * 2 ** (attempt - 1))
        Job.objects.update(run_after=timezone.now() + PAST)
        assert sweep_jobs() == (1, 0)
    run_job(job.pk)
    assert end_of(job) == (JobState.DONE, {}, "", 5)
    assert calls == [GOOD] * 5
    assert not storages["uploads"].exists(name)


def test_interruptions_without_end_fail_the_job(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "FIRST_WAIT", PAST)

    def work(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        raise OperationalError("unavailable")

    job = kind(work)
    for _ in range(running.INTERRUPTIONS + 1):
        run_job(job.pk)
    reason = "The database was unavailable 9 times during this job."
    assert end_of(job) == (JobState.FAILED, None, reason, 9)
    assert now(job).is_uncertain


def test_an_interruption_is_not_counted_as_the_death_of_a_worker() -> None:
    job = left_running(4, PAST)
    Job.objects.filter(pk=job.pk).update(interruptions=2)
    assert sweep_jobs() == (1, 0)
    Job.objects.filter(pk=job.pk).update(
        state=JobState.RUNNING, attempts=5, lease_expires_at=timezone.now() + PAST
    )
    assert sweep_jobs() == (0, 1)
    assert now(job).is_uncertain


# --- Limits of a worker -----------------------------------------------------------------------


def test_a_full_database_fails_the_job(kind: Any) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL does not limit the size of a database")

    def work(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        with transaction.atomic():
            Benchmark.objects.create(key="b", description="x" * 10_000_000, n_queries=1, n_videos=1)
        return {}

    job = kind(work)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0] + 100}")
        run_job(job.pk)
        cursor.execute("PRAGMA max_page_count = 1000000000")
        cursor.execute("PRAGMA integrity_check")
        assert cursor.fetchall() == [("ok",)]
    reason = "The disk is full. Free some space, then start the job again."
    assert end_of(job) == (JobState.FAILED, None, reason, 1)
    assert not Benchmark.objects.exists()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            MemoryError(),
            "The job needs more memory than a worker may use (4,096 MB, WORKER_MEMORY_MB).",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device", "/secret/place"),
            "The disk is full. Free some space, then start the job again.",
        ),
        (
            SoftTimeLimitExceeded(),
            "The job took longer than 14 minutes, the limit of a worker.",
        ),
    ],
)
def test_a_job_beyond_a_limit_fails_with_its_reason(
    kind: Any, error: Exception, reason: str
) -> None:
    def work(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
        raise error

    job = kind(work)
    run_job(job.pk)
    assert end_of(job) == (JobState.FAILED, None, reason, 1)


# --- Uploads ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "a\nb", "x" * 400, "ü🐈"])
def test_an_upload_is_stored_under_a_generated_name(name: str) -> None:
    stored = store_upload(SimpleUploadedFile(name, b"content"))
    assert uuid.UUID(stored)
    path = uploaded_file(stored)
    assert path.parent == Path(storages["uploads"].path("")).resolve()
    assert path.read_bytes() == b"content"
    storages["uploads"].delete(stored)
    with pytest.raises(Cancelled):
        uploaded_file(stored)


def test_an_upload_is_deleted_after_three_deaths(benchmark: Benchmark) -> None:
    job = import_job(benchmark)
    Job.objects.update(state=JobState.RUNNING, attempts=3, lease_expires_at=timezone.now() + PAST)
    assert sweep_jobs() == (0, 1)
    assert not storages["uploads"].exists(job.params["upload"])
