"""The administrative acts on the whole site."""

from __future__ import annotations

from django.db import models

from hearth.audit.acts import register_acts


@register_acts
class OperationAct(models.TextChoices):
    BACKUP_MADE = "backup_made", "Backup made"
    BACKUP_RESTORED = "backup_restored", "Backup restored"
    # The new database contains this act only if the move has succeeded: all rows arrive, or none.
    MOVE_STARTED = "move_started", "Move to PostgreSQL started"
