"""What scenes are computed from, and what is recorded about them in the audit log."""

from __future__ import annotations

from django.db import models

from hearth.audit.acts import register_acts


class Features(models.TextChoices):
    COLOURS = "colours", "Colour histograms of frames"
    UPLOADED = "uploaded", "Uploaded features"


@register_acts
class ScenesAct(models.TextChoices):
    SCENES_FOUND = "scenes_found", "Scenes of videos found"
