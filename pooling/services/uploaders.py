"""People without a role who ask the leads of a benchmark to confirm them for uploads."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from hearth.accounts.actors import Actor
from hearth.accounts.models import User
from hearth.audit.services import record
from hearth.shared.errors import Conflict
from pooling.enums import PoolingAct
from pooling.models import Benchmark, Uploader
from pooling.policies import (
    check_can_confirm_uploader,
    check_can_upload_for_scoring,
    is_confirmed_for,
)


def ask_for_confirmation(*, benchmark: Benchmark, by: User) -> Uploader:
    """Ask the leads of a public benchmark to confirm `by`. Asking again has no effect.

    Raises `NotPermitted` if the benchmark is not public or `by` may not see its public page, and
    `Conflict` if the person is confirmed.
    """
    check_can_upload_for_scoring(by, benchmark)
    if is_confirmed_for(by, benchmark.key):
        raise Conflict("Your account is already confirmed. You can upload runs.")
    return Uploader.objects.get_or_create(benchmark=benchmark, person=by)[0]


@transaction.atomic
def confirm_uploader(*, uploader: Uploader, by: Actor) -> None:
    """Let a person upload runs to the benchmark.

    Raises `Conflict` if the person is already confirmed, or was removed from the list.
    """
    check_can_confirm_uploader(by, uploader.benchmark)
    waiting = Uploader.objects.filter(pk=uploader.pk, confirmed_at=None)
    if not waiting.update(confirmed_at=timezone.now()):
        raise Conflict("This person is already confirmed, or was removed from the list.")
    after = {"benchmark": uploader.benchmark.key}
    record(PoolingAct.UPLOADER_CONFIRMED, by=by, on=uploader.person, after=after)


@transaction.atomic
def remove_uploader(*, uploader: Uploader, by: Actor) -> None:
    """Remove a request or a confirmation. The person may ask again."""
    check_can_confirm_uploader(by, uploader.benchmark)
    deleted, _ = Uploader.objects.filter(pk=uploader.pk).delete()
    if not deleted:
        raise Conflict("This person was already removed from the list.")
    before = {"benchmark": uploader.benchmark.key}
    record(PoolingAct.UPLOADER_REMOVED, by=by, on=uploader.person, before=before)
