"""The metrics for Prometheus: who may read them, what they count, and sums over processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from hearth.jobs.models import Job, JobState
from hearth.operations.heartbeats import LEASE_EXPIRIES, add_to_tally, add_worker_time, beat
from hearth.operations.models import Operation, OperationKind, Pulse
from tests import factories
from tests.conftest import ROOT, database_url_of_tests
from tests.processes import children_of
from tests.services import free_port
from tests.waiting import wait_for


def samples(text: str) -> dict[str, float]:
    """Return the values of all metrics by name and labels."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def read(client: Client | None = None, **headers: str) -> tuple[int, dict[str, float]]:
    answer = (client or Client()).get("/metrics", headers=headers)
    return answer.status_code, samples(answer.content.decode()) if answer.status_code == 200 else {}


@pytest.mark.django_db
def test_only_this_machine_or_a_client_with_the_token_may_read(settings: Any) -> None:
    assert read()[0] == 200
    assert read(Client(REMOTE_ADDR="10.0.0.7"))[0] == 404
    assert read(Client(REMOTE_ADDR=""))[0] == 404
    # nginx on this machine forwards the requests of all clients, with such a header.
    for header in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"):
        assert read(**{header: "127.0.0.1"})[0] == 404
    settings.METRICS_TOKEN = "a-token-for-the-metrics"
    assert read()[0] == 404
    assert read(Authorization="Bearer a-token-for-the-metric")[0] == 404
    prometheus = Client(REMOTE_ADDR="10.0.0.7")
    assert read(prometheus, Authorization="Bearer a-token-for-the-metrics")[0] == 200


@pytest.mark.django_db
def test_metrics_that_are_read_from_the_database() -> None:
    now = timezone.now()
    Job.objects.create(kind="evaluate", title="a", created_at=now - timedelta(minutes=10))
    Job.objects.create(kind="evaluate", title="b")
    lost = now - timedelta(minutes=5)
    Job.objects.create(kind="evaluate", title="c", state=JobState.RUNNING, lease_expires_at=lost)
    for seconds in (10, 20, 30):
        began = now - timedelta(minutes=1)
        ended = began + timedelta(seconds=seconds)
        Job.objects.create(
            kind="agreement", title="d", state=JobState.DONE, started_at=began, finished_at=ended
        )
    beat(Pulse.SWEEPER)
    add_to_tally(LEASE_EXPIRIES, 7)
    for worker, seconds in (("worker1", 2.5), ("worker1", 1.0), ("worker2", 4.0)):
        add_worker_time(worker, "agreement", seconds)
    Operation.objects.create(
        kind=OperationKind.BACKUP, started_at=now, finished_at=now, facts={"bytes": 123}
    )
    _, found = read()
    assert {name: found[name] for name in found if name.startswith("hearth_jobs{")} == {
        'hearth_jobs{state="queued"}': 2,
        'hearth_jobs{state="running"}': 1,
        'hearth_jobs{state="overdue"}': 1,
    }
    assert 600 <= found["hearth_jobs_oldest_queued_seconds"] < 700
    assert found['hearth_jobs_ended_last_hour{kind="agreement",state="done"}'] == 3
    assert found['hearth_job_seconds_last_hour{kind="agreement",quantile="0.5"}'] == 20
    assert found['hearth_job_seconds_last_hour{kind="agreement",quantile="0.95"}'] == 29
    assert {name: found[name] for name in found if name.startswith("hearth_worker")} == {
        'hearth_worker_seconds_count{work="agreement",worker="worker1"}': 2,
        'hearth_worker_seconds_sum{work="agreement",worker="worker1"}': 3.5,
        'hearth_worker_seconds_count{work="agreement",worker="worker2"}': 1,
        'hearth_worker_seconds_sum{work="agreement",worker="worker2"}': 4,
    }
    assert found["hearth_lease_expiries_total"] == 7
    assert found["hearth_backup_bytes"] == 123
    assert found['hearth_heartbeat_age_seconds{process="sweeper"}'] < 60
    assert found['hearth_disk_free_bytes{folder="home"}'] > 0
    assert found['hearth_check_ok{check="database"}'] == 1


@pytest.mark.django_db
def test_judgments_and_claims_are_counted(tmp_path: Path) -> None:
    campaign = factories.make_campaign(tmp_path)
    anna = factories.make_annotator("anna")
    _, before = read()
    held = factories.claim(campaign, anna, 3)
    stored = factories.submit(held[0], 1).judgment
    factories.submit(held[0], 1, client_key=stored.client_key)  # sent again
    _, after = read()

    def grown(name: str) -> float:
        return after[name] - before.get(name, 0)

    assert grown("hearth_claims_total") == 3
    assert grown('hearth_judgments_total{state="live"}') == 1


@pytest.mark.django_db
def test_requests_are_counted_by_view_and_not_by_address() -> None:
    for address in ("/accounts/login/", "/no/such/page/", "/no/other/page/"):
        Client().get(address)
    Client().generic("BREW", "/accounts/login/")
    _, found = read()
    assert found['hearth_request_seconds_count{method="GET",view="account_login"}'] >= 1
    assert found['hearth_responses_total{status="404",view="none"}'] >= 2
    assert 'hearth_request_seconds_count{method="other",view="account_login"}' in found
    assert not any("no/such" in name or "no/other" in name for name in found)


# --- Several processes --------------------------------------------------------------------------


@pytest.fixture
def server(transactional_db: None, tmp_path: Path) -> Iterator[tuple[str, int]]:
    """The address and process id of gunicorn with Hearth's configuration and two processes."""
    port = free_port()
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "gunicorn",
                "--config",
                "deploy/gunicorn.conf.py",
                "config.wsgi",
            ],
            cwd=ROOT,
            env={
                **os.environ,
                "DATABASE_URL": database_url_of_tests(),
                "WEB_BIND": f"127.0.0.1:{port}",
                "WEB_CONCURRENCY": "2",
                "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "metrics"),
                "LOG_FORMAT": "json",
                "LOG_LEVEL": "INFO",
            },
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            assert wait_for(lambda: answers(address)), (tmp_path / "log").read_text()
            yield address, process.pid
        finally:
            process.terminate()
            process.wait(30)


def answers(address: str) -> bool:
    try:
        return bool(get(f"{address}/healthz"))
    except OSError:
        return False


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 - on this machine
        text: str = answer.read().decode()
    return text


@pytest.mark.slow
def test_the_metrics_of_all_processes_are_added_up(server: tuple[str, int], tmp_path: Path) -> None:
    address, pid = server
    name = 'hearth_responses_total{status="200",view="account_login"}'

    def count() -> float:
        return samples(get(f"{address}/metrics")).get(name, 0)

    def visit(times: int) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(get, [f"{address}/accounts/login/"] * times))

    visit(40)
    assert [count() for _ in range(6)] == [40] * 6  # whichever process answers
    # A process that dies leaves its counts, and the next one continues its file.
    before = children_of(pid)
    os.kill(before[0], signal.SIGKILL)
    assert wait_for(lambda: len(now := children_of(pid)) == 2 and now != before)
    visit(20)
    assert count() == 60
    files = sorted(path.name for path in (tmp_path / "metrics").iterdir())
    assert files == ["counter_0.db", "counter_1.db", "histogram_0.db", "histogram_1.db"]
    lines = (tmp_path / "log").read_text().splitlines()
    assert all(line.startswith('{"time": "') for line in lines), lines
    visits = [line for line in lines if "/accounts/login/" in line]
    assert len(visits) == 60
    assert all(re.search(r'"request": "[0-9a-f]{32}"', line) for line in visits)
