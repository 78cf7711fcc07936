"""/healthz, /readyz and the command `health`, and a site whose sweeper is dead."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from celery.beat import PersistentScheduler
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment
from config.celery import app
from hearth.accounts.roles import Role
from hearth.jobs.models import Job, JobState
from hearth.operations import health
from hearth.operations.health import age_in_words, check_health, size_in_words
from hearth.operations.heartbeats import LEASE_EXPIRIES, add_to_tally, beat
from hearth.operations.models import Heartbeat, Operation, OperationKind, Pulse, Tally
from hearth.shared.migrated import TOO_OLD
from tests import factories
from tests.conftest import Worker
from tests.waiting import wait_for

pytestmark = pytest.mark.postgresql

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _fresh_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "FRESH_SECONDS", -1.0)


@pytest.fixture
def alive(db: None) -> None:
    """A site on which everything works."""
    for pulse in Pulse:
        beat(pulse)


def failed() -> dict[str, str]:
    return {check.name: check.text for check in check_health() if not check.is_ok}


def readyz(query: str = "") -> tuple[int, list[str]]:
    answer = Client().get(f"/readyz{query}")
    return answer.status_code, answer.content.decode().splitlines()


def test_healthz_needs_no_database() -> None:
    # Without the fixture `db`, a database query would fail.
    answer = Client().get("/healthz", headers={"Host": "10.1.2.3:8000"})
    assert (answer.status_code, answer.content) == (200, b"alive\n")
    assert answer["Cache-Control"] == "max-age=0, no-cache, no-store, must-revalidate, private"


def test_a_working_site_is_ready(alive: None) -> None:
    status, lines = readyz()
    assert (status, lines[-1]) == (200, "ready")
    assert [line.split(":")[0] for line in lines[:-1]] == [f"ok {name}" for name in health.CHECKS]


def test_only_monitors_read_the_results_of_checks(alive: None, settings: Any) -> None:
    through_nginx = {"X-Forwarded-For": "203.0.113.9"}
    for query in ("", "?only=disk"):
        answer = Client().get(f"/readyz{query}", headers=through_nginx)
        assert (answer.status_code, answer.content) == (200, b"ready\n")
    settings.METRICS_TOKEN = "planted-token"
    assert readyz() == (200, ["ready"])
    headers = through_nginx | {"Authorization": "Bearer planted-token"}
    assert b"ok disk: " in Client().get("/readyz", headers=headers).content
    Heartbeat.objects.all().delete()
    answer = Client().get("/readyz", headers=through_nginx)
    assert (answer.status_code, answer.content) == (503, b"not ready\n")


def test_a_fresh_site_names_what_has_never_run(db: None) -> None:
    status, lines = readyz()
    assert (status, lines[-1]) == (503, "not ready")
    assert [line for line in lines if line.startswith("FAIL")] == [
        "FAIL scheduler: The scheduler has never run.",
        "FAIL sweeper: The sweeper of jobs has never run.",
    ]
    # Judging needs neither of the two, so a load balancer still sends requests.
    assert readyz("?only=database,migrations")[0] == 200


def test_unknown_checks_are_refused(db: None) -> None:
    status, lines = readyz("?only=database,%0Aevil")
    assert status == 400
    assert lines[0].startswith("Unknown check: '\\nevil'. The checks are database, migrations,")


def test_a_database_that_does_not_respond_is_reported(alive: None) -> None:
    from django.db import OperationalError, connection

    def does_not_answer(*_: Any) -> None:
        raise OperationalError("could not connect to 10.0.0.7 as hearth")

    with connection.execute_wrapper(does_not_answer):
        status, lines = readyz()
    assert status == 503
    assert lines[0] == "FAIL database: The database does not answer."
    assert [line.split()[1] for line in lines[1:-1]] == ["broker:", "disk:"]


@pytest.mark.parametrize("name", [Pulse.SCHEDULER, Pulse.SWEEPER])
def test_a_heartbeat_that_is_an_hour_old_is_reported(alive: None, name: Pulse) -> None:
    Heartbeat.objects.filter(name=name).update(at=Now() - HOUR)
    assert failed() == {name.value: f"The {name.label.lower()} last ran 60 min ago."}
    assert readyz()[0] == 503


def test_a_job_without_a_worker(alive: None) -> None:
    expired = timezone.now() - timedelta(minutes=4)
    Job.objects.create(kind="k", title="t", state=JobState.RUNNING, lease_expires_at=expired)
    Job.objects.create(kind="k", title="t")
    assert failed() == {
        "jobs": "1 job queued, 1 running. Jobs that count as running but lost their worker more "
        "than 3 min ago: 1."
    }


def test_a_missing_and_a_newer_migration(alive: None) -> None:
    applied = MigrationRecorder(connection)
    applied.record_unapplied("webhooks", "0001_webhooks")
    assert failed() == {
        "migrations": "Not applied: 1 migration of this version (webhooks.0001_webhooks)."
    }
    applied.record_applied("webhooks", "0001_webhooks")
    applied.record_applied("jobs", "0999_of_the_future")
    assert failed() == {
        "migrations": "The database has the migration jobs.0999_of_the_future of a newer version."
    }
    applied.record_unapplied("jobs", "0999_of_the_future")
    assert failed() == {}
    # Before the first release, another migration built the tables, and the new one is not recorded.
    applied.record_applied("accounts", "0001_squashed_0007_help_texts")
    applied.record_unapplied("accounts", "0001_first_release")
    assert failed() == {}
    applied.record_unapplied("accounts", "0007_help_texts")
    assert failed() == {"migrations": TOO_OLD}
    assert TOO_OLD.startswith("The database is of a version before commit 89409609, so install ")


def test_a_broker_that_does_not_respond(alive: None, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert failed() == {"broker": "Redis does not answer."}


def test_a_full_disk(alive: None, settings: Any) -> None:
    settings.DISK_RESERVE_BYTES = 5 * 10**17
    assert list(failed()) == ["disk"]
    assert failed()["disk"].endswith("The minimum is 888.2 PB.")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is a separate disk without free space")
def test_a_full_disk_of_backups(alive: None, settings: Any) -> None:
    assert failed() == {}
    settings.BACKUP_DIR = "/proc"
    assert list(failed()) == ["disk"]
    assert "0 bytes (backups)" in failed()["disk"]


def test_an_old_backup(alive: None, settings: Any) -> None:
    assert failed() == {}
    settings.BACKUP_MAX_AGE_HOURS = 26
    assert failed() == {"backup": "No backup was made with manage.py backup."}
    at = timezone.now() - timedelta(hours=30)
    made = Operation.objects.create(
        kind=OperationKind.BACKUP, started_at=at, finished_at=at, facts={"bytes": 3 << 20}
    )
    assert failed() == {"backup": "The last backup was made 30 h ago and has 3.0 MB."}
    Operation.objects.filter(pk=made.pk).update(started_at=timezone.now())
    assert failed() == {}
    # A backup that failed or has not ended does not count.
    made.delete()
    Operation.objects.create(kind=OperationKind.BACKUP, error="disk full", finished_at=at)
    Operation.objects.create(kind=OperationKind.BACKUP)
    assert list(failed()) == ["backup"]


def test_the_command_prints_how_to_fix_a_failure(alive: None, capsys: Any) -> None:
    call_command("health")
    Heartbeat.objects.filter(name=Pulse.SWEEPER).delete()
    with pytest.raises(CommandError) as stopped:
        call_command("health", "--json")
    assert stopped.value.returncode == 1
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["ready"] is False
    (found,) = [check for check in result["checks"] if not check["is_ok"]]
    assert found["name"] == "sweeper"
    assert found["fix"].startswith("Start a worker (celery -A config.celery worker")


def test_ages_and_sizes_in_words() -> None:
    ages = [0, 119, 120, 7199, 7200, 172_799, 172_800]
    words = [age_in_words(timedelta(seconds=age)) for age in ages]
    assert words == ["0 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 days"]
    assert size_in_words(1_500_000_000) == "1.4 GB"


@pytest.mark.django_db(transaction=True)
def test_tallies_of_several_threads_add_up() -> None:
    factories.at_once(*[lambda: add_to_tally(LEASE_EXPIRIES, 2)] * 4)
    assert Tally.objects.get().value == 8


def test_the_page_shows_failures_first(alive: None) -> None:
    factories.make_user("admin", Role.ADMIN)
    Heartbeat.objects.filter(name=Pulse.SWEEPER).update(at=Now() - HOUR)
    client = Client()
    client.login(username="admin", password=factories.PASSWORD)
    page = client.get("/operations/").content.decode()
    assert "1 of 8 checks fail" in page
    assert page.index("The sweeper of jobs last ran 60 min ago.") < page.index("The database")
    assert "No backup has been made yet." in page


def write_schedule(path: str, swept_at: datetime) -> None:
    """Write the file of a scheduler that sent the last sweep at this time."""
    scheduler = PersistentScheduler(app=app, schedule_filename=path)
    scheduler.schedule["sweep-jobs"].last_run_at = swept_at
    scheduler.close()


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_site_catches_up_after_an_hour_without_its_sweeper(
    start_worker: Callable[..., Worker], tmp_path: Any
) -> None:
    """People judge for an hour without worker and scheduler. Then both start again."""
    for pulse in Pulse:
        beat(pulse)
    Heartbeat.objects.update(at=Now() - HOUR)
    assert set(failed()) == {"scheduler", "sweeper"}
    campaign = factories.make_campaign(tmp_path, captions=2, videos=3)
    anna, ben = factories.make_annotator("anna"), factories.make_annotator("ben")
    left = factories.claim(campaign, anna, 3)
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in left]).update(
        lease_expires_at=F("lease_expires_at") - HOUR
    )
    answered = [factories.submit(held, 1).judgment for held in factories.claim(campaign, ben, 6)]
    expired = Assignment.objects.filter(state="expired").count()
    # A job was stored while the broker did not answer, and another lost its worker.
    waiting = Job.objects.create(
        kind="agreement", title="a", params={"benchmark": "tiny"}, benchmark_key="tiny"
    )
    died = Job.objects.create(
        kind="agreement",
        title="b",
        params={"benchmark": "tiny"},
        benchmark_key="tiny",
        state=JobState.RUNNING,
        attempts=1,
        lease_expires_at=timezone.now() - HOUR,
    )
    assert set(failed()) == {"scheduler", "sweeper", "jobs"}

    schedule = str(tmp_path / "schedule")
    write_schedule(schedule, swept_at=timezone.now() - HOUR)
    start_worker("--beat", "-s", schedule)
    ended = Job.objects.filter(pk__in=[waiting.pk, died.pk], state=JobState.DONE)
    assert wait_for(lambda: ended.count() == 2 and not failed())
    assert readyz()[0] == 200
    assert len({judgment.pk for judgment in answered}) == 6
    assert expired == 3  # the claims of ben ended these leases, without a sweeper
    assert Tally.objects.get(name=LEASE_EXPIRIES).value == 3
