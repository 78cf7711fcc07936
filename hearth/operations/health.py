"""Checks of the site. Each returns a finding as text, with the fix of a problem."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.db.models import Count, Min, Q
from django.db.models.functions import Now
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from hearth.jobs.models import Job, JobState
from hearth.operations.models import Heartbeat, OperationKind, Pulse
from hearth.operations.records import latest
from hearth.shared.migrated import TOO_OLD, compare_database
from hearth.shared.words import counted

# The scheduler starts the sweeper every twenty seconds.
SILENT_AFTER = timedelta(minutes=3)
# A job whose lease ended this long ago should have been swept.
SWEPT_AFTER = timedelta(minutes=3)
BROKER_SECONDS = 2
# Each process computes the findings for monitors at most once in this time, so that many requests
# cannot occupy the server.
FRESH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. text: what was found. fix: what to do; empty if it passed."""

    name: str
    is_ok: bool
    text: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the site. needs_database: whether it reads tables."""

    run: Callable[[], Finding]
    needs_database: bool = True


def check_health(only: Iterable[str] = ()) -> list[Finding]:
    """Run all checks, or those whose names are in `only`. Raises `KeyError` for unknown names.

    If the database does not answer, checks that need it are not run and not listed.
    """
    chosen = {name: CHECKS[name] for name in only} or CHECKS
    findings = []
    database = check_database()
    for name, check in chosen.items():
        if name == "database":
            findings.append(database)
        elif database.is_ok or not check.needs_database:
            findings.append(_run(name, check))
    if "database" not in chosen and not database.is_ok:
        findings.insert(0, database)
    return findings


def _run(name: str, check: Check) -> Finding:
    try:
        return check.run()
    except DatabaseError as error:
        return Finding(
            name,
            False,
            f"The database reported an error ({type(error).__name__}).",
            "Look at the check of the migrations and at the log of the web process.",
        )


_lock = threading.Lock()
_recent: dict[tuple[str, ...], tuple[float, list[Finding]]] = {}


def recent_health(only: tuple[str, ...] = ()) -> list[Finding]:
    """Return findings that are at most `FRESH_SECONDS` old. Only one thread checks at a time."""
    with _lock:
        at, findings = _recent.get(only, (0.0, []))
        if not findings or time.monotonic() - at > FRESH_SECONDS:
            findings = check_health(only)
            _recent[only] = time.monotonic(), findings
    return findings


# --- The checks ---------------------------------------------------------------------------------


def check_database() -> Finding:
    began = time.perf_counter()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return Finding(
            "database",
            False,
            "The database does not answer.",
            "Start the database server, and check DATABASE_URL and its password.",
        )
    milliseconds = 1000 * (time.perf_counter() - began)
    return Finding("database", True, f"The database answers in {milliseconds:.0f} ms.")


def check_migrations() -> Finding:
    found = compare_database(connection)
    if found.is_too_old:
        return Finding("migrations", False, TOO_OLD, "See Upgrade in docs/operations.md.")
    if found.missing:
        names = ", ".join(found.missing[:3])
        return Finding(
            "migrations",
            False,
            f"Not applied: {counted(len(found.missing), 'migration')} of this version ({names}).",
            "Run manage.py migrate.",
        )
    if found.newer:
        return Finding(
            "migrations",
            False,
            f"The database has the migration {found.newer[0]} of a newer version.",
            "Install that version, or restore a backup that is older than this migration.",
        )
    return Finding("migrations", True, "The database matches this version.")


def check_broker() -> Finding:
    fix = "Start Redis, and check REDIS_URL. People can still judge. Jobs wait until Redis answers."
    if not settings.REDIS_URL:
        folder = settings.QUEUE_DIR
        if not folder.exists() or os.access(folder, os.W_OK):
            return Finding("broker", True, "The queue is a folder in HEARTH_HOME.")
        return Finding(
            "broker",
            False,
            f"{folder} is not writable.",
            "Let the account that runs Hearth own this folder (chown).",
        )
    client = redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=BROKER_SECONDS,
        socket_connect_timeout=BROKER_SECONDS,
        retry=None,
    )
    try:
        with client:
            client.ping()
    except (redis.RedisError, OSError):
        return Finding("broker", False, "Redis does not answer.", fix)
    return Finding("broker", True, "Redis answers.")


def check_scheduler() -> Finding:
    return _check_pulse(
        Pulse.SCHEDULER,
        "Start the scheduler (celery -A config.celery beat, the service beat). "
        "It then handles expired leases and waiting jobs.",
    )


def check_sweeper() -> Finding:
    return _check_pulse(
        Pulse.SWEEPER,
        "Start a worker (celery -A config.celery worker, the service worker). If one runs, check "
        "the scheduler and the broker. Nothing is lost: jobs wait in the database.",
    )


def _check_pulse(pulse: Pulse, fix: str) -> Finding:
    row = Heartbeat.objects.annotate(now=Now()).filter(name=pulse).first()
    if row is None:
        return Finding(pulse.value, False, f"The {pulse.label.lower()} has never run.", fix)
    age: timedelta = row.now - row.at
    if age > SILENT_AFTER:
        text = f"The {pulse.label.lower()} last ran {age_in_words(age)} ago."
        return Finding(pulse.value, False, text, fix)
    return Finding(pulse.value, True, f"The {pulse.label.lower()} ran {age_in_words(age)} ago.")


@dataclass(frozen=True, slots=True)
class Queue:
    """Numbers of unfinished jobs. oldest: when the oldest queued job was requested."""

    queued: int
    running: int
    overdue: int
    oldest: datetime | None


def measure_queue() -> Queue:
    queued, running = Q(state=JobState.QUEUED), Q(state=JobState.RUNNING)
    overdue = running & Q(lease_expires_at__lt=Now() - SWEPT_AFTER)
    found = Job.objects.filter(queued | running).aggregate(
        queued=Count("pk", filter=queued),
        running=Count("pk", filter=running),
        overdue=Count("pk", filter=overdue),
        oldest=Min("created_at", filter=queued),
    )
    return Queue(**found)


def check_jobs() -> Finding:
    queue = measure_queue()
    text = f"{counted(queue.queued, 'job')} queued, {queue.running:,} running"
    if not queue.overdue:
        return Finding("jobs", True, f"{text}.")
    return Finding(
        "jobs",
        False,
        f"{text}. Jobs that count as running but lost their worker more than "
        f"{age_in_words(SWEPT_AFTER)} ago: {queue.overdue:,}.",
        "Start a worker. It runs such jobs again.",
    )


def measured_folders() -> dict[str, Path]:
    """Return the folders that Hearth writes to, by name."""
    return {
        "home": Path(settings.HEARTH_HOME),
        "media": Path(settings.MEDIA_ROOT),
        "label sets": Path(settings.LABEL_SET_ROOT),
        "proxies": Path(settings.PROXY_ROOT),
        "matrices": Path(settings.MATRIX_ROOT),
        "uploads": Path(settings.UPLOAD_ROOT),
        "backups": Path(settings.BACKUP_DIR),
        "temporary files": Path(tempfile.gettempdir()),
    }


def disks() -> dict[str, shutil._ntuple_diskusage]:
    """Return the size and free space of each file system, by the name of one of its folders."""
    found, seen = {}, set()
    for name, folder in measured_folders().items():
        if not folder.exists() or (device := folder.stat().st_dev) in seen:
            continue
        seen.add(device)
        found[name] = shutil.disk_usage(folder)
    return found


def check_disk() -> Finding:
    free = {name: usage.free for name, usage in disks().items()}
    # Twice the reserve leaves an operator time to act before uploads are refused.
    minimum = 2 * settings.DISK_RESERVE_BYTES
    text = ", ".join(f"{size_in_words(size)} ({name})" for name, size in free.items())
    # The folder of temporary files may be smaller, because it may be in memory.
    full = [name for name, size in free.items() if size < minimum and name != "temporary files"]
    if not full:
        return Finding("disk", True, f"Free: {text}.")
    return Finding(
        "disk",
        False,
        f"Free: {text}. The minimum is {size_in_words(minimum)}.",
        "Delete old backups, run manage.py housekeeping, or enlarge the disk.",
    )


def check_bucket() -> Finding:
    storage: Any = default_storage
    try:
        storage.check()
    except OSError as error:
        return Finding(
            "bucket",
            False,
            f"The bucket {settings.MEDIA_BUCKET} cannot be used. {error.strerror}",
            "Check MEDIA_BUCKET, MEDIA_BUCKET_ENDPOINT, MEDIA_BUCKET_REGION and the credentials.",
        )
    return Finding("bucket", True, f"The bucket {settings.MEDIA_BUCKET} answers.")


def check_backup() -> Finding:
    last, limit = latest(OperationKind.BACKUP), settings.BACKUP_MAX_AGE_HOURS
    age = None if last is None else timezone.now() - last.started_at
    text = "No backup was made with manage.py backup."
    if last is not None and age is not None:
        size = size_in_words(last.facts.get("bytes", 0))
        text = f"The last backup was made {age_in_words(age)} ago and has {size}."
    if limit and (age is None or age > timedelta(hours=limit)):
        fix = "Run manage.py backup, and look at the log of the service backup."
        return Finding("backup", False, text, fix)
    return Finding("backup", True, text)


def age_in_words(age: timedelta) -> str:
    """Return an age in the largest unit in which it is at least 2, such as `5 min` or `2 days`."""
    seconds = max(0, int(age.total_seconds()))
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def size_in_words(size: int) -> str:
    """Return a size such as `1.2 GB`, with an ordinary space."""
    return filesizeformat(size).replace("\xa0", " ")


CHECKS = {
    "database": Check(check_database, needs_database=False),
    "migrations": Check(check_migrations),
    "broker": Check(check_broker, needs_database=False),
    "scheduler": Check(check_scheduler),
    "sweeper": Check(check_sweeper),
    "jobs": Check(check_jobs),
    "disk": Check(check_disk, needs_database=False),
    "backup": Check(check_backup),
}
if settings.MEDIA_BUCKET:
    CHECKS["bucket"] = Check(check_bucket, needs_database=False)
