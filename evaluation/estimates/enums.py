from __future__ import annotations

from django.db import models

from hearth.audit.acts import register_acts


@register_acts
class EstimateAct(models.TextChoices):
    """The administrative acts on draws."""

    CAPTIONS_DRAWN = "captions_drawn", "Captions drawn for an estimate"
