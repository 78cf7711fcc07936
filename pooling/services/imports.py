"""Imports from the pages and the API, in three steps: upload files, plan, and write.

An import is written only after a person has accepted its plan.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from hearth.accounts.actors import Actor, account_of
from hearth.accounts.roles import is_lead
from hearth.jobs.models import Job
from hearth.jobs.services import enqueue_job
from hearth.shared.errors import Conflict, HearthError, InvalidInput, NotFound, Outdated
from hearth.shared.progress import Progress
from hearth.shared.uploads import delete_upload, store_upload, uploaded_file
from pooling.core.lines import SourceFile
from pooling.core.readers.benchmarks import BENCHMARKS, HEADLESS, table_among
from pooling.core.readers.benchmarks.headless import head_of
from pooling.core.readers.benchmarks.table import CSV, KEY, KNOWN_NAMES, TEXT, TSV, VIDEO
from pooling.core.readers.registry import AUTO
from pooling.models import Benchmark, BenchmarkImport
from pooling.policies import check_can_import_benchmark
from pooling.services import plans
from pooling.services.benchmarks import import_benchmark

COMPANIONS = ("companion", "second_companion")
FILES = ("captions", *COMPANIONS, "videos")


class ImportReport(TypedDict):
    """An imported benchmark in the result of a job.

    without_media: the number of videos with neither a file nor a URL.
    """

    benchmark: str
    queries: int
    videos: int
    original_positives: int
    created: bool
    changed: bool
    without_media: int
    notes: list[str]


def begin_import(
    *,
    key: str,
    uploads: Mapping[str, UploadedFile[Any] | None],
    by: Actor,
    details: plans.Details | None = None,
    columns: Mapping[str, str] | None = None,
    format: str = AUTO,
    update: bool = False,
) -> tuple[BenchmarkImport, Job]:
    """Store uploaded files, and queue the job that plans their import.

    uploads: the files by the names in `FILES`. format: the name of a reader. update: whether to
    change an existing benchmark.

    Raises `NotPermitted` if `by` may not import the benchmark, `InvalidInput` if an option has an
    error, `Conflict` if the key of a new benchmark is in use, and `NotFound` if there is no
    benchmark to update.
    """
    details = details or plans.Details()
    check_can_import_benchmark(by, key)
    plans.check_options(key, details)
    exists = Benchmark.objects.filter(key=key).exists()
    if exists and not update:
        raise Conflict(plans.taken(key))
    if update and not exists:
        raise NotFound("There is no such benchmark.")
    given = {name: file for name in FILES if (file := uploads.get(name))}
    with _stored(given) as stored, transaction.atomic():
        found = BenchmarkImport.objects.create(
            benchmark_key=key,
            is_update=update,
            name=details.name,
            licence=details.licence,
            sources={name: file.name or name for name, file in given.items()},
            columns=dict(columns or {}),
            format=format,
            created_by=account_of(by),
            **stored,
        )
        return found, _enqueue_plan(found, by)


@contextmanager
def _stored(files: Mapping[str, UploadedFile[Any]]) -> Iterator[dict[str, str]]:
    """Store files and yield their names. Delete the files after a `HearthError`."""
    stored: dict[str, str] = {}
    try:
        for name, file in files.items():
            stored[name] = store_upload(file)
        yield stored
    except HearthError:
        for upload in stored.values():
            delete_upload(upload)
        raise


def change_reading(
    *,
    found: BenchmarkImport,
    by: Actor,
    columns: Mapping[str, str] | None = None,
    format: str = "",
) -> Job:
    """Select the columns of a table of captions or the format, and plan the import again."""
    check_can_import_benchmark(by, found.benchmark_key)
    unknown = set(columns or {}) - set(KNOWN_NAMES)
    if unknown:
        raise InvalidInput(f"There is no column {min(unknown)!r}.")
    if format:
        BENCHMARKS.find(format)
    _check_is_open(found)
    with transaction.atomic():
        is_other = bool(format) and HEADLESS in (format, found.format) and format != found.format
        found.columns = {} if is_other else dict(columns or found.columns)
        found.format = format or found.format
        found.plan = None
        found.save(update_fields=["columns", "format", "plan"])
        return _enqueue_plan(found, by)


def plan_import(*, found: BenchmarkImport, by: Actor, progress: Progress) -> plans.PlanReport:
    """Read the files, and store the plan of their import."""
    files = _files(found)
    made = plans.plan_benchmark(
        key=found.benchmark_key,
        files=files,
        by=by,
        details=_details(found),
        update=found.is_update,
        progress=progress,
    )
    if found.is_update:
        files = plans.read_as_before(found.benchmark_key, files)
    found.plan, found.head = made.report(), _head(files)
    found.format, found.columns = files.expected, dict(files.columns)
    found.save(update_fields=["plan", "head", "format", "columns"])
    return made.report()


def accept_import(*, found: BenchmarkImport, plan: str, by: Actor) -> Job:
    """Queue the job that writes the import whose plan has this hash.

    Raises `Outdated` if the plan has changed, and `Conflict` if the plan has errors or has
    been imported.
    """
    check_can_import_benchmark(by, found.benchmark_key)
    _check_is_open(found)
    if found.plan is None or found.plan["plan"] != plan:
        raise Outdated("The plan has changed. Read the new plan, then accept it.")
    if found.plan["refused"]:
        raise Conflict("The plan has errors. Correct the files and upload them again.")
    return enqueue_job(
        kind="import_benchmark",
        title=f"Import {found.name or found.benchmark_key}",
        params={"import": str(found.pk), "plan": plan},
        benchmark_key=found.benchmark_key,
        by=by,
    )


def write_import(
    *, found: BenchmarkImport, plan: str, by: Actor, progress: Progress
) -> ImportReport:
    """Import the files as planned. If they are already imported, a restarted job changes nothing.

    Raises what `import_benchmark` raises.
    """
    if found.imported_at is not None:
        return _report(Benchmark.objects.get(key=found.benchmark_key), found, ())
    done = import_benchmark(
        key=found.benchmark_key,
        files=_files(found),
        by=by,
        details=_details(found),
        update=found.is_update,
        plan=plan,
        accepted=found,
        progress=progress,
    )
    _delete_files(found)
    return _report(done.benchmark, found, done.notes)


@transaction.atomic
def _delete_files(found: BenchmarkImport) -> None:
    for name in FILES:
        stored = getattr(found, name).name
        transaction.on_commit(partial(delete_upload, stored))
        setattr(found, name, "")
    found.save(update_fields=FILES)


def _report(benchmark: Benchmark, found: BenchmarkImport, notes: tuple[str, ...]) -> ImportReport:
    assert found.plan is not None  # noqa: S101 - it has been accepted
    return {
        "benchmark": benchmark.key,
        "queries": benchmark.n_queries,
        "videos": benchmark.n_videos,
        "original_positives": found.plan["original_positives"],
        "created": not found.is_update,
        "changed": found.is_update and plans.has_changes(found.plan),
        "without_media": benchmark.videos.filter(file="", url="").count(),
        "notes": list(notes),
    }


def _check_is_open(found: BenchmarkImport) -> None:
    if found.imported_at is not None:
        raise Conflict("This plan has already been imported.")


def _enqueue_plan(found: BenchmarkImport, by: Actor) -> Job:
    # The pages of jobs link to the benchmark, which may not exist yet.
    is_hidden = not found.is_update and is_lead(by)
    return enqueue_job(
        kind="plan_import",
        title=f"Plan the import of {found.name or found.benchmark_key}",
        params={"import": str(found.pk), "columns": found.columns, "request": uuid.uuid4().hex},
        benchmark_key="" if is_hidden else found.benchmark_key,
        by=by,
    )


def _details(found: BenchmarkImport) -> plans.Details:
    return plans.Details(name=found.name, licence=found.licence)


def _files(found: BenchmarkImport) -> plans.ImportFiles:
    files = {name: _file(found, name) for name in FILES if getattr(found, name)}
    return plans.ImportFiles(
        files["captions"],
        [files[name] for name in COMPANIONS if name in files],
        files.get("videos"),
        expected=found.format,
        columns=found.columns,
    )


def _file(found: BenchmarkImport, name: str) -> SourceFile:
    stored = getattr(found, name).name
    return SourceFile(Path(uploaded_file(stored)), found.sources[name])


def _head(files: plans.ImportFiles) -> dict[str, Any] | None:
    """Return the columns and the first rows of the table among the files."""
    file = table_among(files.of_captions, files.expected)
    if file is None:
        return None
    head = head_of(file, files.expected)
    named = head.named(files.columns)
    # The plan refuses a table in which only the column of ids has an unknown name, and names it.
    if {*named} == {TEXT, VIDEO} and KEY not in files.columns:
        named[KEY] = head.other_ids([*named.values()]) or ""
    return {
        "source": file.source,
        "columns": list(head.columns),
        "rows": [list(row) for row in head.rows],
        "named": named,
        "has_lines": head.format in (CSV, TSV, HEADLESS),
    }
