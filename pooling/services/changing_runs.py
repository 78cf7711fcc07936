"""Changing the name and metadata of a run, withdrawing it, and restoring it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated

from django.db import transaction
from django.utils import timezone

from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import lock_row
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.limits import check_length
from hearth.shared.options import NAME_LENGTH, Entry, Option
from pooling.enums import PoolingAct, RunUploadState
from pooling.models import Run, RunUpload
from pooling.policies import check_can_change_run, check_can_restore_run, check_can_withdraw_run
from pooling.services.changing_benchmarks import Description
from pooling.services.names import check_name
from pooling.signals import run_listed

# The audit log contains the values of these fields. The others may contain texts about people, so
# the log records only that they changed.
RECORDED = ("name", "paper", "code_url")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFields:
    """What can change of a run.

    paper: The web address of the paper.
    code_url: The web address of the code.
    contact: Whom to ask about this run. Everyone who sees the run sees the contact.
    training_data: What the system was trained on, with versions.
    """

    name: Annotated[str, Option("Name", length=NAME_LENGTH, printable=True)]
    paper: Annotated[str, Option("Paper", length=500, entry=Entry.URL)] = ""
    code_url: Annotated[str, Option("Code", length=500, entry=Entry.URL)] = ""
    contact: Annotated[str, Option("Contact", length=200, printable=True)] = ""
    training_data: Annotated[Description, Option("Training data")] = ""
    description: Description = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWithdrawal:
    """Why a run is withdrawn.

    reason: Shown on the page of the run.
    """

    reason: Annotated[str, Option("Reason", length=500, printable=True)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadRefusal:
    """Why an upload is refused.

    reason: The person who uploaded the run sees the reason.
    """

    reason: Annotated[str, Option("Reason", length=500, printable=True)]


RUN_FIELDS = tuple(field.name for field in fields(RunFields))


@transaction.atomic
def change_run(*, run: Run, changes: Mapping[str, str], by: Actor) -> Run:
    """Change the name and the metadata of a run.

    changes: the new values by the names in `RUN_FIELDS`; missing fields stay. Raises `NotPermitted`
    if `by` may not change the run, `InvalidInput` for a value that is not valid, and `Conflict` if
    another run of the benchmark has the name.
    """
    check_can_change_run(by, run)
    lock_row(run.benchmark)
    run.refresh_from_db()
    changed = changed_fields(run, changes)
    before = {field: _recorded(field, getattr(run, field)) for field in changed}
    for field, text in changed.items():
        setattr(run, field, text)
    if changed:
        run.save(update_fields=list(changed))
        after = {field: _recorded(field, text) for field, text in changed.items()}
        record(PoolingAct.RUN_CHANGED, by=by, on=run, before=before, after=after)
    return run


@transaction.atomic
def withdraw_run(*, run: Run, by: Actor, reason: str = "") -> None:
    """Leave a run out of lists, leaderboards and new pools. Everything that used it stays.

    The person who uploaded a run for scoring may withdraw it, too. Raises `NotPermitted` if `by`
    may not withdraw the run, and `Conflict` if it is withdrawn already.
    """
    check_can_withdraw_run(by, run)
    check_length(Run, "withdrawal_reason", reason, "reason")
    withdrawn = Run.everything.filter(pk=run.pk, withdrawn_at=None)
    if not withdrawn.update(
        withdrawn_at=timezone.now(), withdrawn_by=account_of(by), withdrawal_reason=reason
    ):
        raise Conflict("The run is already withdrawn.")
    record(PoolingAct.RUN_WITHDRAWN, by=by, on=run)
    run.refresh_from_db()


@transaction.atomic
def restore_run(*, run: Run, by: Actor) -> None:
    """Reverse `withdraw_run`. Raises `Conflict` if the run is not withdrawn.

    A person who is not a lead can restore only a run that they withdrew themselves.

    If a lead restores a run that was uploaded and refused, the upload is no longer refused.
    """
    run.refresh_from_db()
    check_can_restore_run(by, run)
    withdrawn = Run.everything.filter(
        pk=run.pk, withdrawn_at__isnull=False, withdrawn_by=run.withdrawn_by_id
    )
    if not withdrawn.update(withdrawn_at=None, withdrawn_by=None, withdrawal_reason=""):
        raise Conflict("The run is not withdrawn.")
    refused = RunUpload.objects.filter(run=run, state=RunUploadState.REFUSED)
    refused.update(state=RunUploadState.SCORED, reason="")
    record(PoolingAct.RUN_RESTORED, by=by, on=run)
    run.refresh_from_db()
    if not run.is_private:
        run_listed.send(Run, run=run)


def changed_fields(run: Run, changes: Mapping[str, str]) -> dict[str, str]:
    """Return the values that differ from those of the run, by field, after checking them."""
    changed = {field: text for field, text in changes.items() if text != getattr(run, field)}
    _check(run, changed)
    return changed


def _check(run: Run, changed: Mapping[str, str]) -> None:
    unknown = set(changed) - set(RUN_FIELDS)
    if unknown:
        raise InvalidInput(f"A run has no field {min(unknown)!r} that can change.")
    for field, text in changed.items():
        check_length(Run, field, text, "code" if field == "code_url" else "")
    if (name := changed.get("name")) is not None:
        check_name(name, "run")
        if Run.objects.filter(benchmark=run.benchmark, name=name).exists():
            raise Conflict(f"Another run of this benchmark is called {name!r}.")


def _recorded(field: str, text: str) -> str:
    return text if field in RECORDED else "(text)" if text else ""
