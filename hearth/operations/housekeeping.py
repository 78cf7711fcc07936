"""Housekeeping: remove rows and files that are no longer needed.

It runs every night. An app registers a step for its own rows with `@housekeeping_step` in
`tasks.py`. A step can also store files that are missing, such as the arrays of old label sets.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypedDict

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.files.storage import FileSystemStorage, Storage, storages
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from hearth.accounts.actors import Actor
from hearth.accounts.policies import check_can_administer
from hearth.idempotency.services import expired_requests
from hearth.jobs.models import UNFINISHED, Job
from hearth.jobs.registry import load_tasks
from hearth.operations.backup.contents import named_files
from hearth.operations.backup.databases import run_query
from hearth.operations.models import Operation, OperationKind
from hearth.operations.records import recorded
from hearth.shared.bulk import long_transaction
from hearth.webhooks.services import old_deliveries

ROWS_PER_TRANSACTION = 1000
# Files that are younger than these ages are kept. A file may be written some time before the row
# that names it, and after a restore, the rows may be older than the files.
UPLOAD_AGE = timedelta(days=1)
FILE_AGE = timedelta(days=7)
KEEP_OPERATIONS = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Done:
    """The number and size of what a step removed or stored, or would remove or store."""

    number: int
    bytes: int = 0


class StepFigures(TypedDict):
    """The figures of one step, as the page shows them."""

    step: str
    title: str
    removed: int
    bytes: int


# Takes `dry_run`. If it is true, the function only counts.
StepFunction = Callable[[bool], Done]
_steps: dict[str, tuple[str, StepFunction]] = {}


def housekeeping_step(name: str, title: str) -> Callable[[StepFunction], StepFunction]:
    """Register the decorated function as a step. title: what it removes or stores, as text."""

    def register(function: StepFunction) -> StepFunction:
        if name in _steps:
            raise ValueError(f"the housekeeping step {name!r} is registered twice")
        _steps[name] = (title, function)
        return function

    return register


def run_housekeeping(*, by: Actor, dry_run: bool = False) -> list[StepFigures]:
    """Run all steps. Return what each did, or would do if `dry_run` is set."""
    check_can_administer(by)
    load_tasks()
    if dry_run:
        return _run_steps(_steps, dry_run=True)
    with recorded(OperationKind.HOUSEKEEPING) as operation:
        figures = _run_steps(_steps, dry_run=False)
        operation.facts = {"steps": figures}
    return figures


def _run_steps(
    steps: Mapping[str, tuple[str, StepFunction]], *, dry_run: bool
) -> list[StepFigures]:
    """Run all steps. An error of a disk or bucket is raised after the other steps have run."""
    figures, errors = [], []
    for name, (title, step) in steps.items():
        try:
            removed = step(dry_run)
        except OSError as error:
            errors.append(error)
            continue
        figures.append(
            StepFigures(step=name, title=title, removed=removed.number, bytes=removed.bytes)
        )
    if errors:
        raise errors[0]
    return figures


def remove_rows(rows: QuerySet[Any], dry_run: bool) -> Done:
    """Delete the rows in short transactions, so that no one waits for them."""
    if dry_run:
        return Done(rows.count())
    number = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:ROWS_PER_TRANSACTION]):
        rows.model._base_manager.filter(pk__in=keys).delete()
        number += len(keys)
    return Done(number)


def remove_files(paths: Iterator[Path], dry_run: bool) -> Done:
    number = size = 0
    for path in paths:
        number, size = number + 1, size + path.stat().st_size
        if not dry_run:
            path.unlink(missing_ok=True)
    return Done(number, size)


# --- The steps of this app ----------------------------------------------------------------------


@housekeeping_step("sessions", "Expired sessions")
def remove_sessions(dry_run: bool) -> Done:
    return remove_rows(Session.objects.filter(expire_date__lt=Now()), dry_run)


@housekeeping_step("devices", "Devices whose session has ended")
def remove_devices(dry_run: bool) -> Done:
    sessions = Session.objects.filter(expire_date__gte=Now())
    ended = UserSession.objects.exclude(session_key__in=sessions.values("session_key"))
    return remove_rows(ended, dry_run)


@housekeeping_step("jobs", "Jobs that finished long ago")
def remove_jobs(dry_run: bool) -> Done:
    oldest = timezone.now() - timedelta(days=settings.KEEP_JOBS_DAYS)
    done = Job.objects.exclude(state__in=UNFINISHED).filter(finished_at__lt=oldest)
    return remove_rows(done, dry_run)


@housekeeping_step("keyed_requests", "Responses to requests with an idempotency key")
def remove_keyed_requests(dry_run: bool) -> Done:
    return remove_rows(expired_requests(), dry_run)


@housekeeping_step("deliveries", "Old deliveries of webhooks")
def remove_deliveries(dry_run: bool) -> Done:
    return remove_rows(old_deliveries(), dry_run)


@housekeeping_step("operations", "Records of old backups and housekeeping")
def remove_operations(dry_run: bool) -> Done:
    oldest = timezone.now() - KEEP_OPERATIONS
    return remove_rows(Operation.objects.filter(started_at__lt=oldest), dry_run)


@housekeeping_step("uploads", "Uploads that no job will read")
def remove_uploads(dry_run: bool) -> Done:
    return remove_unnamed_files("uploads", UPLOAD_AGE, dry_run)


@housekeeping_step("media", "Media files that belong to no video and no guidelines")
def remove_media(dry_run: bool) -> Done:
    return remove_unnamed_files("default", FILE_AGE, dry_run)


@housekeeping_step("proxies", "Files that belong to no proxy")
def remove_proxies(dry_run: bool) -> Done:
    return remove_unnamed_files("proxies", FILE_AGE, dry_run)


@housekeeping_step("matrices", "Files of matrices that belong to no run")
def remove_matrices(dry_run: bool) -> Done:
    return remove_unnamed_files("matrices", FILE_AGE, dry_run)


def remove_unnamed_files(alias: str, age: timedelta, dry_run: bool) -> Done:
    """Remove the files of a storage that are older than `age` and that no row names.

    Files of label sets are never removed, because they are published.
    """
    storage = storages[alias]
    stored = list(_names_below(storage, ""))
    # The rows are read after the storage, so that a file whose row was stored in between stays.
    with long_transaction():
        named = {file.name for file in named_files(run_query) if file.storage == alias}
    number = size = 0
    for name in stored:
        # Another process can remove the file at the same time.
        with suppress(FileNotFoundError):
            if name in named or storage.get_modified_time(name) > timezone.now() - age:
                continue
            number, size = number + 1, size + storage.size(name)
            if not dry_run:
                storage.delete(name)
    return Done(number, size)


def _names_below(storage: Storage, folder: str) -> Iterator[str]:
    try:
        folders, names = storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from (posixpath.join(folder, name) for name in names)
    for inner in folders:
        place = posixpath.join(folder, inner)
        # A link can lead to files of other programs.
        if not (isinstance(storage, FileSystemStorage) and Path(storage.path(place)).is_symlink()):
            yield from _names_below(storage, place)
