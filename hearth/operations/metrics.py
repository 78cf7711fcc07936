"""The metrics for Prometheus: counts by the web processes, and the state of the whole site."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta

import numpy as np
from django.db import DatabaseError
from django.db.models.functions import Now
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.multiprocess import MultiProcessCollector

from hearth.jobs.models import Job, JobState
from hearth.operations.health import disks, measure_queue, recent_health
from hearth.operations.heartbeats import LEASE_EXPIRIES
from hearth.operations.models import Heartbeat, OperationKind, Tally, WorkerTime
from hearth.operations.records import latest
from hearth.shared.metrics import REGISTRY
from hearth.shared.version import code_version

JOBS_WINDOW = timedelta(hours=1)
QUANTILES = (0.5, 0.95, 1.0)

Sample = tuple[dict[str, str], float]  # labels and value


def render_metrics() -> bytes:
    """Return all metrics in the text format of Prometheus."""
    processes = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        processes = CollectorRegistry()
        MultiProcessCollector(processes)
    site = CollectorRegistry()
    site.register(SiteCollector())
    return generate_latest(processes) + generate_latest(site)


class SiteCollector:
    """The metrics that are the same for every process, read at each request.

    Only the findings of the checks can be two seconds old.
    """

    def collect(self) -> Iterator[Metric]:
        began = time.perf_counter()
        yield _gauge("hearth_build", "The version of the code.", [({"version": code_version()}, 1)])
        yield from _disk_metrics()
        checks = [({"check": check.name}, float(check.is_ok)) for check in recent_health()]
        yield _gauge("hearth_check_ok", "1 if the check of /readyz passes, else 0.", checks)
        try:
            for read in (
                _queue_metrics,
                _job_metrics,
                _worker_metrics,
                _process_metrics,
                _backup_metrics,
            ):
                yield from read()
        except DatabaseError:
            return  # /readyz shows whether the database responds
        seconds = time.perf_counter() - began
        yield _gauge("hearth_scrape_seconds", "Time to read these metrics.", [({}, seconds)])


def _gauge(name: str, about: str, samples: Iterable[Sample]) -> Metric:
    family = GaugeMetricFamily(name, about)
    for labels, value in samples:
        family.add_sample(name, labels, value)
    return family


def _disk_metrics() -> Iterator[Metric]:
    usage = disks()
    free = [({"folder": name}, found.free) for name, found in usage.items()]
    size = [({"folder": name}, found.total) for name, found in usage.items()]
    yield _gauge("hearth_disk_free_bytes", "Free space of a disk that Hearth writes to.", free)
    yield _gauge("hearth_disk_size_bytes", "Size of a disk that Hearth writes to.", size)


def _queue_metrics() -> Iterator[Metric]:
    queue = measure_queue()
    counts = {"queued": queue.queued, "running": queue.running, "overdue": queue.overdue}
    age = 0.0 if queue.oldest is None else (timezone.now() - queue.oldest).total_seconds()
    states = [({"state": state}, float(number)) for state, number in counts.items()]
    yield _gauge("hearth_jobs", "Unfinished jobs. Overdue jobs also count as running.", states)
    yield _gauge(
        "hearth_jobs_oldest_queued_seconds",
        "Age of the oldest queued job.",
        [({}, max(0.0, age))],
    )


def _job_metrics() -> Iterator[Metric]:
    """Yield the numbers of jobs that ended in the last hour, and the durations of the done ones.

    Jobs that ended before a worker started them are left out.
    """
    ended = Job.objects.filter(finished_at__gt=Now() - JOBS_WINDOW, started_at__isnull=False)
    seconds: dict[tuple[str, str], list[float]] = {}
    rows = ended.order_by().values_list("kind", "state", "started_at", "finished_at")
    for kind, state, began, end in rows:
        if began is not None and end is not None:
            seconds.setdefault((kind, state), []).append((end - began).total_seconds())
    counts = [
        ({"kind": kind, "state": state}, float(len(took)))
        for (kind, state), took in sorted(seconds.items())
    ]
    yield _gauge("hearth_jobs_ended_last_hour", "Jobs that ended in the last hour.", counts)
    durations = [
        ({"kind": kind, "quantile": str(quantile)}, float(np.quantile(took, quantile)))
        for (kind, state), took in sorted(seconds.items())
        if state == JobState.DONE
        for quantile in QUANTILES
    ]
    about = "Durations of the jobs that were done in the last hour."
    yield _gauge("hearth_job_seconds_last_hour", about, durations)


def _process_metrics() -> Iterator[Metric]:
    rows = Heartbeat.objects.annotate(now=Now()).order_by("name")
    ages = [({"process": row.name}, (row.now - row.at).total_seconds()) for row in rows]
    about = "Time since the last heartbeat of the scheduler or the sweeper."
    yield _gauge("hearth_heartbeat_age_seconds", about, ages)
    expired = Tally.objects.filter(name=LEASE_EXPIRIES).values_list("value", flat=True).first()
    yield CounterMetricFamily(
        "hearth_lease_expiries", "Leases that expired without an answer.", value=expired or 0
    )


def _worker_metrics() -> Iterator[Metric]:
    about = "Time that workers spent on jobs, by their kind, and on other tasks."
    family = SummaryMetricFamily("hearth_worker_seconds", about, labels=["worker", "work"])
    for row in WorkerTime.objects.order_by("worker", "work"):
        family.add_metric([row.worker, row.work], row.number, row.seconds)
    yield family


def _backup_metrics() -> Iterator[Metric]:
    last = latest(OperationKind.BACKUP)
    at: list[Sample] = [] if last is None else [({}, last.started_at.timestamp())]
    size: list[Sample] = [] if last is None else [({}, float(last.facts.get("bytes", 0)))]
    yield _gauge("hearth_backup_timestamp_seconds", "When the last backup was made.", at)
    yield _gauge("hearth_backup_bytes", "Size of the last backup.", size)
