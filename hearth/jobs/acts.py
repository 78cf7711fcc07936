"""The administrative acts on jobs."""

from __future__ import annotations

from django.db import models

from hearth.audit.acts import register_acts


@register_acts
class JobAct(models.TextChoices):
    JOB_STARTED = "job_started", "Job started"
    JOB_CANCELLED = "job_cancelled", "Job cancelled"
