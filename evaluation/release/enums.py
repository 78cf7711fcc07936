"""The enumerations of the release slice."""

from __future__ import annotations

from django.db import models

from config.audit.acts import register_acts


@register_acts
class ReleaseAct(models.TextChoices):
    """The administrative acts on label sets."""

    LABELS_PUBLISHED = "labels_published", "Label set published"
    LABELS_EXPORTED = "labels_exported", "Label set downloaded"
