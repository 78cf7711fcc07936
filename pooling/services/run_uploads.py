"""Runs that people with any account upload to a public benchmark for scoring.

Each upload is either scored, or refused with a reason. Its run is private until the person
publishes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, timedelta
from pathlib import Path

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from hearth.accounts.actors import OPERATOR, Actor, account_of
from hearth.accounts.models import User
from hearth.audit.services import record
from hearth.jobs.models import UNFINISHED, Job
from hearth.jobs.services import enqueue_job
from hearth.shared.bulk import lock_row, long_transaction
from hearth.shared.errors import Conflict, HearthError, InvalidInput, ProblemReport
from hearth.shared.limits import check_length
from hearth.shared.progress import Progress
from hearth.shared.uploads import stored_with
from hearth.shared.words import counted
from pooling import policies
from pooling.core.direction import Direction
from pooling.core.lines import SourceFile
from pooling.enums import PoolingAct, RunUploadState
from pooling.models import Benchmark, PublicPage, Run, RunUpload
from pooling.services.changing_runs import RECORDED, changed_fields
from pooling.services.reading_runs import ReadRun, reading_run
from pooling.services.runs import check_run_options, store_run
from pooling.signals import private_run_stored, run_listed

KIND = "score_upload"
# Files with errors, and files that the server could not score, do not count toward the limit of
# runs. They have this limit per person, benchmark and day.
ERRORS_PER_DAY = 20
# A process that stores an upload queues its job within this time, or has died.
QUEUED_WITHIN = timedelta(minutes=10)
SERVER_FAILED = (
    "The server could not score this file. It does not count toward your limit, so upload it again."
)


def upload_run(
    *,
    benchmark: Benchmark,
    file: UploadedFile[bytes],
    system: str,
    by: User,
    name: str = "",
    format: str = "auto",
    depth: int | None = None,
    direction: str = Direction.TEXT_TO_VIDEO,
    keys: UploadedFile[bytes] | None = None,
) -> RunUpload:
    """Store a file, and queue the job that scores it as a private run of one direction.

    keys: a JSON file with the keys of the rows and columns of a matrix.

    Raises `NotPermitted` if `by` may not upload runs to the benchmark or is not confirmed,
    `InvalidInput` if an option has an error, and `Conflict` if the person has reached a daily
    limit.
    """
    policies.check_can_upload_for_scoring(by, benchmark)
    policies.check_is_confirmed_for(by, benchmark)
    if direction not in tuple(Direction):
        raise InvalidInput(f"The direction must be one of {', '.join(Direction)}.")
    name = check_run_options(system, name, depth, Direction(direction))
    source = (file.name or "")[: RunUpload._meta.get_field("source").max_length]
    made = RunUpload(benchmark=benchmark, created_by=by, source=source, name=name)
    # Take the slot first, so that requests beyond the limit store no files.
    _take_slot(made, by)
    params = {
        "run_upload": str(made.pk),
        "system": system,
        "format": format,
        "depth": depth,
        "direction": str(direction),
    }
    try:
        with stored_with(file, {"keys": keys} if keys else {}) as stored:
            job = enqueue_job(
                kind=KIND,
                # The title names neither the person nor the run, because researchers see it.
                title=f"Score a run that was uploaded to {benchmark.name}",
                params={**params, **stored},
                benchmark_key=benchmark.key,
                by=OPERATOR,
            )
    except HearthError:
        made.delete()
        raise
    RunUpload.objects.filter(pk=made.pk).update(job=job.pk)
    made.refresh_from_db()
    return made


def _take_slot(made: RunUpload, by: User) -> None:
    """Store the upload in a free slot of the day.

    If two requests choose the same slot, the constraint refuses one, which tries the next slot.
    """
    per_day = PublicPage.objects.get(benchmark=made.benchmark).runs_per_day
    made.day = timezone.now().astimezone(UTC).date()
    today = RunUpload.objects.filter(benchmark=made.benchmark, created_by=by, day=made.day)
    _check_errors(today.filter(slot=None).count())
    for _ in range(per_day + 1):
        taken = set(today.values_list("slot", flat=True))
        made.slot = next((slot for slot in range(per_day) if slot not in taken), None)
        if made.slot is None:
            break
        try:
            with transaction.atomic():
                made.save(force_insert=True)
                record(PoolingAct.RUN_UPLOADED, by=by, on=made)
        except IntegrityError:
            continue
        return
    raise Conflict(
        f"You have uploaded {counted(per_day, 'run')} to this benchmark today, which is the limit. "
        "You can upload again after midnight UTC."
    )


def _check_errors(number: int) -> None:
    if number >= ERRORS_PER_DAY:
        raise Conflict(
            f"{number} of your files were refused today. Correct the file, and upload it again "
            "after midnight UTC."
        )


def score_upload(
    *,
    upload: RunUpload,
    path: Path,
    source: str,
    system: str,
    format: str,
    depth: int | None,
    progress: Progress,
    direction: Direction = Direction.TEXT_TO_VIDEO,
    keys: SourceFile | None = None,
) -> RunUploadState:
    """Store the file as a private run and score it. Return the final state.

    If the job starts again because its worker died, it uses the run that it has already stored.
    If the file has errors, the upload is refused. Other errors are raised, and `settle_run_uploads`
    later refuses the upload.
    """
    try:
        if upload.run is None:
            with reading_run(
                upload.benchmark,
                path,
                direction=direction,
                format=format,
                depth=depth,
                source=source,
                keys=keys,
                progress=progress,
            ) as read:
                progress(0, None, "storing the run")
                _store_once(upload, read, system, depth)
        private_run_stored.send(Run, run=upload.run, progress=progress)
    except InvalidInput as error:
        _refuse(upload, str(error), error.reports())
    waiting = RunUpload.objects.filter(pk=upload.pk, state=RunUploadState.WAITING)
    waiting.filter(run__isnull=False).update(state=RunUploadState.SCORED)
    upload.refresh_from_db()
    return RunUploadState(upload.state)


def _store_once(upload: RunUpload, read: ReadRun, system: str, depth: int | None) -> None:
    """Store the private run, unless another attempt of the same job has stored it."""
    with long_transaction():
        lock_row(upload.benchmark)
        upload.refresh_from_db(fields=["run"])
        if upload.run is None:
            read.check_captions(upload.benchmark)
            upload.run = store_run(
                upload.benchmark,
                read,
                system=system,
                name=upload.name,
                depth=depth,
                by=upload.created_by,
                is_private=True,
            )
            upload.save(update_fields=["run"])


def _refuse(upload: RunUpload, reason: str, problems: list[ProblemReport]) -> int:
    """Refuse a waiting upload, and free its slot, because no score was computed."""
    waiting = RunUpload.objects.filter(pk=upload.pk, state=RunUploadState.WAITING)
    return waiting.update(state=RunUploadState.REFUSED, reason=reason, problems=problems, slot=None)


def settle_run_uploads() -> int:
    """Refuse waiting uploads whose job has ended without a result. Return their number.

    The job failed, was cancelled or deleted, or was never stored because the process died.
    """
    refused = 0
    old = timezone.now() - QUEUED_WITHIN
    for upload in RunUpload.objects.filter(state=RunUploadState.WAITING):
        if upload.job is None and upload.created_at > old:
            continue
        job = Job.objects.filter(pk=upload.job).first() if upload.job else None
        if job is None or job.state not in UNFINISHED:
            refused += _refuse(upload, _reason(job), [])
    return refused


def _reason(job: Job | None) -> str:
    return f"{SERVER_FAILED} {job.error}".rstrip() if job else SERVER_FAILED


@transaction.atomic
def publish_run(*, upload: RunUpload, changes: Mapping[str, str], by: Actor) -> Run:
    """Publish the run of an upload: everyone who sees the runs of the benchmark then sees it.

    changes: new metadata, as in `change_run`. Raises `NotPermitted` for another person's upload,
    and `Conflict` if the run is unscored, is withdrawn or is already published, or if another run
    of the benchmark has the same name or content.
    """
    policies.check_can_publish_run(by, upload)
    lock_row(upload.benchmark)
    upload.refresh_from_db()
    run = _private_run(upload)
    before = {field: getattr(run, field) for field in RECORDED}
    for field, text in changed_fields(run, changes).items():
        setattr(run, field, text)
    _check_is_new(run)
    # Now, other people can see the run. `created_at` is set again, because outdated analyses are
    # computed again a fixed time after the `created_at` of the newest run.
    run.is_private, run.created_at = False, timezone.now()
    run.save()
    after = {field: getattr(run, field) for field in RECORDED}
    record(PoolingAct.RUN_PUBLISHED, by=by, on=run, before=before, after=after)
    run_listed.send(Run, run=run)
    return run


def _private_run(upload: RunUpload) -> Run:
    run = upload.run
    if run is None or upload.state != RunUploadState.SCORED:
        raise Conflict("Only a scored run can be published.")
    if run.is_withdrawn:
        raise Conflict("The run is withdrawn. Restore it to publish it.")
    if not run.is_private:
        raise Conflict("The run is already published.")
    return run


def _check_is_new(run: Run) -> None:
    others = Run.objects.filter(benchmark=run.benchmark)
    same = others.filter(
        sha256=run.sha256, depth_limit=run.depth_limit, direction=run.direction
    ).first()
    if same is not None:
        raise Conflict(f"The same file is already published as run {same.name}.")
    if others.filter(name=run.name).exists():
        raise Conflict(f"Another run of this benchmark is called {run.name!r}.")


@transaction.atomic
def refuse_upload(*, upload: RunUpload, reason: str, by: Actor) -> None:
    """Refuse an upload for a reason that its sender sees. Its run is withdrawn.

    The upload still counts toward the limit of the day. Raises `NotPermitted` if `by` does not lead
    the benchmark, and `Conflict` if the upload is already refused.
    """
    policies.check_can_refuse_upload(by, upload)
    if not reason.strip():
        raise InvalidInput("State the reason. The person who uploaded the run sees this reason.")
    check_length(Run, "withdrawal_reason", reason, "reason")
    lock_row(upload.benchmark)
    open_uploads = RunUpload.objects.filter(pk=upload.pk).exclude(state=RunUploadState.REFUSED)
    if not open_uploads.update(state=RunUploadState.REFUSED, reason=reason):
        raise Conflict("This upload is already refused.")
    upload.refresh_from_db()
    runs = Run.everything.filter(upload=upload, withdrawn_at=None)
    runs.update(withdrawn_at=timezone.now(), withdrawn_by=account_of(by), withdrawal_reason=reason)
    record(PoolingAct.RUN_UPLOAD_REFUSED, by=by, on=upload, after={"reason": reason})
