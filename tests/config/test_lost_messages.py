"""The sweeper sends only jobs whose messages are lost, with both brokers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from config.accounts.actors import OPERATOR
from config.celery import app
from config.jobs import registry
from config.jobs.models import Job
from config.jobs.services import enqueue_job, sweep_jobs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("broker")]


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Return five queued jobs that no worker does."""
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
    """All workers are busy for an hour, and the sweeper runs as often as then."""
    set_sent(timedelta(hours=1), jobs)
    assert [sweep_jobs() for _ in range(10)] == [(0, 0)] * 10
    assert sorted(take_messages(5)) == sorted(str(job.pk) for job in jobs)


def test_only_lost_messages_are_sent_again(jobs: list[Job]) -> None:
    lost = take_messages(2)
    taken = [job for job in jobs if str(job.pk) in lost]
    assert sweep_jobs() == (0, 0)  # a worker may have taken them just now
    set_sent(timedelta(seconds=59), jobs)
    set_sent(timedelta(seconds=61), taken)
    assert sweep_jobs() == (2, 0)
    assert sweep_jobs() == (0, 0)
    assert sorted(take_messages(5)) == sorted(str(job.pk) for job in jobs)


def test_after_a_flush_all_are_sent_once(jobs: list[Job]) -> None:
    take_messages(5)
    set_sent(timedelta(seconds=61), jobs)
    assert [sweep_jobs() for _ in range(3)] == [(5, 0), (0, 0), (0, 0)]
