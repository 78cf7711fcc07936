"""Writes to the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import connection, models
from django.db.models import Q, Value
from django.db.models.functions import Now
from django.db.transaction import TransactionManagementError, atomic

from hearth.audit.models import AuditAddress, AuditEntry
from hearth.audit.origins import current_origin

if TYPE_CHECKING:
    from hearth.accounts.actors import Actor

Facts = Mapping[str, Any]


def record(
    act: models.TextChoices,
    *,
    by: Actor | None,
    on: models.Model | None = None,
    before: Facts | None = None,
    after: Facts | None = None,
) -> AuditEntry:
    """Add an act to the audit log, in the transaction of the change.

    by: None for a visitor. before, after: the values that changed, as JSON, without texts about
    people. They are None if there are no such values, or if the object itself shows them.

    Raises `TransactionManagementError` outside a transaction, because the change could then be
    stored without its entry.
    """
    if not connection.in_atomic_block:
        raise TransactionManagementError(
            "An act must be recorded in the transaction of its change."
        )
    origin = current_origin()
    entry = AuditEntry.objects.create(
        act=act.value,
        by_id=by.pk if by is not None else None,
        object_type=on._meta.label_lower if on is not None else "",
        object_id=str(on.pk) if on is not None else "",
        before=before,
        after=after,
        interface=origin.interface,
        request_id=origin.request_id,
    )
    if origin.address:
        AuditAddress.objects.create(entry=entry, address=origin.address)
    return entry


@atomic
def record_download(act: models.TextChoices, *, by: Actor, on: models.Model | None = None) -> None:
    """Record a download. The caller has checked the permission."""
    record(act, by=by, on=on)


def delete_addresses(*, person: models.Model) -> int:
    """Delete the addresses of all acts by or on a person. Return their number.

    The service that erases a person calls this in its transaction, after it has checked the policy.
    """
    on_them = Q(entry__object_type=person._meta.label_lower, entry__object_id=str(person.pk))
    return AuditAddress.objects.filter(Q(entry__by=person.pk) | on_them).delete()[0]


def delete_old_addresses() -> int:
    """Delete the addresses older than `AUDIT_ADDRESS_DAYS`. Return their number."""
    kept = timedelta(days=settings.AUDIT_ADDRESS_DAYS)
    return AuditAddress.objects.filter(entry__at__lt=Now() - Value(kept)).delete()[0]
