"""The enumerations of label sets."""

from __future__ import annotations

from django.db import models

from hearth.audit.acts import register_acts


class Change(models.TextChoices):
    """The part of the version number that a new label set increases."""

    PATCH = "patch", "Patch: changed labels of the same pairs"
    MINOR = "minor", "Minor: new pairs"
    MAJOR = "major", "Major: changed guidelines or rules, or removed pairs"


@register_acts
class ReleaseAct(models.TextChoices):
    """The administrative acts on label sets."""

    LABELS_PUBLISHED = "labels_published", "Label set published"
    LABELS_EXPORTED = "labels_exported", "Label set downloaded"
