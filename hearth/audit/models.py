"""The entries of the audit log, and the addresses that acts came from."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from hearth.audit.acts import VALUE_LENGTH
from hearth.audit.origins import REQUEST_ID_LENGTH, Interface


class AuditEntry(models.Model):
    """One administrative act. Triggers in the database refuse to change or delete a row.

    A row therefore contains no personal data: it refers to people only by the primary keys of
    their accounts, and `before` and `after` contain states, numbers and names of things, but no
    texts about people. `by` is null for the operator of the machine and for visitors.
    """

    at = models.DateTimeField(default=timezone.now, db_index=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+", editable=False
    )
    act = models.CharField(max_length=VALUE_LENGTH)
    object_type = models.CharField(
        max_length=60, blank=True, help_text="name of the model, such as pooling.run"
    )
    object_id = models.CharField(max_length=40, blank=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    interface = models.CharField(max_length=10, choices=Interface)
    request_id = models.CharField(
        max_length=REQUEST_ID_LENGTH, blank=True, help_text="id of the request or of the job"
    )

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["act", "-id"], name="audit_act"),
            models.Index(fields=["object_type", "object_id", "-id"], name="audit_object"),
        ]

    def __str__(self) -> str:
        return f"audit entry {self.pk}"


class AuditAddress(models.Model):
    """The network address that an act came from.

    Addresses are personal data, so they are not part of the entry. They are deleted after
    `AUDIT_ADDRESS_DAYS`, and when the person is erased. They never change.
    """

    entry = models.OneToOneField(
        AuditEntry, models.PROTECT, primary_key=True, related_name="address"
    )
    address = models.GenericIPAddressField()

    def __str__(self) -> str:
        return self.address
