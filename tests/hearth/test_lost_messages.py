"""The sweeper sends only jobs whose messages are lost. The broker is Redis or the file system."""

from __future__ import annotations

import os
import shutil
import signal
import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from config.celery import app
from hearth.accounts.actors import OPERATOR
from hearth.jobs import registry
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import enqueue_job, sweep_jobs
from tests.conftest import use_broker
from tests.services import _started, start_redis

pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("broker"),
]


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Five queued jobs. No worker is running."""
    kind = registry.JobKind(lambda params, progress: {}, lambda job, result: Any)
    monkeypatch.setitem(registry._kinds, "tried", kind)
    return [
        enqueue_job(kind="tried", title="Tried", params={"number": number}, by=OPERATOR)
        for number in range(5)
    ]


def set_sent(ago: timedelta, jobs: list[Job]) -> None:
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(sent_at=timezone.now() - ago)


def take_messages(count: int) -> list[str]:
    """Remove messages from the queue, and return the ids of their jobs."""
    ids = []
    with app.connection_for_read() as link:
        queue = link.SimpleQueue("celery")
        for _ in range(count):
            message = queue.get(block=True, timeout=10)
            message.ack()
            ids.append(message.payload[0][0])
    return ids


def test_a_job_that_waits_has_one_message(jobs: list[Job]) -> None:
    """All workers are busy for an hour, and the sweeper runs ten times."""
    set_sent(timedelta(hours=1), jobs)
    assert [sweep_jobs() for _ in range(10)] == [(0, 0)] * 10
    assert sorted(take_messages(5)) == sorted(str(job.pk) for job in jobs)


def test_only_lost_messages_are_sent_again(jobs: list[Job]) -> None:
    lost = take_messages(2)
    taken = [job for job in jobs if str(job.pk) in lost]
    assert sweep_jobs() == (0, 0)  # a worker may have taken them just now
    set_sent(timedelta(seconds=30), jobs)
    set_sent(timedelta(seconds=61), taken)
    assert sweep_jobs() == (2, 0)
    assert sweep_jobs() == (0, 0)
    assert sorted(take_messages(5)) == sorted(str(job.pk) for job in jobs)


def test_after_a_flush_all_are_sent_once(jobs: list[Job]) -> None:
    take_messages(5)
    set_sent(timedelta(seconds=61), jobs)
    assert [sweep_jobs() for _ in range(3)] == [(5, 0), (0, 0), (0, 0)]


@pytest.mark.parametrize("broker", ["filesystem"], indirect=True)
def test_a_broker_that_hangs_delays_a_request_by_seconds(jobs: list[Job], settings: Any) -> None:
    """A Redis that is stopped accepts connections and never answers."""
    url = start_redis(str(shutil.which("redis-server")))
    server = _started[-1]
    before = app.conf.broker_url, app.conf.broker_transport_options
    use_broker(url, settings.REDIS_TRANSPORT_OPTIONS)
    try:
        os.kill(server.pid, signal.SIGSTOP)
        began = time.monotonic()
        job = enqueue_job(kind="tried", title="Hung", params={}, by=OPERATOR)
        assert time.monotonic() - began < 60  # not as long as the broker hangs
        job.refresh_from_db()
        assert (job.state, job.sent_at) == (JobState.QUEUED, None)
        os.kill(server.pid, signal.SIGCONT)
        assert sweep_jobs() == (1, 0)
        assert take_messages(1) == [str(job.pk)]
    finally:
        os.kill(server.pid, signal.SIGCONT)
        use_broker(*before)
